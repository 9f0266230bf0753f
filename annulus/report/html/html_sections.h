// The sections of the HTML page about one document, each empty where the document lacks its values.
#pragma once

#include <cstddef>
#include <string>

#include "annulus/report/documents/results_document.h"
#include "annulus/report/html/html_report.h"

namespace annulus {

// A document and its page.
struct HtmlContext {
  const ResultsDocument& document;
  const HtmlReportOptions& options;
  std::size_t number = 0;  // index of the document
  // Ids are unique in the page.
  std::string id(const std::string& name) const { return "d" + std::to_string(number + 1) + "-" + name; }
};

std::string warning_box(const HtmlContext& context);  // test labels were used
std::string answer_box(const HtmlContext& context);
std::string setting_paragraph(const HtmlContext& context);
std::string accuracy_section(const HtmlContext& context);
std::string comparisons_section(const HtmlContext& context);
std::string gain_section(const HtmlContext& context);
std::string confusions_section(const HtmlContext& context);
std::string calibration_section(const HtmlContext& context);
std::string search_section(const HtmlContext& context);
std::string worst_section(const HtmlContext& context);
std::string seconds_section(const HtmlContext& context);
std::string methods_section(const HtmlContext& context);
std::string metadata_section(const HtmlContext& context);

}  // namespace annulus
