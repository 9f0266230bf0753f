// The annulus program: finds the subcommand, runs it, and turns errors into one sentence and an exit code.
#include "cli/program.h"

#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/base/version.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/paged_memory.h"
#include "cli/command.h"
#include "cli/field_flags.h"
#include "cli/processes/communicator.h"
#include "cli/processes/launch.h"
#include "cli/terminal/interrupt.h"

namespace annulus::cli {
namespace {

// The exit codes of the program; documented in docs/reference/cli.md.
int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return 2;
    case ErrorKind::kInput:
      return 3;
    case ErrorKind::kFormat:
      return 4;
    case ErrorKind::kIo:
      return 5;
    case ErrorKind::kCancelled:
      return 130;
    case ErrorKind::kInternal:
      return 70;
  }
  return 70;
}

int complain(ErrorKind kind, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  while (!message.empty() && message.back() == ' ') message.pop_back();
  fmt::print(stderr, "annulus: {}\n", message);
  const int code = exit_code(kind);
  end_communicator(code);
  return code;
}

void build(CLI::App& app, Action& action) {
  app.name("annulus");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("annulus ") + kVersion, "Print the version and exit");
  app.footer("Run annulus SUBCOMMAND --help for the options of a subcommand.\nExample:\n  annulus demo");
  add_fit(app, action);
  add_predict(app, action);
  add_score(app, action);
  add_export(app, action);
  add_serve(app, action);
  add_audit(app, action);
  add_discover(app, action);
  add_label_next(app, action);
  add_studio(app, action);
  add_update(app, action);
  add_evaluate(app, action);
  add_episodes(app, action);
  add_reproduce(app, action);
  add_report(app, action);
  add_ablate(app, action);
  add_extract(app, action);
  add_backbones(app, action);
  add_import(app, action);
  add_demo(app, action);
  add_demo_generated(app, action);
  add_doctor(app, action);
  add_completion(app, action);
  add_decode_worker(app, action);
  add_option_table(app, action);
}

// Whether several processes of a launcher share the subcommand's work out; others are done by the first process alone.
bool shares_work(const CLI::App& app) {
  const std::string subcommand = app.get_subcommands().front()->get_name();
  return subcommand == "fit" || subcommand == "extract" || subcommand == "evaluate" || subcommand == "episodes" ||
         subcommand == "ablate" || subcommand == "reproduce";
}

// A full disk shows only when the last buffer is written.
void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fail(ErrorKind::kIo, "cannot write to standard output: {}", std::strerror(errno));
  }
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& error, std::string_view first_word) {
  const auto chosen = app.get_subcommands();
  if (!chosen.empty()) return fmt::format("{}; see annulus {} --help", error.what(), chosen.front()->get_name());
  const bool subcommand_given = !first_word.empty() && first_word.front() != '-';
  return fmt::format("{}; see annulus --help", subcommand_given
                                                   ? fmt::format("subcommand \"{}\" is unknown", first_word)
                                                   : "expected a subcommand, found none");
}

// Small tasks take and give back some megabytes thousands of times a second: the allocator then keeps them, rather than
// have the system clear them again each time (ten thousand episodes of prototypes: 0.85 s instead of 1.4 s).
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

// Rows that would fill the memory go to a file instead, and what is computed of them goes on. Several matrices as large
// as this fit in, of all processes that are on this machine.
void page_large_rows() {
  constexpr std::size_t kMatrices = 8;
  constexpr std::size_t kLeastBytes = std::size_t{16} << 20;
  const char* chosen = std::getenv("TMPDIR");
  try {
    page_large_matrices(
        std::max(kLeastBytes, free_memory() / (kMatrices * launch().here)),
        chosen != nullptr && *chosen != '\0' && !lies_in_memory(chosen) ? chosen : cache_folder().string());
  } catch (const Error&) {
    // No place is known: everything stays in memory.
  }
}

bool is_output(const CLI::Option& option) {
  constexpr std::array<const char*, 6> kOutputs{"output", "json", "csv", "html", "jsonl", "write-splits"};
  return option.get_type_name().find("FILE") != std::string::npos &&
         std::any_of(kOutputs.begin(), kOutputs.end(), [&](const char* name) { return option.check_lname(name); });
}

const CLI::App& chosen_subcommand(const CLI::App& app) {
  const CLI::App* subcommand = &app;
  while (!subcommand->get_subcommands().empty()) subcommand = subcommand->get_subcommands().front();
  return *subcommand;
}

// Whether an output names the file that an input names, under whatever path.
void check_not_input(const CLI::App& subcommand, const CLI::Option& output, const std::string& file) {
  for (const CLI::Option* const option : subcommand.get_options()) {
    if (option == &output || option->count() == 0 || is_output(*option)) continue;
    for (const std::string& path : option->results()) {
      std::error_code error;
      if (std::filesystem::is_regular_file(path, error) && std::filesystem::equivalent(path, file, error) && !error) {
        fail(ErrorKind::kUsage, "{}: expected an output that is no input, found the file {} of {}: name another", file,
             path, option->get_name());
      }
    }
  }
}

// A file that cannot be written is an error before the work, not after it.
void check_outputs(const CLI::App& subcommand) {
  for (const CLI::Option* const option : subcommand.get_options()) {
    if (option->count() == 0 || !is_output(*option)) continue;
    for (const std::string& file : option->results()) {
      if (file.empty() || file == "-") continue;
      check_not_input(subcommand, *option, file);
      check_writable(file);
    }
  }
}

int run(int count, char** arguments) {
  explain_lost_pages();
  keep_freed_memory();
  page_large_rows();
  Action action;
  CLI::App app("Few-shot image recognition on a CPU: learns many classes from a few labelled images each.");
  build(app, action);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      app.exit(error);
      flush_output();
      return 0;
    }
    return complain(ErrorKind::kUsage, usage_message(app, error, count > 1 ? arguments[1] : ""));
  }
  catch_interrupts();
  if (only_helps() && !shares_work(app)) return 0;
  if (!only_helps()) check_outputs(chosen_subcommand(app));
  try {
    action();
  } catch (const Error& error) {
    if (error.field().empty()) throw;
    return complain(error.kind(), message_for(error, chosen_subcommand(app)));
  }
  flush_output();
  return 0;
}

}  // namespace

int run_program(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const Error& error) {
    return complain(error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    return complain(ErrorKind::kInternal, "not enough memory for this request");
  } catch (const std::exception& error) {
    return complain(ErrorKind::kInternal, fmt::format("unexpected error: {}", error.what()));
  }
}

}  // namespace annulus::cli
