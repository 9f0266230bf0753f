// Parts of an HTML page: tables, figures, lists.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "annulus/report/plot/report_plots.h"
#include "annulus/report/tables/table_formats.h"

namespace annulus {

// <p>, with the text escaped.
std::string html_paragraph(const std::string& text);
// A table that scrolls within its own box where it is too wide.
std::string html_table(const ResultsTable& table);
// One plot over the width of the page, with a second version for narrow screens; several plots in a grid.
std::string html_figures(std::span<const ReportPlot> plots, const std::string& id);
// A list of terms; pairs with an empty second part are left out. Empty when nothing is left.
std::string html_terms(std::span<const std::pair<std::string, std::string>> terms);
// <section> with a heading; empty when there is no body.
std::string html_section(const std::string& id, const std::string& heading, const std::string& body);

// <img> of a data: URI; empty without one, and for any other address, which would make the page load something.
std::string html_picture(const std::optional<std::string>& uri, const std::string& alternative);

// The style of the page, and the script of its colour button.
std::string html_style();
std::string html_script();

}  // namespace annulus
