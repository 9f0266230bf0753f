// The annulus program: finds the verb, runs it, and turns errors into one sentence and an exit code.
#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/base/version.h"
#include "annulus/store/paged_memory.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/launch.h"
#include "cli/team.h"

namespace annulus::cli {
namespace {

// The exit codes of the program; documented in docs/cli.md.
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
  end_team(code);
  return code;
}

void build(CLI::App& app, Action& action) {
  app.name("annulus");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("annulus ") + kVersion, "Print the version and exit");
  app.footer("Run annulus VERB --help for the options of a verb.\nExample:\n  annulus demo");
  add_fit(app, action);
  add_predict(app, action);
  add_export(app, action);
  add_serve(app, action);
  add_audit(app, action);
  add_studio(app, action);
  add_grow(app, action);
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
  add_completion(app, action);
}

// Whether several processes of a launcher share the verb's work out; others are done by the first process alone.
bool shares_work(const CLI::App& app) {
  const std::string verb = app.get_subcommands().front()->get_name();
  return verb == "fit" || verb == "extract" || verb == "evaluate" || verb == "episodes" || verb == "ablate" ||
         verb == "reproduce";
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
  const bool verb_given = !first_word.empty() && first_word.front() != '-';
  return fmt::format("{}; see annulus --help",
                     verb_given ? fmt::format("verb \"{}\" is unknown", first_word) : "expected a verb, found none");
}

// Small tasks take and give back some megabytes thousands of times a second: the allocator then keeps them, rather than
// have the system clear them again each time (ten thousand episodes of class means: 0.85 s instead of 1.4 s).
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

int run(int count, char** arguments) {
  keep_freed_memory();
  page_large_rows();
  Action action;
  CLI::App app("Learns to recognise many classes from a handful of labelled images each, on a CPU.");
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
  action();
  flush_output();
  return 0;
}

}  // namespace
}  // namespace annulus::cli

int main(int count, char** arguments) {
  using annulus::ErrorKind;
  try {
    return annulus::cli::run(count, arguments);
  } catch (const annulus::Error& error) {
    return annulus::cli::complain(error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    return annulus::cli::complain(ErrorKind::kInternal, "not enough memory for this request");
  } catch (const std::exception& error) {
    return annulus::cli::complain(ErrorKind::kInternal, fmt::format("unexpected error: {}", error.what()));
  }
}
