// annulus completion: shell completion made from the tree of subcommands and options, so that it cannot fall behind.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/option_table.h"

namespace annulus::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string all_names(const std::vector<OptionEntry>& options) {
  std::vector<std::string> names;
  for (const OptionEntry& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
  return joined(names);
}

// Values of its argument, when they are a fixed list; otherwise that is a file.
std::vector<std::string> argument_values(const SubcommandEntry& subcommand) {
  return subcommand.arguments.empty() ? std::vector<std::string>() : subcommand.arguments.back().choices;
}

std::string subcommand_names(const std::vector<SubcommandEntry>& subcommands) {
  std::vector<std::string> names;
  for (const SubcommandEntry& subcommand : subcommands) names.push_back(subcommand.name);
  return joined(names);
}

std::string bash_script(const std::vector<SubcommandEntry>& subcommands, const std::vector<OptionEntry>& top) {
  std::string value_cases;
  std::string word_cases;
  std::string patterns;
  for (const SubcommandEntry& subcommand : subcommands) {
    patterns += (patterns.empty() ? "" : "|") + subcommand.name;
    const std::vector<std::string> values = argument_values(subcommand);
    word_cases += fmt::format("    {}) words=\"{} {}\"{} ;;\n", subcommand.name, joined(values),
                              all_names(subcommand.options), values.empty() ? "" : "; chosen=1");
    for (const OptionEntry& option : subcommand.options) {
      if (!option.takes_value) continue;
      for (const std::string& name : option.names) {
        value_cases += option.choices.empty() ? fmt::format("    \"{} {}\") return ;;\n", subcommand.name, name)
                                              : fmt::format("    \"{} {}\") words=\"{}\"; chosen=1 ;;\n",
                                                            subcommand.name, name, joined(option.choices));
      }
    }
  }
  return fmt::format(R"(# bash completion for annulus: source <(annulus completion bash)
_annulus() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" subcommand="" words="" chosen="" word
  COMPREPLY=()
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in
      {}) subcommand="$word"; break ;;
    esac
  done
  case "$subcommand $previous" in
{}  esac
  [[ -n "$chosen" ]] || case "$subcommand" in
    "") words="{} {}" ;;
{}  esac
  # A word that is no option is a file, which bash completes by itself when there is no reply.
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ -z "$subcommand" || -n "$chosen" || "$current" == -* ]] || COMPREPLY=()
}}
complete -o default -F _annulus annulus
)",
                     patterns, value_cases, subcommand_names(subcommands), all_names(top), word_cases);
}

// A word or text in single quotes for a shell.
std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

std::string zsh_script(const std::vector<SubcommandEntry>& subcommands, const std::vector<OptionEntry>& top) {
  std::string value_cases;
  std::string word_cases;
  for (const SubcommandEntry& subcommand : subcommands) {
    word_cases += fmt::format("    {}) values=({}); options=({}) ;;\n", subcommand.name,
                              joined(argument_values(subcommand)), all_names(subcommand.options));
    for (const OptionEntry& option : subcommand.options) {
      for (const std::string& name : option.names) {
        if (!option.takes_value) continue;
        value_cases += option.choices.empty() ? fmt::format("    '{} {}') _files; return ;;\n", subcommand.name, name)
                                              : fmt::format("    '{} {}') compadd -- {}; return ;;\n", subcommand.name,
                                                            name, joined(option.choices));
      }
    }
  }
  return fmt::format(R"(#compdef annulus
# zsh completion for annulus: source <(annulus completion zsh)
_annulus() {{
  local subcommand="${{words[2]}}" previous="${{words[CURRENT-1]}}" current="${{words[CURRENT]}}"
  local -a values options
  if (( CURRENT == 2 )); then
    compadd -- {} {}
    return
  fi
  case "$subcommand $previous" in
{}  esac
  case "$subcommand" in
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
                     subcommand_names(subcommands), all_names(top), value_cases, word_cases);
}

std::string fish_script(const std::vector<SubcommandEntry>& subcommands, const std::vector<OptionEntry>& top) {
  std::string text = "# fish completion for annulus: annulus completion fish | source\n";
  const auto add_option = [&text](const std::string& condition, const OptionEntry& option) {
    text += fmt::format("complete -c annulus -n {}", shell_quoted(condition));
    for (const std::string& name : option.names) {
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (option.takes_value) text += " -r";
    if (!option.choices.empty()) text += fmt::format(" -f -a {}", shell_quoted(joined(option.choices)));
    text += fmt::format(" -d {}\n", shell_quoted(option.description));
  };
  for (const OptionEntry& option : top) add_option("__fish_use_subcommand", option);
  for (const SubcommandEntry& subcommand : subcommands) {
    text += fmt::format("complete -c annulus -n __fish_use_subcommand -f -a {} -d {}\n", subcommand.name,
                        shell_quoted(subcommand.description));
    const std::string condition = "__fish_seen_subcommand_from " + subcommand.name;
    for (const OptionEntry& option : subcommand.options) add_option(condition, option);
    if (const std::vector<std::string> values = argument_values(subcommand); !values.empty()) {
      text +=
          fmt::format("complete -c annulus -n {} -f -a {}\n", shell_quoted(condition), shell_quoted(joined(values)));
    }
  }
  return text;
}

// The subcommands of the program, each with the options of its own subcommands as well.
std::vector<SubcommandEntry> flat_subcommands(const CLI::App& app) {
  std::vector<SubcommandEntry> entries = subcommand_entries(app);
  for (SubcommandEntry& entry : entries) {
    for (const SubcommandEntry& inner : entry.subcommands) {
      for (const OptionEntry& option : inner.options) {
        const auto known = [&](const OptionEntry& other) { return other.names == option.names; };
        if (std::none_of(entry.options.begin(), entry.options.end(), known)) entry.options.push_back(option);
      }
    }
  }
  return entries;
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
      const auto subcommands = flat_subcommands(app);
      const auto top = option_entries(app);
      write_output("-", *shell == "bash"  ? bash_script(subcommands, top)
                        : *shell == "zsh" ? zsh_script(subcommands, top)
                                          : fish_script(subcommands, top));
    };
  });
}

}  // namespace annulus::cli
