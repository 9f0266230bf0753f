// The plots of a score.
#pragma once

#include <optional>

#include "annulus/eval/score/score_report.h"
#include "annulus/report/plot/report_plots.h"

namespace annulus {

// The reliability diagram: accuracy by confidence, with a diagonal.
ReportPlot reliability_plot(const ScoreReport& report);
// Accuracy of what is not rejected, and the fraction of unknown inputs caught, by the fraction of known inputs
// rejected; absent where the model cannot reject.
std::optional<ReportPlot> rejection_plot(const ScoreReport& report);

}  // namespace annulus
