// The loss has one minimum in practice, and the prior keeps it from running away.
#include "annulus/learn/calibration/group_sharpness.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "annulus/learn/calibration/golden_section.h"

namespace annulus {
namespace {

constexpr double kSharpnessPrior = 0.5;  // of log a, as of the logarithm of a temperature
constexpr double kWidestSharpness = 2.0;
constexpr double kSharpnessWidth = 5e-5;  // of log a

double loss_of_groups(const ClassTree& tree, ConstMatrixView<float> probabilities, std::span<const std::int32_t> labels,
                      double log_sharpness) {
  constexpr double kLeast = 1e-6;
  const ClassTree sharpened = tree.with_sharpness(std::exp(log_sharpness));
  double sum = log_sharpness * log_sharpness / (2.0 * kSharpnessPrior * kSharpnessPrior);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    double of_example = 0.0;
    double groups = 0.0;
    for (const RankedNode& node : sharpened.lineage(probabilities.row(i))) {
      const auto index = static_cast<std::size_t>(node.index);
      if (index < tree.classes()) continue;
      const bool right = tree.is_within(static_cast<std::size_t>(labels[i]), index);
      const auto probability = static_cast<double>(node.probability);
      of_example -= std::log(std::max(right ? probability : 1.0 - probability, kLeast));
      groups += 1.0;
    }
    if (groups > 0.0) sum += of_example / groups;
  }
  return sum;
}

}  // namespace

double group_sharpness(const ClassTree& tree, ConstMatrixView<float> probabilities,
                       std::span<const std::int32_t> labels) {
  const bool any = std::any_of(labels.begin(), labels.end(),
                               [&](std::int32_t label) { return tree.parent(static_cast<std::size_t>(label)) >= 0; });
  if (!any) return 1.0;
  const auto at = [&](double log_sharpness) { return loss_of_groups(tree, probabilities, labels, log_sharpness); };
  return std::exp(golden_section_minimum(-kWidestSharpness, kWidestSharpness, kSharpnessWidth, at));
}

}  // namespace annulus
