// The sections about single cases and about how the numbers were made.
#include <fmt/format.h>

#include "annulus/eval/html_parts.h"
#include "annulus/eval/html_sections.h"
#include "annulus/eval/report_findings.h"

namespace annulus {
namespace {

constexpr std::size_t kShownPairs = 12;

std::string picture(const HtmlContext& context, const std::string& path, const std::string& alternative) {
  if (path.empty() || !context.options.thumbnail) return {};
  const auto uri = context.options.thumbnail(context.number, path);
  // An address that is not data would make the page load something.
  if (!uri || !uri->starts_with("data:image/")) return {};
  return fmt::format("<img src=\"{}\" alt=\"{}\" loading=\"lazy\">", escape_xml(*uri), escape_xml(alternative));
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
  text += fmt::format("<strong>{}</strong> taken for <strong>{}</strong>", escape_xml(pair.truth),
                      escape_xml(pair.predicted));
  std::string often;
  if (pair.count) often = fmt::format("{:.0f} {}", *pair.count, *pair.count == 1.0 ? "time" : "times");
  if (pair.share) often += fmt::format("{}{:.1f} % of its test examples", often.empty() ? "" : ", ", *pair.share);
  if (!often.empty()) text += R"(<br><span class="note">)" + escape_xml(often) + "</span>";
  return text + "</li>\n";
}

std::string joined_seeds(const ResultsStamp& stamp) { return fmt::format("{}", fmt::join(stamp.seeds, ", ")); }

std::string chosen_table(const ResultsStamp& stamp) {
  if (stamp.chosen_on.empty()) return {};
  ResultsTable table;
  table.caption = "What each method's settings were chosen on";
  table.columns = {{"method", ColumnKind::kName}, {"chosen on", ColumnKind::kProse}};
  for (const auto& [method, words] : stamp.chosen_on) table.rows.push_back({{method}, {words}});
  return html_table(table);
}

std::string test_labels_paragraph(const ResultsStamp& stamp) {
  if (!stamp.test_labels_used) return {};
  if (!*stamp.test_labels_used) return html_paragraph("No test label was used to choose anything.");
  return R"(<p class="warning">⚠ Test labels were used to choose settings: these accuracies are too good to be compared )"
         "with honest ones.</p>\n";
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
  return html_section(context.id("confusions"), "What is mistaken for what",
                      html_paragraph(fmt::format(
                          "The most frequent mistakes of {} with {}, over all draws. Pictures, where there are any: "
                          "a mistaken test example, and a labelled one of the class it was taken for.",
                          shown->method, shots_phrase(shown->shots))) +
                          R"(<ul class="pairs">)" + cards + "</ul>\n");
}

std::string stamp_section(const HtmlContext& context) {
  const ResultsDocument& document = context.document;
  const ResultsStamp stamp = document.stamp.value_or(ResultsStamp{});
  const std::string test = document.test_source == document.train_source ? "" : document.test_source;
  std::vector<std::pair<std::string, std::string>> terms = {
      {"document", document.name},
      {"data", document.train_source},
      {"test data", test},
      {"base classes", document.base_source},
      {"features", document.dimension ? fmt::format("{:.0f} numbers each", *document.dimension) : ""},
      {"seeds", joined_seeds(stamp)},
      {"machine", stamp.machine},
      {"threads", stamp.threads ? fmt::format("{:.0f}", *stamp.threads) : ""},
      {"time", stamp.time},
      {"program", document.version.empty() ? "" : "annulus " + document.version}};
  for (const auto& [what, sum] : stamp.checksums) terms.emplace_back("checksum, " + what, sum);
  std::string body = test_labels_paragraph(stamp) + chosen_table(stamp) + html_terms(terms);
  if (!stamp.command.empty()) {
    body += "<p>The command:</p>\n<pre tabindex=\"0\"><code>" + escape_xml(stamp.command) + "</code></pre>\n";
  }
  if (!document.options.empty()) {
    const std::vector<std::pair<std::string, std::string>> options(document.options.begin(), document.options.end());
    body += "<details><summary>All settings</summary>" + html_terms(options) + "</details>\n";
  }
  return html_section(context.id("stamp"), "How these numbers were made", body);
}

}  // namespace annulus
