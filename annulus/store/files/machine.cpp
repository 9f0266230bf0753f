// Reads /proc and the clock.
#include "annulus/store/files/machine.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "annulus/base/parallel.h"

namespace annulus {

std::string machine_text() {
  std::string processor = "unknown processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    processor = line.substr(colon + 2);
    break;
  }
  const int count = hardware_threads();
  return fmt::format("{}, {} {}, Linux", processor, count, count == 1 ? "processor" : "processors");
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t first = std::min(text.find('\0'), text.size());
  text = std::filesystem::path(text.substr(0, first)).filename().string() + text.substr(first);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

std::string time_text() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

RunMetadata make_run_metadata(std::span<const std::string> methods, const std::string& rate_on,
                              std::uint64_t first_seed, std::size_t seeds, int threads) {
  RunMetadata identity;
  identity.chosen_on = choices_of(methods, rate_on);
  for (std::size_t i = 0; i < seeds; ++i) identity.seeds.push_back(first_seed + i);
  identity.machine = machine_text();
  identity.threads = static_cast<std::size_t>(threads == 0 ? hardware_threads() : threads);
  identity.time = time_text();
  identity.command = command_line();
  return identity;
}

}  // namespace annulus
