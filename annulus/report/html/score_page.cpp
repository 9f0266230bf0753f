// Sections from the answer to the details; a matrix of confusions where it can be read, else a list.
#include "annulus/report/html/score_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "annulus/report/html/html_page.h"
#include "annulus/report/html/html_parts.h"
#include "annulus/report/plot/score_plots.h"
#include "annulus/report/tables/score_tables.h"

namespace annulus {
namespace {

constexpr std::size_t kMostWorstCards = 24;
constexpr std::size_t kMostUnknownCards = 12;
constexpr std::size_t kMostScoreRows = 200;     // of a table
constexpr std::size_t kMostMatrixClasses = 30;  // more cannot be read as a matrix
constexpr std::size_t kLongestMatrixName = 24;
constexpr double kStrongestShade = 0.5;  // text stays readable on it

std::string one_decimal(double value) { return fmt::format("{:.1f}", value); }
std::string one_decimal(const std::optional<double>& value) { return value ? one_decimal(*value) : std::string(); }

class ScorePage {
 public:
  ScorePage(const ScoreReport& report, const ScorePageOptions& options) : report_(report), options_(options) {}

  std::string body() const {
    std::string text =
        fmt::format("<article aria-labelledby=\"top\"><h2 id=\"top\">Score on {}</h2>\n", escape_xml(report_.source));
    // One after the other: the images of the first sections are read first.
    text += warning() + answer();
    text += worst_section();
    text += classes_section() + confusion_section() + calibration_section();
    text += unknown_section();
    return text + limits_section() + "</article>\n";
  }

 private:
  const std::string& predicted_name(const ScoredExample& example) const {
    return report_.classes[static_cast<std::size_t>(example.predicted)].name;
  }

  static std::string name_of(const ScoredExample& example) {
    return example.path.empty() ? fmt::format("row {}", example.row) : example.path;
  }

  std::string warning() const {
    if (report_.trained_on == 0) return {};
    return fmt::format(
        "<div class=\"warning\" role=\"note\">⚠ {} of the {} examples {} the model's training examples too. The "
        "accuracy is too high: score the model on photos that it has not seen.</div>\n",
        report_.trained_on, report_.scored.size(), report_.trained_on == 1 ? "is among" : "are among");
  }

  std::string answer() const {
    std::vector<std::string> items;
    const auto tested = std::count_if(report_.classes.begin(), report_.classes.end(),
                                      [](const ClassScore& score) { return score.examples != 0; });
    std::string counts = fmt::format("{} right of {} examples of {} classes; the model knows {}.", report_.correct,
                                     report_.examples, tested, report_.classes.size());
    if (report_.left_out != 0) {
      counts += fmt::format(" {} marked as training examples {} left out.", report_.left_out,
                            report_.left_out == 1 ? "is" : "are");
    }
    items.push_back(std::move(counts));
    items.push_back(fmt::format(
        "Mean recall of the classes: {:.1f} %.{}", report_.macro_recall,
        report_.top5 ? fmt::format(" Among the five most probable classes: {:.1f} %.", *report_.top5) : ""));
    items.push_back(fmt::format("Mean confidence: {:.1f} %. Calibration error: {:.1f} points.", report_.confidence,
                                report_.calibration_error));
    if (report_.groups) {
      std::string groups = groups_line(*report_.groups);
      groups.front() = 'W';
      items.push_back(groups + ".");
    }
    if (std::string rejection = rejection_line(report_); !rejection.empty()) {
      rejection.front() = rejection.front() == 'a' ? 'A' : 'T';
      items.push_back(rejection + ".");
    }
    std::string list;
    for (const std::string& item : items) list += "<li>" + escape_xml(item) + "</li>\n";
    return "<div class=\"answer\"><p class=\"lead\">" + escape_xml(accuracy_line(report_)) + "</p><ul>" + list +
           "</ul></div>\n";
  }

