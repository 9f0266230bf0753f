// Reads the parser's tree; annulus option-table prints it.
#include "cli/option_table.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/command.h"

namespace annulus::cli {
namespace {

// The list in a type such as "NAME:{a,b,c}".
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

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry;
  const std::string type = option.get_type_name();
  entry.takes_value = option.get_items_expected_max() > 0;
  entry.takes_several = option.get_items_expected_max() > 1;
  if (option.get_positional()) {
    entry.names.push_back(option.get_name(true));
  } else {
    for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
    if (entry.takes_value) entry.type = type.substr(0, type.find(':'));
  }
  entry.choices = choices_in(type);
  entry.default_value = option.get_default_str();
  entry.description = option.get_description();
  entry.group = option.get_group();
  entry.required = option.get_required();
  return entry;
}

std::vector<OptionEntry> entries_of(const CLI::App& app, bool arguments) {
  std::vector<OptionEntry> entries;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty() && option->get_positional() == arguments) entries.push_back(entry_of(*option));
  }
  return entries;
}

nlohmann::ordered_json json_of(const std::vector<OptionEntry>& entries) {
  auto json = nlohmann::ordered_json::array();
  for (const OptionEntry& entry : entries) {
    json.push_back({{"names", entry.names},
                    {"type", entry.type},
                    {"choices", entry.choices},
                    {"default", entry.default_value},
                    {"description", entry.description},
                    {"group", entry.group},
                    {"required", entry.required},
                    {"takes_several", entry.takes_several}});
  }
  return json;
}

std::string without_heading(const std::string& footer) {
  constexpr std::string_view kHeading = "Example:\n";
  const auto at = footer.find(kHeading);
  return at == std::string::npos ? std::string() : footer.substr(at + kHeading.size());
}

// A subcommand of a subcommand has the names of both.
void add_to_table(const std::vector<SubcommandEntry>& subcommands, const std::string& before,
                  nlohmann::ordered_json& table) {
  for (const SubcommandEntry& subcommand : subcommands) {
    table.push_back({{"name", before + subcommand.name},
                     {"description", subcommand.description},
                     {"example", subcommand.example},
                     {"arguments", json_of(subcommand.arguments)},
                     {"options", json_of(subcommand.options)}});
    add_to_table(subcommand.subcommands, before + subcommand.name + " ", table);
  }
}

}  // namespace

std::vector<OptionEntry> option_entries(const CLI::App& app) { return entries_of(app, false); }

std::vector<SubcommandEntry> subcommand_entries(const CLI::App& app) {
  std::vector<SubcommandEntry> entries;
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (subcommand->get_group().empty()) continue;
    entries.push_back({subcommand->get_name(), subcommand->get_description(), without_heading(subcommand->get_footer()),
                       entries_of(*subcommand, true), entries_of(*subcommand, false), subcommand_entries(*subcommand)});
  }
  return entries;
}

nlohmann::ordered_json option_table_json(const CLI::App& app) {
  nlohmann::ordered_json table = {{"description", app.get_description()},
                                  {"subcommands", nlohmann::ordered_json::array()}};
  add_to_table(subcommand_entries(app), "", table["subcommands"]);
  return table;
}

void add_option_table(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("option-table", "Print all subcommands and options as JSON");
  command.group("");  // hidden: for scripts/build-cli-reference
  command.callback([&app, &action] { action = [&app] { write_json("-", option_table_json(app)); }; });
}

}  // namespace annulus::cli
