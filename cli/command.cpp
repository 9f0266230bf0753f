// Options that several subcommands share.
#include "cli/command.h"

#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "annulus/base/error.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/store/files/atomic_file.h"
#include "cli/processes/launch.h"

namespace annulus::cli {

void add_seed(CLI::App& command, RunOptions& options, const std::string& meaning) {
  command.add_option("--seed", options.seed, meaning)->type_name("N")->capture_default_str();
}

void add_threads(CLI::App& command, RunOptions& options) {
  command
      .add_option("--threads", options.threads,
                  "Threads to use; 0: all processors. The results are the same for any number")
      ->type_name("N")
      ->check(CLI::Range(0, 4096).description(""))
      ->capture_default_str();
}

void add_quiet(CLI::App& command, RunOptions& options) {
  command.add_flag("-q,--quiet", options.quiet, "Print results, warnings and errors only");
}

void add_json(CLI::App& command, std::string& file, const std::string& meaning) {
  command
      .add_option_function<std::string>(
          "--json", [&file](const std::string& value) { file = value.empty() ? "-" : value; }, meaning)
      ->type_name("[FILE]")
      ->expected(0, 1);
}

void add_splits(CLI::App& command, std::vector<std::string>& shots, std::size_t& split_count) {
  command.add_option("--shots", shots, "Examples per class, or all")
      ->delimiter(',')
      ->type_name("K,...")
      ->capture_default_str();
  command.add_option("--subsets", split_count, "Random splits to average over, with the seeds seed, seed + 1, ...")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
}

std::string method_list() {
  std::string list = "Methods to compare:";
  for (const Method& method : methods()) {
    list += fmt::format(" {} ({}{});", method.name, method.transductive() ? "transductive: " : "", method.summary);
  }
  list.back() = '.';
  return list;
}

void add_example(CLI::App& command, const std::string& example) { command.footer("Example:\n" + example); }

std::size_t parse_shots(std::string_view text) {
  if (text == "all") return 0;
  std::size_t shots = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), shots);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(ErrorKind::kUsage, "expected --shots to be examples per class or \"all\", found \"{}\"", text);
  }
  return shots;
}

void write_output(const std::string& file, std::string_view text) {
  if (only_helps()) return;
  if (file == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
  } else {
    write_file(file, text);
  }
}

void write_json(const std::string& file, const nlohmann::ordered_json& json) {
  write_output(file, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace annulus::cli
