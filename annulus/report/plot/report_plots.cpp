// Turns results into plots; a method has the same colour and mark in all of them.
#include "annulus/report/plot/report_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "annulus/report/documents/report_findings.h"
#include "annulus/report/tables/result_text.h"
#include "annulus/report/tables/table_formats.h"

namespace annulus {
namespace {

constexpr std::size_t kMostPlotsOfAKind = 24;

// ibm2 and baseline have the same colour and mark in every report.
std::size_t look_of(const ResultsDocument& document, const std::string& method) {
  const std::vector<std::string> fixed{"ibm2", "baseline", "ncm"};
  std::size_t next = 0;
  for (const std::string& name : fixed) {
    if (name == method) return next;
    ++next;
  }
  for (const std::string& name : methods_of(document)) {
    if (name == method) break;
    if (std::find(fixed.begin(), fixed.end(), name) == fixed.end()) ++next;
  }
  return next;
}

using Value = std::function<std::optional<PlotValue>(const MethodResult&)>;

// One series per method over shots; with a single number of shots, one category per method.
CategoryPlot by_shots(const ResultsDocument& document, const Value& value) {
  CategoryPlot plot;
  const std::vector<std::size_t> shots = shots_of(document);
  const std::vector<std::string> methods = methods_of(document);
  plot.apart = shots.size() == 1;
  if (plot.apart) {
    plot.categories = methods;
  } else {
    for (const std::size_t k : shots) plot.categories.push_back(shots_text(k));
    plot.labels.x = "shots (labelled examples of each class)";
  }
  for (std::size_t m = 0; m < methods.size(); ++m) {
    CategorySeries series{methods[m], look_of(document, methods[m]), {}};
    if (plot.apart) series.values.resize(m);
    for (const std::size_t k : shots) {
      const MethodResult* result = find_result(document, methods[m], k);
      series.values.push_back(result == nullptr ? std::nullopt : value(*result));
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

bool has_values(const CategoryPlot& plot) {
  return std::any_of(plot.series.begin(), plot.series.end(), [](const CategorySeries& series) {
    return std::any_of(series.values.begin(), series.values.end(), [](const auto& value) { return value.has_value(); });
  });
}

// The letters and digits of a name, for a file name.
std::string file_part(const std::string& name) {
  std::string part;
  for (const char byte : name) {
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
    part += plain || byte == '_' ? byte : '-';
  }
  return part.substr(0, 40);
}

std::string number_of(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

std::vector<ReportPlot> accuracy_plots(const ResultsDocument& document) {
  CategoryPlot plot = by_shots(document, [&](const MethodResult& result) -> std::optional<PlotValue> {
    return PlotValue{result.accuracy, spread_of(document, result).value_or(0.0)};
  });
  plot.percent = true;
  plot.unit = " %";
  plot.labels.title = "Accuracy of each method";
  plot.labels.y = "accuracy, %";
  plot.labels.description = fmt::format("{} The values are in the table of accuracies.", headline(document));
  const bool bars = std::any_of(document.results.begin(), document.results.end(), [&](const MethodResult& result) {
    return spread_of(document, result).value_or(0.0) > 0.0;
  });
  std::string caption = "Higher is better.";
  if (bars) caption += fmt::format(" The vertical bars show {}.", spread_words(document));
  if (bars && document.protocol == ResultsProtocol::kManyWay && document.split_count.value_or(2.0) > 1.0) {
    caption += " All methods learn from the same splits, so bars that overlap do not mean that methods are equal.";
  }
  return {{"accuracy", "", caption, std::move(plot)}};
}

std::vector<ReportPlot> gain_plots(const ResultsDocument& document) {
  std::vector<ReportPlot> plots;
  for (const std::size_t shots : shots_of(document)) {
    const std::vector<GainBin> bins = class_gain(document, shots);
    if (bins.empty()) continue;
    BarPlot plot;
    plot.labels.title = fmt::format("Gain of ibm2 over baseline, {}", shots_phrase(shots));
    plot.labels.x = "classes, from hardest (1) to easiest (10)";
    plot.labels.y = "mean gain, points";
    plot.labels.description = "Mean gain of each bin of classes, hardest first:";
    plot.unit = " points";
    for (std::size_t b = 0; b < bins.size(); ++b) {
      plot.categories.push_back(std::to_string(b + 1));
      plot.values.push_back(bins[b].gain);
      plot.labels.description += fmt::format(" {:+.2f}", bins[b].gain);
    }
    const auto [fewest, most] = std::minmax_element(
        bins.begin(), bins.end(), [](const GainBin& a, const GainBin& b) { return a.classes < b.classes; });
    const std::string size = fewest->classes == most->classes
                                 ? number_of(most->classes, "class", "classes")
                                 : fmt::format("{} or {} classes", fewest->classes, most->classes);
    const std::string caption =
        fmt::format("{} a bin. The baseline gets {:.1f} % right in the hardest bin and {:.1f} % in the easiest.", size,
                    bins.front().baseline, bins.back().baseline);
    plots.push_back({"class-gain-" + shots_text(shots), shots_phrase(shots), caption, std::move(plot)});
  }
  return plots;
}

std::vector<ReportPlot> calibration_plots(const ResultsDocument& document) {
  std::vector<ReportPlot> plots;
  for (const std::size_t shots : shots_of(document)) {
    CurvePlot plot;
    plot.both_percent = true;
    plot.target_name = "perfect calibration";
    plot.labels = {fmt::format("Confidence and accuracy, {}", shots_phrase(shots)), "", "confidence, %", "accuracy, %"};
    for (const std::string& method : methods_of(document)) {
      const MethodResult* result = find_result(document, method, shots);
      if (result == nullptr || result->calibration.empty()) continue;
      CurveSeries series{method, look_of(document, method), {}};
      for (const CalibrationBin& bin : result->calibration) {
        series.points.push_back(
            {bin.confidence, bin.accuracy,
             fmt::format("{}: confidence {:.1f} %, accuracy {:.1f} %{}", method, bin.confidence, bin.accuracy,
                         bin.count ? fmt::format(", {:.0f} predictions", *bin.count) : "")});
      }
      plot.labels.description +=
          fmt::format("{}{}{}.", plot.labels.description.empty() ? "" : " ", method,
                      result->calibration_error
                          ? fmt::format(" has a calibration error of {:.1f} points", *result->calibration_error)
                          : " is drawn");
      plot.series.push_back(std::move(series));
    }
    if (plot.series.empty()) continue;
    plots.push_back({"calibration-" + shots_text(shots), shots_phrase(shots), "", std::move(plot)});
  }
  return plots;
}

std::vector<ReportPlot> search_plots(const ResultsDocument& document) {
  std::vector<ReportPlot> plots;
  for (const MethodResult& result : document.results) {
    const SearchTrace& trace = result.search;
    if (trace.probes.empty() || plots.size() == kMostPlotsOfAKind) continue;
    CurvePlot plot;
    plot.labels = {fmt::format("Search for the radius: {}, {}", result.method, shots_phrase(result.shots)), "",
                   "radius (epsilon)", "accuracy on virtual examples, %"};
    plot.target = trace.target;
    plot.target_name = "required";
    plot.pass_and_fail = true;
    plot.y_percent = true;
    CurveSeries series{"", 2, {}, false};
    double largest_passed = 0.0;
    for (std::size_t i = 0; i < trace.probes.size(); ++i) {
      const SearchProbe& probe = trace.probes[i];
      if (probe.passed) largest_passed = std::max(largest_passed, probe.epsilon);
      const char* outcome = probe.passed ? "passed" : "failed";
      series.points.push_back(
          {probe.epsilon, probe.accuracy,
           fmt::format("probe {}: radius {:.3f}, {:.2f} %, {}", i + 1, probe.epsilon, probe.accuracy, outcome),
           std::to_string(i + 1), probe.passed ? PointMark::kPassed : PointMark::kFailed});
    }
    plot.series.push_back(std::move(series));
    plot.labels.description =
        fmt::format("{} radii were tried; the largest that passed is {:.3f}.", trace.probes.size(), largest_passed);
    std::string caption = "First split: " + plot.labels.description;
    std::string title = fmt::format("{}, {}", result.method, shots_phrase(result.shots));
    plots.push_back(
        {fmt::format("search-{}-{}-{}", plots.size() + 1, file_part(result.method), shots_text(result.shots)),
         std::move(title), std::move(caption), std::move(plot)});
  }
  return plots;
}

std::vector<ReportPlot> worst_plots(const ResultsDocument& document) {
  std::vector<ReportPlot> plots;
  for (const std::size_t shots : shots_of(document)) {
    CategoryPlot plot;
    plot.percent = true;
    plot.unit = " %";
    plot.categories = {"all", "100", "10", "1"};
    plot.labels = {
        fmt::format("From the average episode to the worst, {}", shots_phrase(shots)),
        "Mean accuracy over all episodes and over the worst of them; the values are in the table of measures.",
        "how many of the worst episodes are averaged", "accuracy, %"};
    bool known = false;
    for (const std::string& method : methods_of(document)) {
      const MethodResult* result = find_result(document, method, shots);
      if (result == nullptr) continue;
      CategorySeries series{method, look_of(document, method), {PlotValue{result->accuracy}}};
      for (const auto& value : {result->worst_100, result->worst_10, result->worst_1}) {
        known = known || value;
        series.values.push_back(value ? std::optional(PlotValue{*value}) : std::nullopt);
      }
      plot.series.push_back(std::move(series));
    }
    if (known) plots.push_back({"worst-" + shots_text(shots), shots_phrase(shots), "", std::move(plot)});
  }
  return plots;
}

std::vector<ReportPlot> seconds_plots(const ResultsDocument& document) {
  CategoryPlot plot = by_shots(document, [](const MethodResult& result) -> std::optional<PlotValue> {
    if (!result.seconds || *result.seconds <= 0.0) return std::nullopt;
    return PlotValue{*result.seconds};
  });
  if (!has_values(plot)) return {};
  plot.logarithmic = true;
  plot.unit = " s";
  plot.labels.title = "Training time";
  plot.labels.y = "seconds (each line is ten times the one below)";
  plot.labels.description = "Seconds of each method; the values are in the table of measures.";
  const bool many_way = document.protocol == ResultsProtocol::kManyWay;
  return {{"seconds", "",
           fmt::format("Lower is faster. {}", many_way ? "Training on one split, without predicting the test examples."
                                                       : "All episodes of all seeds together."),
           std::move(plot)}};
}

std::vector<ReportPlot> all_plots(const ResultsDocument& document) {
  std::vector<ReportPlot> plots;
  for (const auto& make : {accuracy_plots, gain_plots, calibration_plots, search_plots, worst_plots, seconds_plots}) {
    std::vector<ReportPlot> some = make(document);
    std::move(some.begin(), some.end(), std::back_inserter(plots));
  }
  return plots;
}

std::string draw_plot(const ReportPlot& plot, const PlotStyle& style) {
  return std::visit([&](const auto& kind) { return draw_plot(kind, style); }, plot.plot);
}

}  // namespace annulus