  std::string card(const ScoredExample& example) const {
    std::string picture;
    if (options_.thumbnail && !example.path.empty()) {
      picture = html_picture(options_.thumbnail(example.path), "Image labelled " + example.label);
    }
    if (!picture.empty()) picture = R"(<div class="pictures">)" + picture + "</div>";
    return fmt::format(
        "<li>{}labelled <strong>{}</strong>, predicted <strong>{}</strong><br><span class=\"note\">{:.1f} % sure{}: "
        "{}</span></li>\n",
        picture, escape_xml(example.label), escape_xml(predicted_name(example)),
        100.0 * static_cast<double>(example.probability), example.rejected ? ", rejected as unknown" : "",
        escape_xml(name_of(example)));
  }

  // Cards where there are images, and a table of the others.
  std::string examples_list(const std::vector<const ScoredExample*>& examples, std::size_t most_cards) const {
    std::size_t shown = 0;
    std::string cards;
    if (options_.thumbnail) {
      for (; shown < std::min(most_cards, examples.size()); ++shown) cards += card(*examples[shown]);
      cards = R"(<ul class="pairs">)" + cards + "</ul>\n";
    }
    if (shown == examples.size()) return cards;
    ResultsTable table;
    const std::size_t end = std::min(examples.size(), shown + kMostScoreRows);
    table.caption = shown == 0 && end == examples.size()
                        ? fmt::format("All {}", examples.size())
                        : fmt::format("{} to {} of {}", shown + 1, end, examples.size());
    table.columns = {{"example", ColumnKind::kProse},
                     {"label", ColumnKind::kName},
                     {"predicted", ColumnKind::kName},
                     {"probability, %", ColumnKind::kNumber}};
    if (report_.may_reject) table.columns.push_back({"rejected", ColumnKind::kName});
    for (std::size_t i = shown; i < end; ++i) {
      const ScoredExample& example = *examples[i];
      std::vector<TableCell> row{{name_of(example)},
                                 {example.label},
                                 {predicted_name(example)},
                                 {one_decimal(100.0 * static_cast<double>(example.probability))}};
      if (report_.may_reject) row.push_back({example.rejected ? "yes" : "no"});
      table.rows.push_back(std::move(row));
    }
    const std::string rest = html_table(table);
    return shown == 0 ? rest : cards + "<details><summary>The others</summary>" + rest + "</details>\n";
  }

  std::string worst_section() const {
    std::vector<const ScoredExample*> examples;
    for (const std::size_t index : report_.worst) examples.push_back(&report_.scored[index]);
    if (examples.empty()) {
      return html_section("worst", "The most confident mistakes", html_paragraph("There are none: all are right."));
    }
    return html_section(
        "worst", "The most confident mistakes",
        html_paragraph("Wrong predictions, the most probable first. Some of them may be wrong labels: look before you "
                       "blame the model.") +
            examples_list(examples, kMostWorstCards));
  }

  std::string classes_section() const {
    std::vector<const ClassScore*> classes;
    for (const ClassScore& score : report_.classes) classes.push_back(&score);
    // Classes without examples come last.
    std::stable_sort(classes.begin(), classes.end(), [](const ClassScore* a, const ClassScore* b) {
      return a->recall.value_or(1000.0) < b->recall.value_or(1000.0);
    });
    ResultsTable table;
    const std::size_t shown = std::min(classes.size(), kMostScoreRows);
    table.caption = shown == classes.size() ? "All classes, the hardest first"
                                            : fmt::format("The hardest {} of {} classes", shown, classes.size());
    table.columns = {
        {"class", ColumnKind::kName}, {"recall, %"}, {"from"}, {"to"}, {"precision, %"}, {"examples"}, {"predicted"}};
    for (std::size_t i = 0; i < shown; ++i) {
      const ClassScore& score = *classes[i];
      table.rows.push_back({{score.name},
                            {one_decimal(score.recall)},
                            {score.recall ? one_decimal(score.recall_interval.low) : ""},
                            {score.recall ? one_decimal(score.recall_interval.high) : ""},
                            {one_decimal(score.precision)},
                            {std::to_string(score.examples)},
                            {std::to_string(score.predicted)}});
    }
    return html_section(
        "classes", "Which classes are recognised?",
        html_paragraph("Recall is the fraction of the examples of a class that are right, with its 95 % interval. "
                       "Precision is the fraction of the predictions of a class that are right.") +
            html_table(table));
  }

