// Draws the data of plots; plot_frame draws what is around it.
#include "annulus/report/plot/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "annulus/report/plot/plot_frame.h"

namespace annulus {
namespace {

constexpr int kTicks = 5;
constexpr const char* kLevelDashes = "5 4";

// The range of the values added so far.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

std::string short_line(std::size_t look, const PlotStyle& style) {
  return draw_line(-11.0, 0.0, 11.0, 0.0, series_colour(look, style), 2.0, series_dashes(look));
}

// The line of a series along `steps`.
std::string draw_path(const std::string& steps, std::size_t look, const PlotStyle& style) {
  if (steps.empty()) return {};
  const std::string dashes = series_dashes(look);
  return fmt::format(R"(<path d="{}" fill="none" stroke="{}" stroke-width="2"{}/>)", steps, series_colour(look, style),
                     dashes.empty() ? "" : fmt::format(R"( stroke-dasharray="{}")", dashes));
}

std::string passed_mark(const PlotStyle& style) {
  return fmt::format(R"(<circle r="5.5" fill="{}" stroke="{}"/>)", ink_colour(Ink::kGood, style),
                     ink_colour(Ink::kPaper, style));
}

std::string failed_mark(const PlotStyle& style) {
  return fmt::format(R"(<path d="M-5-5 5 5M-5 5 5-5" stroke="{}" stroke-width="2.4" fill="none"/>)",
                     ink_colour(Ink::kBad, style));
}

// The part of an axis from 0 to 100.
Axis within_percent(Axis axis) {
  axis.low = std::max(axis.low, 0.0);
  axis.high = std::min(axis.high, 100.0);
  std::erase_if(axis.ticks, [&](double tick) { return tick < axis.low || tick > axis.high; });
  return axis;
}

Axis value_axis(const CategoryPlot& plot) {
  Range range;
  for (const CategorySeries& series : plot.series) {
    for (const auto& value : series.values) {
      if (!value) continue;
      range.add(value->value - value->error);
      range.add(value->value + value->error);
    }
  }
  if (range.empty()) range.add(0.0);
  if (plot.logarithmic) return log_axis(range.low, range.high);
  if (plot.percent) range = {std::clamp(range.low, 0.0, 100.0), std::clamp(range.high, 0.0, 100.0)};
  // A margin, so that no mark lies on the frame.
  const double air = 0.06 * (range.high - range.low);
  const Axis axis = linear_axis(range.low - air, range.high + air, kTicks);
  return plot.percent ? within_percent(axis) : axis;
}

std::string draw_error_bar(double x, double y_low, double y_high, const std::string& colour) {
  return draw_line(x, y_low, x, y_high, colour, 1.4) + draw_line(x - 6.5, y_low, x + 6.5, y_low, colour, 1.4) +
         draw_line(x - 6.5, y_high, x + 6.5, y_high, colour, 1.4);
}

std::string value_note(const CategoryPlot& plot, const CategorySeries& series, std::size_t category) {
  const PlotValue& value = *series.values[category];
  return fmt::format("{}, {}: {:.4g}{}{}", series.name, plot.categories[category], value.value,
                     value.error > 0.0 ? fmt::format(" ± {:.3g}", value.error) : "", plot.unit);
}

std::string draw_series(const CategoryPlot& plot, std::size_t index, const PlotFrame& frame, const PlotStyle& style) {
  const CategorySeries& series = plot.series[index];
  const auto count = static_cast<double>(plot.series.size());
  // Series stand side by side within the middle of a slot, so that error bars do not hide one another.
  const double step = std::min(11.0, 0.5 * frame.slot_width() / count);
  const double shift = plot.apart ? 0.0 : (static_cast<double>(index) - 0.5 * (count - 1.0)) * step;
  const std::string colour = series_colour(series.look, style);
  std::string line, bars, points;
  for (std::size_t c = 0; c < std::min(series.values.size(), plot.categories.size()); ++c) {
    if (!series.values[c]) continue;
    const PlotValue& value = *series.values[c];
    const double x = frame.slot_middle(c) + shift;
    const double y = frame.y(value.value);
    line += fmt::format("{}{} {}", line.empty() ? "M" : "L", coordinate(x), coordinate(y));
    if (value.error > 0.0) {
      bars += draw_error_bar(x, frame.y(value.value - value.error), frame.y(value.value + value.error), colour);
    }
    points += draw_point(x, y, series_mark(series.look, style), value_note(plot, series, c));
  }
  return draw_path(line, series.look, style) + bars + points;
}

// "+1.2", "−0.4", "0.0".
std::string signed_number(double value) {
  const std::string size = fmt::format("{:.1f}", std::abs(value));
  if (size.find_first_not_of("0.") == std::string::npos) return size;
  return (value < 0.0 ? "−" : "+") + size;
}

std::pair<Axis, Axis> curve_axes(const CurvePlot& plot) {
  if (plot.both_percent) return {linear_axis(0.0, 100.0, kTicks), linear_axis(0.0, 100.0, kTicks)};
  Range x, y;
  for (const CurveSeries& series : plot.series) {
    for (const CurvePoint& point : series.points) {
      x.add(point.x);
      y.add(point.y);
    }
  }
  if (plot.target) y.add(*plot.target);
  if (x.empty()) x.add(0.0);
  if (y.empty()) y.add(0.0);
  const double x_air = 0.05 * (x.high - x.low);
  const double y_air = 0.08 * (y.high - y.low);
  const Axis y_axis = linear_axis(y.low - y_air, y.high + y_air, kTicks);
  return {linear_axis(std::max(0.0, x.low - x_air), x.high + x_air, kTicks),
          plot.y_percent ? within_percent(y_axis) : y_axis};
}

std::vector<LegendEntry> curve_legend(const CurvePlot& plot, const PlotStyle& style) {
  std::vector<LegendEntry> legend;
  for (const CurveSeries& series : plot.series) {
    if (series.name.empty()) continue;
    legend.push_back({short_line(series.look, style) + series_mark(series.look, style), series.name});
  }
  if (plot.pass_and_fail) {
    legend.push_back({passed_mark(style), "passed"});
    legend.push_back({failed_mark(style), "failed"});
  }
  if (plot.target || plot.both_percent) {
    legend.push_back(
        {draw_line(-11.0, 0.0, 9.0, 0.0, ink_colour(Ink::kMuted, style), 1.6, kLevelDashes), plot.target_name});
  }
  return legend;
}

std::string draw_curve(const CurveSeries& series, const PlotFrame& frame, const PlotStyle& style) {
  std::string line, points;
  std::vector<std::pair<double, double>> labelled;
  for (const CurvePoint& point : series.points) {
    const double x = frame.x(point.x);
    const double y = frame.y(point.y);
    line += fmt::format("{}{} {}", line.empty() ? "M" : "L", coordinate(x), coordinate(y));
    const std::string mark = point.mark == PointMark::kPassed   ? passed_mark(style)
                             : point.mark == PointMark::kFailed ? failed_mark(style)
                                                                : series_mark(series.look, style);
    points += draw_point(x, y, mark, point.note);
    // Labels that would overlap are left out; tooltips have them all.
    const bool crowded = std::any_of(labelled.begin(), labelled.end(), [&](const std::pair<double, double>& other) {
      return std::abs(other.first - x) < 1.3 * style.font_size && std::abs(other.second - y) < style.font_size;
    });
    if (point.label.empty() || crowded) continue;
    labelled.emplace_back(x, y);
    points += draw_text(x + 0.6 * style.font_size, y - 0.5 * style.font_size, point.label, Anchor::kStart,
                        ink_colour(Ink::kMuted, style), 0.85 * style.font_size);
  }
  return series.joined ? draw_path(line, series.look, style) + points : points;
}

}  // namespace

std::string draw_plot(const CategoryPlot& plot, const PlotStyle& style) {
  std::vector<LegendEntry> legend;
  for (const CategorySeries& series : plot.series) {
    if (plot.apart) break;
    const std::string line = plot.categories.size() > 1 ? short_line(series.look, style) : "";
    legend.push_back({line + series_mark(series.look, style), series.name});
  }
  const PlotFrame frame(plot.labels, std::move(legend), plot.categories, value_axis(plot), style);
  std::string data;
  for (std::size_t i = 0; i < plot.series.size(); ++i) data += draw_series(plot, i, frame, style);
  return frame.wrap(data);
}

std::string draw_plot(const BarPlot& plot, const PlotStyle& style) {
  Range range;
  range.add(0.0);
  for (const double value : plot.values) range.add(value);
  // Values are written at the ends of bars and need space there.
  const double air = 0.12 * (range.high - range.low);
  const Axis axis =
      linear_axis(range.low < 0.0 ? range.low - air : 0.0, range.high > 0.0 ? range.high + air : 0.0, kTicks);
  const PlotFrame frame(plot.labels, {}, plot.categories, axis, style);
  const double zero = frame.y(0.0);
  const double width = 0.62 * frame.slot_width();
  const double font = std::min(style.font_size, 0.37 * frame.slot_width());
  std::string data;
  for (std::size_t i = 0; i < std::min(plot.values.size(), plot.categories.size()); ++i) {
    const double x = frame.slot_middle(i);
    const double end = frame.y(plot.values[i]);
    const bool down = plot.values[i] < 0.0;
    const std::string number = signed_number(plot.values[i]);
    data += draw_point(x, end,
                       fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>)",
                                   coordinate(-0.5 * width), coordinate(std::min(0.0, zero - end)), coordinate(width),
                                   coordinate(std::abs(zero - end)), series_colour(down ? 1 : 0, style)),
                       fmt::format("{}: {}{}", plot.categories[i], number, plot.unit));
    data += draw_text(x, down ? end + 1.1 * font : end - 0.4 * font, number, Anchor::kMiddle,
                      ink_colour(Ink::kText, style), font);
  }
  data += draw_line(frame.left(), zero, frame.right(), zero, ink_colour(Ink::kMuted, style), 1.4);
  return frame.wrap(data);
}

std::string draw_plot(const CurvePlot& plot, const PlotStyle& style) {
  const auto [x_axis, y_axis] = curve_axes(plot);
  const PlotFrame frame(plot.labels, curve_legend(plot, style), x_axis, y_axis, style);
  const std::string level_colour = ink_colour(Ink::kMuted, style);
  std::string data;
  if (plot.both_percent) {
    data += draw_line(frame.x(0.0), frame.y(0.0), frame.x(100.0), frame.y(100.0), level_colour, 1.6, kLevelDashes);
  }
  if (plot.target) {
    const double level = frame.y(*plot.target);
    data += draw_line(frame.left(), level, frame.right(), level, level_colour, 1.6, kLevelDashes);
  }
  for (const CurveSeries& series : plot.series) data += draw_curve(series, frame, style);
  return frame.wrap(data);
}

}  // namespace annulus
