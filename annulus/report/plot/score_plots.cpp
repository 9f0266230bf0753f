// Two curves: calibration and rejection.
#include "annulus/report/plot/score_plots.h"

#include <fmt/format.h>

#include <utility>

namespace annulus {

ReportPlot reliability_plot(const ScoreReport& report) {
  CurvePlot plot;
  plot.both_percent = true;
  plot.target_name = "perfect calibration";
  plot.labels = {"Confidence and accuracy",
                 fmt::format("The calibration error is {:.1f} points.", report.calibration_error), "confidence, %",
                 "accuracy, %"};
  CurveSeries series{"this model", 0, {}};
  for (const CalibrationPoint& point : report.calibration) {
    series.points.push_back({point.confidence, point.accuracy,
                             fmt::format("confidence {:.1f} %, accuracy {:.1f} %, {} example{}", point.confidence,
                                         point.accuracy, point.examples, point.examples == 1 ? "" : "s")});
  }
  plot.series.push_back(std::move(series));
  return {"calibration", "Confidence and accuracy", "", std::move(plot)};
}

std::optional<ReportPlot> rejection_plot(const ScoreReport& report) {
  if (report.curve.empty()) return std::nullopt;
  CurvePlot plot;
  plot.y_percent = true;
  plot.labels = {"Rejection of unknown inputs", "The values are in the table below.", "known inputs rejected, %",
                 report.unknown_inputs == 0 ? "accuracy, %" : "percent"};
  CurveSeries right{"right among those not rejected", 0, {}};
  CurveSeries caught{"unknown inputs caught", 1, {}};
  for (const RejectionPoint& point : report.curve) {
    const std::string where = fmt::format("{:.1f} % of known inputs rejected", point.rejected);
    if (point.accuracy) {
      right.points.push_back(
          {point.rejected, *point.accuracy, fmt::format("{}: {:.1f} % right", where, *point.accuracy)});
    }
    if (point.caught) {
      caught.points.push_back(
          {point.rejected, *point.caught, fmt::format("{}: {:.1f} % caught", where, *point.caught)});
    }
  }
  plot.series.push_back(std::move(right));
  if (!caught.points.empty()) plot.series.push_back(std::move(caught));
  return ReportPlot{"rejection", "Rejection of unknown inputs", "", std::move(plot)};
}

}  // namespace annulus
