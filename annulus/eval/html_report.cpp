// Puts the page together.
#include "annulus/eval/html_report.h"

#include <fmt/format.h>

#include "annulus/base/version.h"
#include "annulus/eval/html_parts.h"
#include "annulus/eval/html_sections.h"
#include "annulus/eval/report_findings.h"

namespace annulus {
namespace {

std::string html_article(const HtmlContext& context) {
  std::string text = fmt::format("<article aria-labelledby=\"{0}\"><h2 id=\"{0}\">{1}</h2>\n", context.id("top"),
                                 escape_xml(document_title(context.document)));
  for (const auto& part : {warning_box, answer_box, setting_paragraph, accuracy_section, comparisons_section,
                           gain_section, confusions_section, worst_section, calibration_section, search_section,
                           seconds_section, methods_section, stamp_section}) {
    text += part(context);
  }
  return text + "</article>\n";
}

// With several documents, the answers of all of them come first.
std::string contents(std::span<const ResultsDocument> documents) {
  if (documents.size() < 2) return {};
  std::string text = R"(<nav class="answer" aria-label="Documents"><p class="lead">In short</p><ul>)";
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const ResultsDocument& document = documents[i];
    const Finding last = find_best(document, shots_of(document).back());
    text += fmt::format("<li><a href=\"#d{}-top\">{}</a>: {} With {} {}", i + 1, escape_xml(document_title(document)),
                        escape_xml(headline(document)), escape_xml(shots_phrase(last.shots)),
                        escape_xml(finding_sentence(last)));
    if (last.next != nullptr) text += " " + verdict_words(last.verdict) + ".";
    if (uses_test_labels(document))
      text += R"( <strong class="bad">⚠ Test labels were used to choose settings.</strong>)";
    text += "</li>\n";
  }
  return text + "</ul></nav>\n";
}

}  // namespace

std::string html_report(std::span<const ResultsDocument> documents, const HtmlReportOptions& options) {
  // The policy keeps the promise that nothing is loaded, whatever a document says.
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>";
  text += escape_xml(documents.size() == 1 ? document_title(documents.front()) : "Annulus report");
  text += "</title>\n" + html_style() + "</head>\n<body>\n";
  text +=
      "<header><h1>Annulus report</h1><button id=\"theme\" type=\"button\" hidden>Colours</button></header>\n<main>\n";
  text += contents(documents);
  for (std::size_t i = 0; i < documents.size(); ++i) text += html_article({documents[i], options, i});
  text += fmt::format(
      "</main>\n<footer><p>Written by annulus {}. This page is one file and loads nothing.</p></footer>\n", kVersion);
  return text + html_script() + "</body>\n</html>\n";
}

}  // namespace annulus
