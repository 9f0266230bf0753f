// Fills stamps in from the system.
#include "cli/stamp.h"

#include "annulus/base/parallel.h"
#include "annulus/store/machine.h"

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
  return file.empty() ? nullptr : std::make_unique<CellFile>(file);
}

}  // namespace annulus::cli
