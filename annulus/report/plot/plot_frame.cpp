// Computes the layout of a plot from the widths of its texts.
#include "annulus/report/plot/plot_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace annulus {
namespace {

constexpr std::size_t kLongestName = 22;  // characters of a category or a series in a plot
constexpr double kTurnDegrees = -38.0;

}  // namespace

PlotFrame::PlotFrame(const PlotLabels& labels, std::vector<LegendEntry> legend, Axis x, Axis y, const PlotStyle& style)
    : labels_(labels), legend_(std::move(legend)), x_axis_(std::move(x)), y_axis_(std::move(y)), style_(style) {
  lay_out();
}

PlotFrame::PlotFrame(const PlotLabels& labels, std::vector<LegendEntry> legend, std::vector<std::string> categories,
                     Axis y, const PlotStyle& style)
    : labels_(labels),
      legend_(std::move(legend)),
      categories_(std::move(categories)),
      y_axis_(std::move(y)),
      style_(style),
      by_category_(true) {
  for (std::string& category : categories_) category = shorten(category, kLongestName);
  lay_out();
}

void PlotFrame::lay_out() {
  const double font = style_.font_size;
  double widest = 0.0;
  for (const std::string& label : tick_labels(y_axis_)) widest = std::max(widest, text_width(label, font));
  // Labels below the ends of the x axis reach beyond them by half their width.
  double half_label = 0.0;
  if (!by_category_) {
    for (const std::string& label : tick_labels(x_axis_)) {
      half_label = std::max(half_label, 0.5 * text_width(label, font));
    }
  }
  left_ = std::max(widest + 0.9 * font, half_label);
  right_ = style_.width - std::max(0.9 * font, half_label + 0.2 * font);
  top_ = 0.4 * font;
  if (!style_.in_page) top_ += 2.0 * font;  // its title
  lay_out_legend();
  if (!labels_.y.empty()) top_ += 1.5 * font;
  top_ += 0.9 * font;
  lay_out_bottom();
}

void PlotFrame::lay_out_legend() {
  const double font = style_.font_size;
  if (legend_.empty()) return;
  double x = 0.4 * font;
  double y = top_ + 0.8 * font;
  for (LegendEntry& entry : legend_) {
    entry.name = shorten(entry.name, kLongestName + 8);
    const double width = 3.1 * font + text_width(entry.name, font);
    if (x > font && x + width > style_.width) {
      x = 0.4 * font;
      y += 1.5 * font;
    }
    legend_places_.emplace_back(x + 0.9 * font, y);
    x += width;
  }
  top_ = y + 1.0 * font;
}

void PlotFrame::lay_out_bottom() {
  const double font = style_.font_size;
  double below = 1.7 * font + (labels_.x.empty() ? 0.0 : 1.6 * font);
  if (by_category_) {
    double widest = 0.0;
    for (const std::string& category : categories_) widest = std::max(widest, text_width(category, font));
    turned_ = widest > slot_width() - 0.3 * font;
    // The first slanted name reaches to the left of its slot.
    if (turned_) {
      below += 0.62 * widest;
      left_ = std::max(left_, std::min(0.79 * widest, 0.25 * style_.width));
    }
  }
  bottom_ = std::max(style_.height - below, top_ + 60.0);
}

std::string PlotFrame::draw_legend() const {
  const double font = style_.font_size;
  std::string text;
  for (std::size_t i = 0; i < legend_.size(); ++i) {
    const auto& [x, y] = legend_places_[i];
    text +=
        fmt::format(R"svg(<g transform="translate({} {})">{}</g>)svg", coordinate(x), coordinate(y), legend_[i].mark);
    text += draw_text(x + 1.15 * font, y + 0.35 * font, legend_[i].name, Anchor::kStart, ink_colour(Ink::kText, style_),
                      font);
  }
  return text;
}

std::string PlotFrame::draw_y_axis() const {
  const double font = style_.font_size;
  const std::string grid = ink_colour(Ink::kGrid, style_);
  const std::string muted = ink_colour(Ink::kMuted, style_);
  std::string text;
  const auto labels = tick_labels(y_axis_);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double at = y(y_axis_.ticks[i]);
    text += draw_line(left_, at, right_, at, grid, 1.0);
    text += draw_text(left_ - 0.5 * font, at + 0.35 * font, labels[i], Anchor::kEnd, muted, font);
  }
  if (!labels_.y.empty()) {
    text += draw_text(0.4 * font, top_ - 1.2 * font, labels_.y, Anchor::kStart, muted, font);
  }
  return text;
}

std::string PlotFrame::draw_x_axis() const {
  const double font = style_.font_size;
  const std::string muted = ink_colour(Ink::kMuted, style_);
  std::string text = draw_line(left_, bottom_, right_, bottom_, muted, 1.2);
  if (by_category_) {
    for (std::size_t i = 0; i < categories_.size(); ++i) {
      text += turned_ ? draw_text(slot_middle(i) + 0.4 * font, bottom_ + 1.1 * font, categories_[i], Anchor::kEnd,
                                  ink_colour(Ink::kText, style_), font, kTurnDegrees)
                      : draw_text(slot_middle(i), bottom_ + 1.35 * font, categories_[i], Anchor::kMiddle,
                                  ink_colour(Ink::kText, style_), font);
    }
  } else {
    const auto labels = tick_labels(x_axis_);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const double at = x(x_axis_.ticks[i]);
      text += draw_line(at, bottom_, at, bottom_ + 0.35 * font, muted, 1.0);
      text += draw_text(at, bottom_ + 1.4 * font, labels[i], Anchor::kMiddle, muted, font);
    }
  }
  if (!labels_.x.empty()) {
    text += draw_text(0.5 * (left_ + right_), style_.height - 0.4 * font, labels_.x, Anchor::kMiddle, muted, font);
  }
  return text;
}

std::string PlotFrame::wrap(const std::string& data) const {
  const std::string id = escape_xml(style_.id);
  const double height = std::max(style_.height, bottom_ + 3.3 * style_.font_size);
  std::string text = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" {4} role="img" aria-labelledby="{2}-title {2}-text" font-family="system-ui, 'DejaVu Sans', sans-serif"><title id="{2}-title">{3}</title><desc id="{2}-text">{5}</desc>)",
      coordinate(style_.width), coordinate(height), id, escape_xml(labels_.title),
      style_.in_page ? std::string(R"(class="plot")")
                     : fmt::format(R"(width="{}" height="{}")", coordinate(style_.width), coordinate(height)),
      escape_xml(labels_.description));
  if (!style_.in_page) {
    text +=
        fmt::format(R"(<rect width="{}" height="{}" fill="#ffffff"/>)", coordinate(style_.width), coordinate(height));
    text += draw_text(0.4 * style_.font_size, 1.5 * style_.font_size, labels_.title, Anchor::kStart,
                      ink_colour(Ink::kText, style_), 1.1 * style_.font_size, 0.0, true);
  }
  text += fmt::format(R"(<rect class="area" x="{}" y="{}" width="{}" height="{}" fill="none"/>)", coordinate(left_),
                      coordinate(top_), coordinate(right_ - left_), coordinate(bottom_ - top_));
  return text + draw_legend() + draw_y_axis() + draw_x_axis() + data + "</svg>\n";
}

std::string draw_point(double x, double y, const std::string& mark, const std::string& note) {
  return fmt::format(R"svg(<g class="point" transform="translate({} {})">{}{}</g>)svg", coordinate(x), coordinate(y),
                     note.empty() ? "" : "<title>" + escape_xml(note) + "</title>", mark);
}

}  // namespace annulus
