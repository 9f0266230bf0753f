// Pieces of results documents that the reports of several protocols share.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "annulus/eval/class_gain.h"
#include "annulus/eval/comparison.h"
#include "annulus/eval/many_way.h"

namespace annulus {

// The number, or null.
nlohmann::ordered_json optional_json(const std::optional<double>& value);

// A recall a class; null for a class without test rows, whose recall is NaN: JSON has none.
nlohmann::ordered_json recall_json(std::span<const double> recall);

// {"seed", "accuracy", "top5", "macro", "ece", "epsilon", "seconds", "support_rows", "query_rows"}.
nlohmann::ordered_json run_summary_json(const ManyWayRun& run);

// {"classes", "improved", "worsened", "bins": [{"classes", "baseline", "gain"}]}.
nlohmann::ordered_json class_gain_json(const ClassGain& gain);

// [{"shots", "method", "against", "difference", "ci95", "p_value", "pairs", "test"}]; `paired_by` ends the test's name.
nlohmann::ordered_json comparisons_json(std::span<const MethodComparison> comparisons, const std::string& paired_by);

}  // namespace annulus
