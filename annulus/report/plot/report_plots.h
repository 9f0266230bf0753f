// The plots of a results document.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "annulus/report/documents/results_document.h"
#include "annulus/report/plot/svg_plot.h"

namespace annulus {

struct ReportPlot {
  std::string name;     // a file name, unique within the document: "accuracy", "class-gain-5"
  std::string title;    // distinguishes it from similar plots: "5 shots"
  std::string caption;  // what it shows; may be empty
  std::variant<CategoryPlot, BarPlot, CurvePlot> plot;
};

// Each is empty where the document lacks its values.
std::vector<ReportPlot> accuracy_plots(const ResultsDocument& document);     // accuracy by shots; one
std::vector<ReportPlot> gain_plots(const ResultsDocument& document);         // ten bins; one a number of shots
std::vector<ReportPlot> calibration_plots(const ResultsDocument& document);  // one per number of shots
std::vector<ReportPlot> search_plots(const ResultsDocument& document);       // one a search
std::vector<ReportPlot> worst_plots(const ResultsDocument& document);        // mean to worst; one a number of shots
std::vector<ReportPlot> seconds_plots(const ResultsDocument& document);      // one

// All of them.
std::vector<ReportPlot> all_plots(const ResultsDocument& document);

std::string draw_plot(const ReportPlot& plot, const PlotStyle& style);

}  // namespace annulus