  // Rows in the order of the pairs, which is that of the labels.
  std::string matrix() const {
    std::vector<std::pair<std::string, bool>> rows;  // label, whether the model knows it
    std::map<std::string, std::size_t> totals;
    std::map<std::pair<std::string, std::string>, std::size_t> counts;
    for (const ScoredPair& pair : report_.pairs) {
      if (!totals.contains(pair.label)) rows.emplace_back(pair.label, pair.known);
      totals[pair.label] += pair.count;
      counts[{pair.label, pair.predicted}] = pair.count;
    }
    std::string text =
        R"(<div class="scroll" tabindex="0" role="region" aria-label="Confusion matrix"><table class="matrix" aria-label="Confusion matrix"><thead><tr><th scope="row">label</th>)";
    for (const ClassScore& score : report_.classes) {
      text += fmt::format(R"(<th scope="col" title="{}"><span>{}</span></th>)", escape_xml(score.name),
                          escape_xml(shorten(score.name, kLongestMatrixName)));
    }
    text += "</tr></thead>\n<tbody>";
    for (const auto& [label, known] : rows) {
      text += fmt::format(R"(<tr><th scope="row" title="{}">{}{}</th>)", escape_xml(label),
                          escape_xml(shorten(label, kLongestMatrixName)), known ? "" : " (unknown)");
      for (const ClassScore& score : report_.classes) {
        const auto found = counts.find({label, score.name});
        if (found == counts.end()) {
          text += "<td></td>";
          continue;
        }
        const double fraction = static_cast<double>(found->second) / static_cast<double>(totals[label]);
        text += fmt::format(R"(<td><i{} style="opacity:{:.2f}"></i><b>{}</b></td>)",
                            label == score.name ? R"( class="right")" : "", kStrongestShade * fraction, found->second);
      }
      text += "</tr>\n";
    }
    return text + "</tbody></table></div>\n";
  }

  std::string confused_pairs() const {
    std::vector<const ScoredPair*> pairs;
    for (const ScoredPair& pair : report_.pairs) {
      if (pair.label != pair.predicted) pairs.push_back(&pair);
    }
    if (pairs.empty()) return {};
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const ScoredPair* a, const ScoredPair* b) { return a->count > b->count; });
    ResultsTable table;
    const std::size_t shown = std::min(pairs.size(), kMostMatrixClasses);
    table.caption = shown == pairs.size() ? fmt::format("All {} pairs that were confused", pairs.size())
                                          : fmt::format("The most frequent {} of {} pairs", shown, pairs.size());
    table.columns = {{"label", ColumnKind::kName}, {"predicted", ColumnKind::kName}, {"examples"}};
    for (std::size_t i = 0; i < shown; ++i) {
      table.rows.push_back({{pairs[i]->label + (pairs[i]->known ? "" : " (unknown to the model)")},
                            {pairs[i]->predicted},
                            {std::to_string(pairs[i]->count)}});
    }
    return html_table(table);
  }

  std::string confusion_section() const {
    const bool small = std::max(report_.classes.size(), report_.unknown_labels.size()) <= kMostMatrixClasses;
    std::string body;
    if (small) {
      body += html_paragraph(
                  "A row for each label, a column for each predicted class; the shade is the fraction of the row. "
                  "Right and "
                  "wrong differ by colour.") +
              matrix();
    }
    const std::string pairs = confused_pairs();
    if (small && !pairs.empty()) {
      body += "<details><summary>The most frequent confusions</summary>" + pairs + "</details>\n";
    } else {
      body += pairs;
    }
    return html_section("confusion", "Which classes are confused?", body);
  }

  std::string calibration_section() const {
    const std::array<ReportPlot, 1> plots{reliability_plot(report_)};
    ResultsTable table;
    table.caption = "Examples by confidence";
    table.columns = {{"confidence, %"}, {"accuracy, %"}, {"examples"}};
    for (const CalibrationPoint& point : report_.calibration) {
      table.rows.push_back(
          {{one_decimal(point.confidence)}, {one_decimal(point.accuracy)}, {std::to_string(point.examples)}});
    }
    return html_section(
        "calibration", "Is the confidence calibrated?",
        html_paragraph(
            "Predictions are sorted by their probability. On the dashed line, predictions with a probability of 70 % "
            "are right 70 times in 100; above it the model is underconfident, below it overconfident. Points of few "
            "examples scatter.") +
            html_figures(plots, "calibration-plot") + "<details><summary>The values</summary>" + html_table(table) +
            "</details>\n");
  }

