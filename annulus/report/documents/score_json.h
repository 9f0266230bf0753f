// A score as one JSON object.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "annulus/eval/score/score_report.h"

namespace annulus {

inline constexpr std::size_t kMostWorstInJson = 50;

// {"version", "source", "accuracy", "interval", "chance", "examples", ..., "classes": [...], "confusion": [...],
// "calibration": {...}, "unknown": {...}, "worst": [...]}; docs/reference/file-formats.md has the keys. What does not
// apply is null.
nlohmann::ordered_json score_json(const ScoreReport& report);

}  // namespace annulus
