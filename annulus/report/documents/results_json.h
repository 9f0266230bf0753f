// Parts of results documents that several protocols share.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "annulus/eval/metrics/class_gain.h"
#include "annulus/eval/protocols/comparison.h"
#include "annulus/eval/protocols/many_way.h"

namespace annulus {

// The value, or null.
nlohmann::ordered_json optional_json(const std::optional<double>& value);

// One recall per class; null for a class without test examples (NaN, which JSON lacks).
nlohmann::ordered_json recall_json(std::span<const double> recall);

// {"seed", "accuracy", "top5", "macro", "ece", "epsilon", "seconds", "support_examples", "query_examples"}.
nlohmann::ordered_json run_summary_json(const ManyWayRun& run);

// {"classes", "improved", "worsened", "bins": [{"classes", "baseline", "gain"}]}.
nlohmann::ordered_json class_gain_json(const ClassGain& gain);

// The name of the test that compares two methods; `paired_by` ends it.
std::string test_name(const std::string& paired_by);

// [{"shots", "method", "against", "difference", "ci95", "p_value", "pairs", "test"}].
nlohmann::ordered_json comparisons_json(std::span<const MethodComparison> comparisons, const std::string& paired_by);

}  // namespace annulus
