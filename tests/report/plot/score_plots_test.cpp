// Points of the two curves.
#include "annulus/report/plot/score_plots.h"

#include <gtest/gtest.h>

#include "tests/fixtures/made_score.h"

namespace annulus {
namespace {

TEST(ScorePlots, ReliabilityHasAPointPerBinAndADiagonal) {
  const ReportPlot plot = reliability_plot(made_score());
  const auto& curve = std::get<CurvePlot>(plot.plot);
  EXPECT_TRUE(curve.both_percent);
  ASSERT_EQ(curve.series.size(), 1U);
  ASSERT_EQ(curve.series[0].points.size(), 2U);
  EXPECT_EQ(curve.series[0].points[1].x, 85.0);
  EXPECT_EQ(curve.series[0].points[1].y, 66.7);
  EXPECT_NE(draw_plot(plot, {}).find("confidence 50.0 %, accuracy 0.0 %, 1 example<"), std::string::npos);
}

TEST(ScorePlots, RejectionHasACatchRateOnlyWithUnknownInputs) {
  ScoreReport report = made_score();
  const auto plot = rejection_plot(report);
  ASSERT_TRUE(plot);
  EXPECT_EQ(std::get<CurvePlot>(plot->plot).series.size(), 2U);
  for (RejectionPoint& point : report.curve) point.caught.reset();
  report.curve[1].accuracy.reset();
  const auto without = rejection_plot(report);
  ASSERT_EQ(std::get<CurvePlot>(without->plot).series.size(), 1U);
  EXPECT_EQ(std::get<CurvePlot>(without->plot).series[0].points.size(), 1U);
  report.curve.clear();
  EXPECT_FALSE(rejection_plot(report));
}

}  // namespace
}  // namespace annulus
