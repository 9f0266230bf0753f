// Options of protocols and the keys of cells.
#include "cli/stamp.h"

#include <filesystem>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "cli/launch.h"

namespace annulus::cli {

std::string data_name(const Stamp& stamp) {
  std::string name;
  for (const auto& [part, sum] : stamp.checksums) name += part + " " + sum + " ";
  return name;
}

void add_against(CLI::App& command, std::string& method) {
  command
      .add_option("--against", method, "Method that the others are compared with (baseline if there, else the first)")
      ->type_name("NAME");
}

void add_resume(CLI::App& command, std::string& file) {
  command
      .add_option("--resume", file,
                  "Keep finished parts in FILE and take from it what it has: a run that was stopped goes on")
      ->type_name("FILE");
}

std::unique_ptr<CellFile> open_cells(const std::string& file) {
  if (!file.empty()) return std::make_unique<CellFile>(file);
  if (launch().size == 1) return nullptr;
  if (launch().job.empty()) {
    fail(ErrorKind::kUsage, "the {} processes of this run need a file to share results in: name one with --resume",
         launch().size);
  }
  const std::filesystem::path folder = cache_folder() / "runs";
  std::filesystem::create_directories(folder);
  return std::make_unique<CellFile>(folder / (sha256_hex(std::as_bytes(std::span(launch().job))) + ".cells"));
}

}  // namespace annulus::cli
