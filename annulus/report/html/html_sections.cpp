// The sections about accuracy: the summary, the values behind it, and the classes that gain.
#include "annulus/report/html/html_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "annulus/learn/baselines/method.h"
#include "annulus/report/documents/report_findings.h"
#include "annulus/report/html/html_parts.h"
#include "annulus/report/tables/result_text.h"

namespace annulus {
namespace {

const char* verdict_sign(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMoreThanNoise:
      return "✓";
    case Verdict::kMayBeNoise:
      return "≈";
    case Verdict::kUnknown:
      break;
  }
  return "?";
}

// Nothing where test examples are as usual: all of them, or as many of each class.
std::string balance_text(const ResultsDocument& document) {
  const std::string& balance = document.query_balance;
  if (balance.starts_with("dirichlet:")) {
    return fmt::format(
        " The test examples are not balanced: the fractions of their classes are drawn from a Dirichlet distribution "
        "with concentration {}.",
        balance.substr(balance.find(':') + 1));
  }
  const bool drawn = balance == "balanced" && document.protocol == ResultsProtocol::kManyWay;
  return drawn ? " As many test examples of each class are drawn." : "";
}

std::string transductive_paragraph(const ResultsDocument& document) {
  const bool any = std::any_of(document.results.begin(), document.results.end(),
                               [](const MethodResult& result) { return result.transductive; });
  if (!any) return {};
  return html_paragraph(
      "Methods marked transductive see all test examples at once, without their labels. The others predict each test "
      "example alone, as a program that is given one photo has to. Who wins among transductive methods depends on how "
      "the test examples are distributed over the classes.");
}

std::string count_text(double count, const char* words) { return fmt::format("{:.0f} {}", count, words); }

}  // namespace

std::string warning_box(const HtmlContext& context) {
  if (!uses_test_labels(context.document)) return {};
  return "<div class=\"warning\" role=\"note\">⚠ The labels of the test set were used to choose settings. The "
         "accuracies "
         "below are therefore higher than on new data; they serve to reproduce a table that was made in the same way, "
         "and nothing else.</div>\n";
}

std::string answer_box(const HtmlContext& context) {
  std::string text = R"(<div class="answer"><p class="lead">)" + escape_xml(headline(context.document)) + "</p>\n<ul>";
  for (const std::size_t shots : shots_of(context.document)) {
    const Finding finding = find_best(context.document, shots);
    text += fmt::format("<li><strong>{}</strong>: {}", escape_xml(shots_phrase(shots)),
                        escape_xml(finding_sentence(finding)));
    if (finding.next != nullptr) {
      text += fmt::format(" <span class=\"verdict\">{} {}</span>{}.", verdict_sign(finding.verdict),
                          verdict_words(finding.verdict),
                          finding.reason.empty() ? "" : " (" + escape_xml(finding.reason) + ")");
    }
    text += "</li>\n";
  }
  return text + "</ul></div>\n";
}

std::string setting_paragraph(const HtmlContext& context) {
  const ResultsDocument& document = context.document;
  std::string text;
  if (document.protocol == ResultsProtocol::kManyWay) {
    text = document.ways ? fmt::format("{:.0f} classes are recognised at once. ", *document.ways) : "";
    text +=
        "A method is trained on a few labelled examples of each class (the shots) and predicts test examples that it "
        "has never seen.";
    if (document.split_count) {
      text += fmt::format(
          " Values are means over {}.",
          count_text(*document.split_count, *document.split_count == 1.0 ? "random split" : "random splits"));
    }
  } else {
    text = "Many small tasks (episodes) are drawn";
    if (document.ways) text += fmt::format(", each of {:.0f} classes", *document.ways);
    text += ": a method is trained on a few labelled examples of each class (the shots)";
    text += document.queries ? fmt::format(" and predicts {:.0f} others of each.", *document.queries)
                             : " and predicts others.";
    if (document.episodes && document.seeds) {
      text += fmt::format(" {:.0f} episodes for each of {}.", *document.episodes,
                          count_text(*document.seeds, *document.seeds == 1.0 ? "seed" : "seeds"));
    }
  }
  text += balance_text(document);
  return R"(<p class="setting">)" + escape_xml(text) + "</p>\n";
}