  // Of unknown inputs that were not rejected, the best known first.
  std::string missed() const {
    std::vector<const ScoredExample*> examples;
    for (const ScoredExample& example : report_.scored) {
      if (!example.known && !example.rejected) examples.push_back(&example);
    }
    if (examples.empty()) return {};
    std::stable_sort(examples.begin(), examples.end(), [&](const ScoredExample* a, const ScoredExample* b) {
      return report_.may_reject ? a->unknown_score > b->unknown_score : a->probability > b->probability;
    });
    return html_paragraph("Unknown inputs that were not rejected, those taken for known most surely first:") +
           examples_list(examples, kMostUnknownCards);
  }

  std::string unknown_labels() const {
    if (report_.unknown_labels.empty()) return {};
    ResultsTable table;
    const std::size_t shown = std::min(report_.unknown_labels.size(), kMostScoreRows);
    table.caption = shown == report_.unknown_labels.size() ? "Labels that the model does not know"
                                                           : fmt::format("{} of {} labels that the model does not know",
                                                                         shown, report_.unknown_labels.size());
    table.columns = {{"label", ColumnKind::kName}, {"examples"}};
    if (report_.may_reject) table.columns.push_back({"rejected"});
    for (std::size_t i = 0; i < shown; ++i) {
      const UnknownLabel& label = report_.unknown_labels[i];
      table.rows.push_back({{label.name}, {std::to_string(label.examples)}});
      if (report_.may_reject) table.rows.back().push_back({std::to_string(label.rejected)});
    }
    return html_table(table);
  }

  std::string unknown_section() const {
    std::string body;
    if (const auto plot = rejection_plot(report_)) {
      const std::array<ReportPlot, 1> plots{*plot};
      ResultsTable table;
      table.caption = "By the false-rejection rate that is asked for";
      table.columns = {{"rate, %"}, {"known inputs rejected, %"}, {"right among those not rejected, %"}};
      const bool any_unknown = report_.unknown_inputs != 0;
      if (any_unknown) table.columns.push_back({"unknown inputs caught, %"});
      table.columns.push_back({"expected to be caught, %"});
      for (const RejectionPoint& point : report_.curve) {
        table.rows.push_back({{fmt::format("{:g}", 100.0 * point.false_reject)},
                              {one_decimal(point.rejected)},
                              {one_decimal(point.accuracy)}});
        if (any_unknown) table.rows.back().push_back({one_decimal(point.caught)});
        table.rows.back().push_back({one_decimal(point.expected_caught)});
      }
      body += html_paragraph(
          "The model may reject an input as unknown. The more known inputs it is allowed to lose, the more of the rest "
          "is right and the more unknown inputs are caught.");
      if (!any_unknown) {
        body += html_paragraph(
            "These examples have no label that the model does not know, so the catch rate cannot be measured here; the "
            "expected one is an estimate from the training examples.");
      }
      body += html_figures(plots, "rejection-plot") + html_table(table);
    } else {
      body += html_paragraph("This model cannot reject unknown inputs: every input gets one of its classes.");
    }
    return html_section("unknown", "Unknown inputs", body + unknown_labels() + missed());
  }

  std::string limits_section() const {
    return html_section(
        "limits", "How to read this",
        html_paragraph(
            "Accuracy counts the most probable class of every example, rejected or not. Its interval is Wilson's, of "
            "95 %, for examples that are independent: frames of one film or photos of one animal are not, and the "
            "interval is then too narrow. Chance is a guess among all classes of the model. Photos that differ from "
            "these may be recognised better or worse."));
  }

  const ScoreReport& report_;
  const ScorePageOptions& options_;
};

}  // namespace

std::string score_page(const ScoreReport& report, const ScorePageOptions& options) {
  return html_page("Score on " + report.source, "Annulus score", ScorePage(report, options).body());
}

}  // namespace annulus
