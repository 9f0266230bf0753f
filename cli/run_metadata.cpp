// Options of protocols, and where finished runs are cached.
#include "cli/run_metadata.h"

#include <filesystem>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "cli/processes/launch.h"

namespace annulus::cli {

void add_against(CLI::App& command, std::string& method) {
  command
      .add_option("--against", method,
                  "Method that the others are compared with; default: baseline if it is among them, else the first")
      ->type_name("NAME");
}

void add_query_balance(CLI::App& command, std::string& balance, const std::string& meaning) {
  command.add_option("--query-balance", balance, meaning)->type_name("BALANCE");
}

void add_resume(CLI::App& command, std::string& file) {
  command
      .add_option("--resume", file, "Keep finished runs in FILE and reuse those it has: a run that was stopped goes on")
      ->type_name("FILE");
}

std::unique_ptr<RunCacheFile> open_run_cache(const std::string& file) {
  if (!file.empty()) return std::make_unique<RunCacheFile>(file);
  if (launch().size == 1) return nullptr;
  if (launch().job.empty()) {
    fail(ErrorKind::kUsage, "the {} processes of this run need a file to share results in: name one with --resume",
         launch().size);
  }
  const std::filesystem::path folder = cache_folder() / "runs";
  std::filesystem::create_directories(folder);
  return std::make_unique<RunCacheFile>(folder / (sha256_hex(std::as_bytes(std::span(launch().job))) + ".runs"));
}

}  // namespace annulus::cli
