// Comparisons as JSON, for the reports of every protocol.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "annulus/eval/comparison.h"

namespace annulus {

// [{"shots", "method", "against", "difference", "ci95", "p_value", "pairs", "test"}]; `paired_by` ends the test's name.
nlohmann::ordered_json comparisons_json(std::span<const MethodComparison> comparisons, const std::string& paired_by);

}  // namespace annulus