std::string accuracy_section(const HtmlContext& context) {
  const ResultsDocument& document = context.document;
  return html_section(context.id("accuracy"), "Accuracy",
                      transductive_paragraph(document) +
                          html_figures(accuracy_plots(document), context.id("accuracy-plot")) +
                          html_table(accuracy_table(document)) + html_table(measures_table(document)));
}

std::string comparisons_section(const HtmlContext& context) {
  const ResultsTable table = comparisons_table(context.document);
  if (table.rows.empty()) return {};
  return html_section(
      context.id("comparisons"), "Is the difference more than noise?",
      html_paragraph(
          "Both methods of a row were trained on the same examples and tested on the same examples. The p-value is "
          "the probability of a difference at least this large if the two were equally good: below 0.05 it is "
          "usually called significant. With many rows, one in twenty is below it by chance.") +
          html_table(table));
}

std::string gain_section(const HtmlContext& context) {
  const std::vector<ReportPlot> plots = gain_plots(context.document);
  if (plots.empty()) return {};
  return html_section(
      context.id("gain"), "Which classes gain from ibm2?",
      html_paragraph(
          "Classes are sorted by the accuracy of the baseline and divided into ten bins of equal size; a bar is "
          "the mean gain of ibm2 over the baseline in a bin.") +
          html_figures(plots, context.id("gain-plot")) +
          R"(<p class="note">The bins are made by the baseline's own luck on these test examples, so some gain on the left and )"
          "some loss on the right would show even between two equal methods.</p>\n");
}

std::string calibration_section(const HtmlContext& context) {
  const std::vector<ReportPlot> plots = calibration_plots(context.document);
  if (plots.empty()) return {};
  return html_section(
      context.id("calibration"), "Is the confidence calibrated?",
      html_paragraph(
          "Predictions are sorted by their probability. On the dashed line, predictions with a probability of 70 % "
          "are right 70 times in 100; above it a method is underconfident, below it overconfident.") +
          html_figures(plots, context.id("calibration-plot")));
}

std::string search_section(const HtmlContext& context) {
  const std::vector<ReportPlot> plots = search_plots(context.document);
  if (plots.empty()) return {};
  return html_section(
      context.id("search"), "How the radius was found",
      html_paragraph(
          "ibm2 surrounds every training example with a cloud of virtual examples and searches the largest clouds "
          "that can still be classified correctly. Each mark is a radius that was tried, numbered in order; it "
          "passes when the accuracy on virtual examples reaches the dashed line. Only training examples are used.") +
          html_figures(plots, context.id("search-plot")));
}

std::string worst_section(const HtmlContext& context) {
  const std::vector<ReportPlot> plots = worst_plots(context.document);
  ResultsTable table;
  table.caption = "The worst episodes of the most accurate method";
  table.columns = {{"shots"}, {"accuracy %"}, {"seed"}, {"episode"}, {"classes", ColumnKind::kProse}};
  for (const std::size_t shots : shots_of(context.document)) {
    for (const WorstEpisode& worst : find_best(context.document, shots).best->worst) {
      table.rows.push_back({{shots_text(shots)},
                            {fmt::format("{:.2f}", worst.accuracy)},
                            {worst.seed ? std::to_string(*worst.seed) : ""},
                            {worst.episode ? std::to_string(*worst.episode) : ""},
                            {fmt::format("{}", fmt::join(worst.classes, ", "))}});
    }
  }
  std::string body;
  if (!plots.empty()) {
    body += html_paragraph(
                "An average hides bad luck. From left to right: the mean over all episodes, over the worst 100, "
                "over the worst 10, and the worst one, each averaged over seeds.") +
            html_figures(plots, context.id("worst-plot"));
  }
  if (!table.rows.empty()) body += html_table(table);
  return html_section(context.id("worst"), "Worst episodes", body);
}

std::string seconds_section(const HtmlContext& context) {
  const std::vector<ReportPlot> plots = seconds_plots(context.document);
  return html_section(context.id("seconds"), "Time", html_figures(plots, context.id("seconds-plot")));
}

std::string methods_section(const HtmlContext& context) {
  std::vector<std::pair<std::string, std::string>> terms;
  for (const std::string& name : methods_of(context.document)) {
    for (const Method& method : methods()) {
      if (method_label(method.name) == name) terms.emplace_back(name, method.summary);
    }
  }
  return html_section(context.id("methods"), "The methods", html_terms(terms));
}

}  // namespace annulus
