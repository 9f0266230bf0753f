// Assembles the page.
#include "annulus/report/html/html_report.h"

#include <fmt/format.h>

#include "annulus/report/documents/report_findings.h"
#include "annulus/report/html/html_page.h"
#include "annulus/report/html/html_parts.h"
#include "annulus/report/html/html_sections.h"

namespace annulus {
namespace {

std::string html_article(const HtmlContext& context) {
  std::string text = fmt::format("<article aria-labelledby=\"{0}\"><h2 id=\"{0}\">{1}</h2>\n", context.id("top"),
                                 escape_xml(document_title(context.document)));
  for (const auto& part : {warning_box, answer_box, setting_paragraph, accuracy_section, comparisons_section,
                           gain_section, confusions_section, worst_section, calibration_section, search_section,
                           seconds_section, methods_section, metadata_section}) {
    text += part(context);
  }
  return text + "</article>\n";
}

// With several documents, a summary of all of them comes first.
std::string contents(std::span<const ResultsDocument> documents) {
  if (documents.size() < 2) return {};
  std::string text = R"(<nav class="answer" aria-label="Documents"><p class="lead">In short</p><ul>)";
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const ResultsDocument& document = documents[i];
    const Finding last = find_best(document, shots_of(document).back());
    text += fmt::format("<li><a href=\"#d{}-top\">{}</a>: {} With {} {}", i + 1, escape_xml(document_title(document)),
                        escape_xml(headline(document)), escape_xml(shots_phrase(last.shots)),
                        escape_xml(finding_sentence(last)));
    if (uses_test_labels(document))
      text += R"( <strong class="bad">⚠ Test labels were used to choose settings.</strong>)";
    text += "</li>\n";
  }
  return text + "</ul></nav>\n";
}

}  // namespace

std::string html_report(std::span<const ResultsDocument> documents, const HtmlReportOptions& options) {
  std::string body = contents(documents);
  for (std::size_t i = 0; i < documents.size(); ++i) body += html_article({documents[i], options, i});
  return html_page(documents.size() == 1 ? document_title(documents.front()) : "Annulus report", "Annulus report",
                   body);
}

}  // namespace annulus
