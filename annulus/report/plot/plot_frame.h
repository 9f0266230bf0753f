// The frame of a plot: title, legend, axes and grid.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "annulus/report/plot/axis_ticks.h"
#include "annulus/report/plot/svg_plot.h"

namespace annulus {

// A mark of about 8 units around (0, 0) and its name.
struct LegendEntry {
  std::string mark;
  std::string name;
};

// Reserves space around the data, so that nothing covers it.
class PlotFrame {
 public:
  // A numeric x axis, or (with `categories`) a slot for each category.
  PlotFrame(const PlotLabels& labels, std::vector<LegendEntry> legend, Axis x, Axis y, const PlotStyle& style);
  PlotFrame(const PlotLabels& labels, std::vector<LegendEntry> legend, std::vector<std::string> categories, Axis y,
            const PlotStyle& style);

  double left() const { return left_; }
  double right() const { return right_; }
  double x(double value) const { return left_ + x_axis_.position(value) * (right_ - left_); }
  double y(double value) const { return bottom_ - y_axis_.position(value) * (bottom_ - top_); }
  double slot_width() const { return (right_ - left_) / static_cast<double>(categories_.size()); }
  double slot_middle(std::size_t category) const {
    return left_ + (static_cast<double>(category) + 0.5) * slot_width();
  }

  // The whole drawing with `data` inside its area.
  std::string wrap(const std::string& data) const;

 private:
  void lay_out();
  void lay_out_legend();
  void lay_out_bottom();
  std::string draw_legend() const;
  std::string draw_y_axis() const;
  std::string draw_x_axis() const;

  PlotLabels labels_;
  std::vector<LegendEntry> legend_;
  std::vector<std::pair<double, double>> legend_places_;  // of each entry's mark
  std::vector<std::string> categories_;
  Axis x_axis_, y_axis_;
  PlotStyle style_;
  bool by_category_ = false;
  bool turned_ = false;  // category names are slanted
  double left_ = 0.0, right_ = 0.0, top_ = 0.0, bottom_ = 0.0;
};

// A data point: `mark` at (x, y) with a tooltip.
std::string draw_point(double x, double y, const std::string& mark, const std::string& note);

}  // namespace annulus
