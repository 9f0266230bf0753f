// A score as an HTML page.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "annulus/eval/score/score_report.h"

namespace annulus {

struct ScorePageOptions {
  // A thumbnail of the image at a path as a data: URI, or nothing; called a few dozen times at most.
  std::function<std::optional<std::string>(const std::string& path)> thumbnail{};
};

// A self-contained HTML document: accuracy, the most confident mistakes with images where there are any, classes,
// confusions, calibration and rejection. Its size is bounded: long lists are truncated, and the page says so.
std::string score_page(const ScoreReport& report, const ScorePageOptions& options = {});

}  // namespace annulus
