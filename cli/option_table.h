// The subcommands and options of the program as values, read from the parser's own tree.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace annulus::cli {

struct OptionEntry {
  std::vector<std::string> names;  // "-o", "--output"; of an argument its one name, "DATA"
  std::string type;                // what stands for its value in help, "N" or "FILE"; arguments and switches have none
  std::vector<std::string> choices;  // values it accepts, when they are a fixed list
  std::string default_value;         // empty: none, or said in the description
  std::string description;
  std::string group;
  bool required = false;
  bool takes_value = false;
  bool takes_several = false;  // values one after the other
};

struct SubcommandEntry {
  std::string name;
  std::string description;
  std::string example;                 // commands, one per line
  std::vector<OptionEntry> arguments;  // those without dashes
  std::vector<OptionEntry> options;
  std::vector<SubcommandEntry> subcommands{};  // of its own
};

// In the order in which they were added; hidden ones are left out, and so are arguments.
std::vector<OptionEntry> option_entries(const CLI::App& app);
std::vector<SubcommandEntry> subcommand_entries(const CLI::App& app);

// All of it as JSON, for scripts/build-cli-reference.
nlohmann::ordered_json option_table_json(const CLI::App& app);

}  // namespace annulus::cli
