// The sections with the details behind the accuracies: confused classes, and how the results were produced.
#include <fmt/format.h>

#include "annulus/learn/baselines/method.h"
#include "annulus/report/documents/report_findings.h"
#include "annulus/report/html/html_parts.h"
#include "annulus/report/html/html_sections.h"

namespace annulus {
namespace {

constexpr std::size_t kShownPairs = 12;

std::string picture(const HtmlContext& context, const std::string& path, const std::string& alternative) {
  if (path.empty() || !context.options.thumbnail) return {};
  return html_picture(context.options.thumbnail(context.number, path), alternative);
}

std::string pair_card(const HtmlContext& context, const ConfusedPair& pair) {
  const std::string mistaken = picture(context, pair.example, "Test example of " + pair.truth);
  const std::string learnt = picture(context, pair.predicted_example, "Training example of " + pair.predicted);
  const std::string arrow =
      mistaken.empty() || learnt.empty() ? "" : R"(<span class="arrow" aria-hidden="true">→</span>)";
  std::string text = "<li>";
  if (!mistaken.empty() || !learnt.empty()) {
    text += R"(<div class="pictures">)" + mistaken + arrow + learnt + "</div>";
  }
  text += fmt::format("<strong>{}</strong> predicted as <strong>{}</strong>", escape_xml(pair.truth),
                      escape_xml(pair.predicted));
  std::string often;
  if (pair.count) often = fmt::format("{:.0f} {}", *pair.count, *pair.count == 1.0 ? "time" : "times");
  if (pair.fraction) often += fmt::format("{}{:.1f} % of its test examples", often.empty() ? "" : ", ", *pair.fraction);
  if (!often.empty()) text += R"(<br><span class="note">)" + escape_xml(often) + "</span>";
  return text + "</li>\n";
}

std::string joined_seeds(const ResultsMetadata& metadata) { return fmt::format("{}", fmt::join(metadata.seeds, ", ")); }

std::string chosen_table(const ResultsMetadata& metadata) {
  if (metadata.chosen_on.empty()) return {};
  ResultsTable table;
  table.caption = "What each method's settings were chosen on";
  table.columns = {{"method", ColumnKind::kName}, {"chosen on", ColumnKind::kProse}};
  for (const auto& [method, words] : metadata.chosen_on) table.rows.push_back({{method_label(method)}, {words}});
  return html_table(table);
}

std::string test_labels_paragraph(const ResultsMetadata& metadata) {
  if (!metadata.test_labels_used) return {};
  if (!*metadata.test_labels_used) return html_paragraph("No test label was used to choose settings.");
  return R"(<p class="warning">⚠ Test labels were used to choose settings: these accuracies are too high to be compared )"
         "with others.</p>\n";
}

}  // namespace

std::string confusions_section(const HtmlContext& context) {
  const MethodResult* shown = nullptr;
  for (const std::size_t shots : shots_of(context.document)) {
    const MethodResult* best = find_best(context.document, shots).best;
    if (!best->confusions.empty()) shown = best;
  }
  if (shown == nullptr) return {};
  std::string cards;
  for (std::size_t i = 0; i < std::min(kShownPairs, shown->confusions.size()); ++i) {
    cards += pair_card(context, shown->confusions[i]);
  }
  return html_section(context.id("confusions"), "Confused classes",
                      html_paragraph(fmt::format(
                          "The most frequent confusions of {} with {}, over all splits. Images, where there are any: "
                          "a misclassified test example, and a training example of the predicted class.",
                          shown->method, shots_phrase(shown->shots))) +
                          R"(<ul class="pairs">)" + cards + "</ul>\n");
}

std::string metadata_section(const HtmlContext& context) {
  const ResultsDocument& document = context.document;
  const ResultsMetadata metadata = document.metadata.value_or(ResultsMetadata{});
  const std::string test = document.test_source == document.train_source ? "" : document.test_source;
  std::vector<std::pair<std::string, std::string>> terms = {
      {"document", document.name},
      {"data", document.train_source},
      {"test data", test},
      {"base classes", document.base_source},
      {"features", document.dimension ? fmt::format("{:.0f} dimensions", *document.dimension) : ""},
      {"seeds", joined_seeds(metadata)},
      {"machine", metadata.machine},
      {"threads", metadata.threads ? fmt::format("{:.0f}", *metadata.threads) : ""},
      {"time", metadata.time},
      {"program", document.version.empty() ? "" : "annulus " + document.version}};
  for (const auto& [what, sum] : metadata.checksums) terms.emplace_back("checksum, " + what, sum);
  std::string body = test_labels_paragraph(metadata) + chosen_table(metadata) + html_terms(terms);
  if (!metadata.command.empty()) {
    body += "<p>The command:</p>\n<pre tabindex=\"0\"><code>" + escape_xml(metadata.command) + "</code></pre>\n";
  }
  if (!document.options.empty()) {
    const std::vector<std::pair<std::string, std::string>> options(document.options.begin(), document.options.end());
    body += "<details><summary>All settings</summary>" + html_terms(options) + "</details>\n";
  }
  return html_section(context.id("metadata"), "How these results were produced", body);
}

}  // namespace annulus
