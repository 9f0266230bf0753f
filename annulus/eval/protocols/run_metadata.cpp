// Metadata as JSON and as text.
#include "annulus/eval/protocols/run_metadata.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "annulus/learn/baselines/method.h"

namespace annulus {
namespace {

constexpr std::size_t kShownDigits = 12;  // digits of a checksum that are printed

}  // namespace

std::map<std::string, std::string> choices_of(std::span<const std::string> methods, const std::string& rate_on) {
  std::map<std::string, std::string> choices;
  for (const std::string& name : methods) {
    const Method& method = method_named(name);
    std::string chosen(method.chosen);
    if (!rate_on.empty() && method.has_learning_rate()) {
      const std::string rate = fmt::format("the learning rate, on {}", rate_on);
      chosen = method.trains_head == HeadTraining::kVirtualExamples ? fmt::format("{}; {}", rate, chosen) : rate;
    }
    choices[name] = chosen;
  }
  return choices;
}

std::string data_name(const RunMetadata& metadata) {
  std::string name;
  for (const auto& [part, sum] : metadata.checksums) name += part + " " + sum + " ";
  return name;
}

nlohmann::ordered_json metadata_json(const RunMetadata& metadata) {
  nlohmann::ordered_json checksums = metadata.checksums;
  checksums["splits"] = metadata.splits;
  return {{"chosen_on", metadata.chosen_on}, {"test_labels_used", metadata.test_labels_used},
          {"seeds", metadata.seeds},         {"checksums", std::move(checksums)},
          {"machine", metadata.machine},     {"threads", metadata.threads},
          {"time", metadata.time},           {"command", metadata.command}};
}

std::string metadata_text(const RunMetadata& metadata) {
  std::map<std::string, std::vector<std::string>> methods_by_choice;
  for (const auto& [method, choice] : metadata.chosen_on) methods_by_choice[choice].push_back(method);
  std::string text;
  for (const auto& [choice, methods] : methods_by_choice) {
    text += fmt::format("{}{}: {}", text.empty() ? "chosen: " : "; ", fmt::join(methods, ", "), choice);
  }
  text += metadata.test_labels_used
              ? "\nTEST LABELS WERE USED to choose settings: new data would give lower accuracies\n"
              : "\ntest labels were used only to measure the accuracies above\n";
  std::vector<std::string> sums;
  for (const auto& [part, sum] : metadata.checksums) sums.push_back(part + " " + sum.substr(0, kShownDigits));
  text += fmt::format("{}{}seeds {}, {} threads, {}\n", fmt::join(sums, ", "), sums.empty() ? "" : ", ",
                      fmt::join(metadata.seeds, " "), metadata.threads, metadata.machine);
  return text;
}

}  // namespace annulus
