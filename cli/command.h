// The subcommands, and the options that several of them share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace annulus::cli {

// What the parsed command line asks for; set by the subcommand that was found, run by main once parsing has succeeded.
using Action = std::function<void()>;

void add_fit(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_score(CLI::App& app, Action& action);
void add_update(CLI::App& app, Action& action);  // add-class, add-examples, remove-class
void add_evaluate(CLI::App& app, Action& action);
void add_episodes(CLI::App& app, Action& action);
void add_reproduce(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_audit(CLI::App& app, Action& action);
void add_discover(CLI::App& app, Action& action);
void add_label_next(CLI::App& app, Action& action);
void add_studio(CLI::App& app, Action& action);
void add_ablate(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);
void add_extract(CLI::App& app, Action& action);
void add_backbones(CLI::App& app, Action& action);
void add_import(CLI::App& app, Action& action);
void add_demo(CLI::App& app, Action& action);
void add_demo_generated(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_decode_worker(CLI::App& app, Action& action);  // hidden
void add_option_table(CLI::App& app, Action& action);   // hidden

struct RunOptions {
  std::uint64_t seed = 0;
  int threads = 0;  // 0: all processors
  bool quiet = false;
};

void add_seed(CLI::App& command, RunOptions& options, const std::string& meaning);
void add_threads(CLI::App& command, RunOptions& options);
void add_quiet(CLI::App& command, RunOptions& options);
// --json [FILE]: `file` becomes "-" (standard output) when the option is given without a file, and stays empty when
// the option is not given.
void add_json(CLI::App& command, std::string& file, const std::string& meaning);
// --shots and --subsets of the many-way protocol.
void add_splits(CLI::App& command, std::vector<std::string>& shots, std::size_t& split_count);
// The methods that protocols compare, for help texts.
std::string method_list();
// Ends the help of a subcommand with an example.
void add_example(CLI::App& command, const std::string& example);

// "all" or a number of examples per class; all is 0.
std::size_t parse_shots(std::string_view text);  // throws Error{kUsage}

// Writes to standard output when `file` is "-", else to a file that appears whole or not at all.
void write_output(const std::string& file, std::string_view text);
// The same for JSON, indented; bytes that are not UTF-8 (file names may hold any) are replaced.
void write_json(const std::string& file, const nlohmann::ordered_json& json);

}  // namespace annulus::cli
