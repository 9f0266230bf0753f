// annulus completion: shell completion made from the tree of verbs and options, so that it cannot fall behind.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace annulus::cli {
namespace {

struct OptionWords {
  std::vector<std::string> names;    // "--shots", "-o"
  std::vector<std::string> choices;  // values it accepts, when they are a fixed list
  std::string description;
  bool takes_value = false;
};

struct VerbWords {
  std::string name;
  std::string description;
  std::vector<OptionWords> options;
  std::vector<std::string> values;  // of its argument, when they are a fixed list; otherwise that is a file
};

// The list in a type such as "TEXT:{a,b,c}".
std::vector<std::string> choices_in(std::string_view type) {
  const auto open = type.find('{');
  const auto close = type.find('}');
  std::vector<std::string> choices;
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return choices;
  std::string word;
  for (const char c : type.substr(open + 1, close - open - 1)) {
    if (c == ',') {
      choices.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  choices.push_back(word);
  return choices;
}

std::vector<OptionWords> options_of(const CLI::App& app) {
  std::vector<OptionWords> options;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) continue;
    OptionWords words;
    for (const std::string& name : option->get_snames()) words.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) words.names.push_back("--" + name);
    words.choices = choices_in(option->get_type_name());
    words.description = option->get_description();
    words.takes_value = option->get_items_expected_max() > 0;
    options.push_back(std::move(words));
  }
  return options;
}

std::vector<VerbWords> verbs_of(const CLI::App& app) {
  std::vector<VerbWords> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    VerbWords words{verb->get_name(), verb->get_description(), options_of(*verb), {}};
    for (const CLI::Option* option : verb->get_options()) {
      if (option->get_positional()) words.values = choices_in(option->get_type_name());
    }
    verbs.push_back(std::move(words));
  }
  return verbs;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string all_names(const std::vector<OptionWords>& options) {
  std::vector<std::string> names;
  for (const OptionWords& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
  return joined(names);
}

std::string verb_names(const std::vector<VerbWords>& verbs) {
  std::vector<std::string> names;
  for (const VerbWords& verb : verbs) names.push_back(verb.name);
  return joined(names);
}

std::string bash_script(const std::vector<VerbWords>& verbs, const std::vector<OptionWords>& top) {
  std::string value_cases;
  std::string word_cases;
  std::string patterns;
  for (const VerbWords& verb : verbs) {
    patterns += (patterns.empty() ? "" : "|") + verb.name;
    word_cases += fmt::format("    {}) words=\"{} {}\"{} ;;\n", verb.name, joined(verb.values), all_names(verb.options),
                              verb.values.empty() ? "" : "; chosen=1");
    for (const OptionWords& option : verb.options) {
      if (!option.takes_value) continue;
      for (const std::string& name : option.names) {
        value_cases += option.choices.empty() ? fmt::format("    \"{} {}\") return ;;\n", verb.name, name)
                                              : fmt::format("    \"{} {}\") words=\"{}\"; chosen=1 ;;\n", verb.name,
                                                            name, joined(option.choices));
      }
    }
  }
  return fmt::format(R"(# bash completion for annulus: source <(annulus completion bash)
_annulus() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" verb="" words="" chosen="" word
  COMPREPLY=()
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in
      {}) verb="$word"; break ;;
    esac
  done
  case "$verb $previous" in
{}  esac
  [[ -n "$chosen" ]] || case "$verb" in
    "") words="{} {}" ;;
{}  esac
  # A word that is no option is a file, which bash completes by itself when there is no reply.
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ -z "$verb" || -n "$chosen" || "$current" == -* ]] || COMPREPLY=()
}}
complete -o default -F _annulus annulus
)",
                     patterns, value_cases, verb_names(verbs), all_names(top), word_cases);
}

// A word or text in single quotes for a shell.
std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

std::string zsh_script(const std::vector<VerbWords>& verbs, const std::vector<OptionWords>& top) {
  std::string value_cases;
  std::string word_cases;
  for (const VerbWords& verb : verbs) {
    word_cases +=
        fmt::format("    {}) values=({}); options=({}) ;;\n", verb.name, joined(verb.values), all_names(verb.options));
    for (const OptionWords& option : verb.options) {
      for (const std::string& name : option.names) {
        if (!option.takes_value) continue;
        value_cases += option.choices.empty() ? fmt::format("    '{} {}') _files; return ;;\n", verb.name, name)
                                              : fmt::format("    '{} {}') compadd -- {}; return ;;\n", verb.name, name,
                                                            joined(option.choices));
      }
    }
  }
  return fmt::format(R"(#compdef annulus
# zsh completion for annulus: source <(annulus completion zsh)
_annulus() {{
  local verb="${{words[2]}}" previous="${{words[CURRENT-1]}}" current="${{words[CURRENT]}}"
  local -a values options
  if (( CURRENT == 2 )); then
    compadd -- {} {}
    return
  fi
  case "$verb $previous" in
{}  esac
  case "$verb" in
{}  esac
  if [[ "$current" == -* ]]; then
    compadd -- $options
  elif (( $#values )); then
    compadd -- $values
  else
    _files
  fi
}}
compdef _annulus annulus
)",
                     verb_names(verbs), all_names(top), value_cases, word_cases);
}

std::string fish_script(const std::vector<VerbWords>& verbs, const std::vector<OptionWords>& top) {
  std::string text = "# fish completion for annulus: annulus completion fish | source\n";
  const auto add_option = [&text](const std::string& condition, const OptionWords& option) {
    text += fmt::format("complete -c annulus -n {}", shell_quoted(condition));
    for (const std::string& name : option.names) {
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (option.takes_value) text += " -r";
    if (!option.choices.empty()) text += fmt::format(" -f -a {}", shell_quoted(joined(option.choices)));
    text += fmt::format(" -d {}\n", shell_quoted(option.description));
  };
  for (const OptionWords& option : top) add_option("__fish_use_subcommand", option);
  for (const VerbWords& verb : verbs) {
    text += fmt::format("complete -c annulus -n __fish_use_subcommand -f -a {} -d {}\n", verb.name,
                        shell_quoted(verb.description));
    const std::string condition = "__fish_seen_subcommand_from " + verb.name;
    for (const OptionWords& option : verb.options) add_option(condition, option);
    if (!verb.values.empty()) {
      text += fmt::format("complete -c annulus -n {} -f -a {}\n", shell_quoted(condition),
                          shell_quoted(joined(verb.values)));
    }
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("completion", "Print completion for a shell");
  command.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>{"bash", "zsh", "fish"}));
  add_example(command, "  source <(annulus completion bash)");
  command.callback([&app, &action, shell] {
    action = [&app, shell] {
      const auto verbs = verbs_of(app);
      const auto top = options_of(app);
      write_output("-", *shell == "bash"  ? bash_script(verbs, top)
                        : *shell == "zsh" ? zsh_script(verbs, top)
                                          : fish_script(verbs, top));
    };
  });
}

}  // namespace annulus::cli
