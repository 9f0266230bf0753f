// Plots as SVG text: values by category, bars, and curves over two numeric axes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "annulus/report/plot/svg_canvas.h"

namespace annulus {

// The texts of a plot. All values in a plot must be finite.
struct PlotLabels {
  std::string title;
  std::string description;  // alternative text
  std::string x;
  std::string y;
};

struct PlotValue {
  double value = 0.0;
  double error = 0.0;  // half length of its error bar; 0: none
};

// A series has one optional value per category.
struct CategorySeries {
  std::string name;
  std::size_t look = 0;  // colour, mark and dashes; see series_colour
  std::vector<std::optional<PlotValue>> values;
};

// Series side by side over equally spaced categories, connected by lines.
struct CategoryPlot {
  PlotLabels labels;
  std::vector<std::string> categories;
  std::vector<CategorySeries> series;
  bool logarithmic = false;
  bool percent = false;  // the axis stays within 0 and 100
  bool apart = false;    // every series has one category, which carries its name
  std::string unit;      // after a value in its tooltip
};

// One bar per category, upwards or downwards from 0.
struct BarPlot {
  PlotLabels labels;
  std::vector<std::string> categories;
  std::vector<double> values;
  std::string unit;
};

enum class PointMark { kSeries, kPassed, kFailed };

struct CurvePoint {
  double x = 0.0;
  double y = 0.0;
  std::string note{};   // its tooltip
  std::string label{};  // written beside it
  PointMark mark = PointMark::kSeries;
};

struct CurveSeries {
  std::string name;
  std::size_t look = 0;
  std::vector<CurvePoint> points;
  bool joined = true;
};

struct CurvePlot {
  PlotLabels labels;
  std::vector<CurveSeries> series;
  bool both_percent = false;       // both axes from 0 to 100, with a diagonal
  bool y_percent = false;          // the y axis stays within 0 and 100; values do already
  std::optional<double> target{};  // a horizontal line
  std::string target_name{};       // in the legend
  bool pass_and_fail = false;      // the legend explains kPassed and kFailed
};

// Each returns one <svg> element; data points are <g class="point">, the plot's area is <rect class="area">. Cost and
// size are linear in the number of points.
std::string draw_plot(const CategoryPlot& plot, const PlotStyle& style);
std::string draw_plot(const BarPlot& plot, const PlotStyle& style);
std::string draw_plot(const CurvePlot& plot, const PlotStyle& style);

}  // namespace annulus
