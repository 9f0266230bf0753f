// Stamps as JSON and as text.
#include "annulus/eval/stamp.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "annulus/eval/method.h"

namespace annulus {
namespace {

constexpr std::size_t kShownDigits = 12;  // of a checksum, for people

}  // namespace

std::map<std::string, std::string> choices_of(std::span<const std::string> methods, const std::string& rate_on) {
  std::map<std::string, std::string> choices;
  for (const std::string& name : methods) {
    const Method& method = method_named(name);
    std::string chosen(method.chosen);
    if (!rate_on.empty() && method.has_learning_rate) {
      const std::string rate = fmt::format("the learning rate, on {}", rate_on);
      chosen = method.name == "ibm2" ? fmt::format("{}; {}", rate, chosen) : rate;
    }
    choices[name] = chosen;
  }
  return choices;
}

nlohmann::ordered_json stamp_json(const Stamp& stamp) {
  nlohmann::ordered_json checksums = stamp.checksums;
  checksums["splits"] = stamp.splits;
  return {{"chosen_on", stamp.chosen_on}, {"test_labels_used", stamp.test_labels_used},
          {"seeds", stamp.seeds},         {"checksums", std::move(checksums)},
          {"machine", stamp.machine},     {"threads", stamp.threads},
          {"time", stamp.time},           {"command", stamp.command}};
}

std::string stamp_text(const Stamp& stamp) {
  std::map<std::string, std::vector<std::string>> methods_by_choice;
  for (const auto& [method, choice] : stamp.chosen_on) methods_by_choice[choice].push_back(method);
  std::string text;
  for (const auto& [choice, methods] : methods_by_choice) {
    text += fmt::format("{}{}: {}", text.empty() ? "chosen: " : "; ", fmt::join(methods, ", "), choice);
  }
  text += stamp.test_labels_used ? "\nTEST LABELS WERE USED to choose: these are not results of a method in use\n"
                                 : "\ntest labels were used for nothing but the accuracies above\n";
  std::vector<std::string> sums;
  for (const auto& [part, sum] : stamp.checksums) sums.push_back(part + " " + sum.substr(0, kShownDigits));
  text += fmt::format("{}{}seeds {}, {} threads, {}\n", fmt::join(sums, ", "), sums.empty() ? "" : ", ",
                      fmt::join(stamp.seeds, " "), stamp.threads, stamp.machine);
  return text;
}

}  // namespace annulus
