// Fills stamps in from the system.
#include "cli/stamp.h"

#include <filesystem>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/base/parallel.h"
#include "annulus/store/machine.h"
#include "cli/launch.h"

namespace annulus::cli {

Stamp make_stamp(std::span<const std::string> methods, const std::string& rate_on, std::uint64_t first_seed,
                 std::size_t seeds, int threads) {
  Stamp stamp;
  stamp.chosen_on = choices_of(methods, rate_on);
  for (std::size_t i = 0; i < seeds; ++i) stamp.seeds.push_back(first_seed + i);
  stamp.machine = machine_text();
  stamp.threads = static_cast<std::size_t>(threads == 0 ? hardware_threads() : threads);
  stamp.time = time_text();
  stamp.command = command_line();
  return stamp;
}

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
