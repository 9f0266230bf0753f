// Plots are well-formed, finite, inside their axes, and can be drawn as pictures.
#include "annulus/report/plot/svg_plot.h"

#include <gtest/gtest.h>

#include <regex>

#include "annulus/report/plot/axis_ticks.h"
#include "annulus/report/plot/svg_canvas.h"
#include "annulus/vision/image/image.h"
#include "annulus/vision/image/svg.h"

namespace annulus {
namespace {

std::vector<double> numbers_of(const std::string& text, const std::regex& pattern) {
  std::vector<double> numbers;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    for (std::size_t i = 1; i < match->size(); ++i) numbers.push_back(std::stod((*match)[i]));
  }
  return numbers;
}

// Every data point lies in the area between the axes, which lies in the drawing. Returns how many there are.
std::size_t check_points(const std::string& svg) {
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  static const std::regex kArea(R"re(class="area" x="([-\d.]+)" y="([-\d.]+)" width="([-\d.]+)" height="([-\d.]+)")re");
  static const std::regex kPoint(R"re(class="point" transform="translate\(([-\d.]+) ([-\d.]+)\)")re");
  static const std::regex kBox(R"re(viewBox="0 0 ([-\d.]+) ([-\d.]+)")re");
  const auto area = numbers_of(svg, kArea);
  const auto points = numbers_of(svg, kPoint);
  const auto box = numbers_of(svg, kBox);
  EXPECT_EQ(area.size(), 4U);
  EXPECT_GT(area[2], 50.0);
  EXPECT_GT(area[3], 50.0);
  EXPECT_GE(area[0], 0.0);
  EXPECT_LE(area[0] + area[2], box[0]);
  EXPECT_LE(area[1] + area[3], box[1]);
  for (std::size_t i = 0; i < points.size(); i += 2) {
    EXPECT_GE(points[i], area[0] - 0.01);
    EXPECT_LE(points[i], area[0] + area[2] + 0.01);
    EXPECT_GE(points[i + 1], area[1] - 0.01);
    EXPECT_LE(points[i + 1], area[1] + area[3] + 0.01);
  }
  const Image picture = decode_image(render_svg(svg, 380, 200, "plot"), {}, "plot");
  EXPECT_EQ(picture.width, 380U);
  return points.size() / 2;
}

CategoryPlot two_methods() {
  CategoryPlot plot;
  plot.labels = {"Title", "Words", "shots", "accuracy, %"};
  plot.categories = {"1", "5", "all"};
  plot.series = {{"a", 0, {PlotValue{10.0, 2.0}, PlotValue{40.0, 0.5}, std::nullopt}},
                 {"b", 1, {PlotValue{12.0, 1.0}, std::nullopt, PlotValue{99.9, 3.0}}}};
  plot.percent = true;
  return plot;
}

TEST(SvgPlot, DrawsEveryValueThatThereIs) {
  for (const bool logarithmic : {false, true}) {
    CategoryPlot plot = two_methods();
    plot.logarithmic = logarithmic;
    const std::string svg = draw_plot(plot, {});
    EXPECT_EQ(check_points(svg), 4U);
    EXPECT_NE(svg.find("<title>a, 1: 10 ± 2</title>"), std::string::npos);
  }
}

TEST(SvgPlot, PercentAxesEndAtTheirEnds) {
  const std::string svg = draw_plot(two_methods(), {});
  EXPECT_NE(svg.find(">100</text>"), std::string::npos);
  EXPECT_EQ(svg.find(">120</text>"), std::string::npos);
  EXPECT_EQ(svg.find(">−20</text>"), std::string::npos);
  CurvePlot curve;
  curve.series = {{"", 0, {{1.0, 62.0}, {2.0, 100.0}}}};
  curve.y_percent = true;
  const std::string search = draw_plot(curve, {});
  EXPECT_EQ(check_points(search), 2U);
  EXPECT_NE(search.find(">100</text>"), std::string::npos);
  EXPECT_EQ(search.find(">110</text>"), std::string::npos);
}

// A number below the end of the axis is centred there, so half of it needs room beyond.
TEST(SvgPlot, LabelsBelowTheEndsOfTheAxisStayInside) {
  CurvePlot curve;
  curve.series = {{"", 0, {{1.3056, 91.0}, {1.4312, 88.3}}}};
  const PlotStyle style;
  const std::string plot = draw_plot(curve, style);
  const std::regex number(R"re(<text x="([0-9.]+)"[^>]*text-anchor="middle"[^>]*>(1\.[0-9]+)</text>)re");
  std::size_t found = 0;
  for (std::sregex_iterator it(plot.begin(), plot.end(), number), end; it != end; ++it, ++found) {
    const double half = 0.5 * text_width((*it)[2].str(), style.font_size);
    EXPECT_GE(std::stod((*it)[1]) - half, 0.0) << (*it)[0];
    EXPECT_LE(std::stod((*it)[1]) + half, style.width) << (*it)[0];
  }
  EXPECT_GE(found, 3U);
}

TEST(SvgPlot, SeriesDifferByMoreThanColour) {
  const PlotStyle style;
  for (std::size_t a = 0; a < 12; ++a) {
    for (std::size_t b = a + 1; b < 12; ++b) {
      const auto shape = [&](std::size_t series) {
        const std::string mark = series_mark(series, style);
        return mark.substr(0, mark.find("fill")) + series_dashes(series);
      };
      EXPECT_NE(shape(a), shape(b)) << a << " " << b;
    }
  }
}

TEST(SvgPlot, SurvivesEmptyExtremeAndManyValues) {
  CategoryPlot none;
  check_points(draw_plot(none, {}));
  CategoryPlot many;
  for (int i = 0; i < 60; ++i) {
    many.categories.push_back("a very long name of a method, number " + std::to_string(i));
    many.series.push_back({many.categories.back(), static_cast<std::size_t>(i),
                           std::vector<std::optional<PlotValue>>(60, PlotValue{1e12, 1e12})});
  }
  PlotStyle narrow;
  narrow.width = 320.0;
  narrow.height = 270.0;
  EXPECT_EQ(check_points(draw_plot(many, narrow)), 3600U);
  CurvePlot curve;
  curve.series = {{"", 0, {{0.0, 0.0}, {1e12, -1e12}}}};
  EXPECT_EQ(check_points(draw_plot(curve, narrow)), 2U);
  check_points(draw_plot(CurvePlot{}, narrow));
  check_points(draw_plot(BarPlot{}, narrow));
}

TEST(SvgPlot, BarsHaveSignedValues) {
  BarPlot plot;
  plot.labels.title = "Gain";
  plot.categories = {"1", "2", "3"};
  plot.values = {1.25, -0.4, -0.001};
  const std::string svg = draw_plot(plot, {});
  EXPECT_EQ(check_points(svg), 3U);
  for (const char* label : {">+1.2</text>", ">−0.4</text>", ">0.0</text>"})
    EXPECT_NE(svg.find(label), std::string::npos) << label;
}

TEST(SvgPlot, NamesAreEscapedAndShortened) {
  CategoryPlot plot = two_methods();
  plot.series[0].name = "<script>&\"'\x01 鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥";
  plot.labels.title = "a < b";
  const std::string svg = draw_plot(plot, {});
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_NE(svg.find("&lt;script&gt;&amp;&quot;&#39;\uFFFD"), std::string::npos);
  EXPECT_NE(svg.find("…"), std::string::npos);
  EXPECT_EQ(check_points(svg), 4U);
}

TEST(SvgPlot, PagesUseCssVariablesAndPicturesHexadecimalColours) {
  PlotStyle style;
  EXPECT_EQ(draw_plot(two_methods(), style).find("var("), std::string::npos);
  style.in_page = true;
  const std::string svg = draw_plot(two_methods(), style);
  EXPECT_NE(svg.find("var(--series-1)"), std::string::npos);
  EXPECT_EQ(svg.find("=\"#"), std::string::npos);
}

}  // namespace
}  // namespace annulus
