// Sections by kind of finding: cards where there are images, tables otherwise.
#include "annulus/report/html/audit_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "annulus/report/html/html_page.h"
#include "annulus/report/html/html_parts.h"

namespace annulus {
namespace {

constexpr std::size_t kMostCards = 24;       // per kind; with three images each, a few hundred images in all
constexpr std::size_t kMostSmallCards = 6;   // for small images, which are often all of them
constexpr std::size_t kMostTableRows = 200;  // per kind

struct KindWords {
  const char* heading;
  const char* explanation;
};

constexpr std::array<KindWords, kFindingKinds> kWords = {{
    {"Test images that are training images", "Accuracy measured on these is too good. Remove one of each pair."},
    {"Labels that may be wrong",
     "Each example was compared with the others of its class and with all other classes. The most suspicious come "
     "first; the percentage is the probability that the label is wrong if about one label in twenty is. Look before "
     "you change anything: a rare view of the right class looks the same to this check."},
    {"Images that cannot be used", "They are left out of everything. Replace or remove them."},
    {"Exact duplicates", "A copy adds nothing to learn from, and counts twice where accuracy is measured."},
    {"Near duplicates",
     "Nearer to each other than examples of this data usually are: resized or re-encoded copies, frames of one "
     "film, or objects that look the same."},
    {"Outliers", "Far from every other example of any class: perhaps an image of none of the classes."},
    {"Blank images", "Hardly more than one colour."},
    {"Small images", "They are enlarged for the backbone, and are recognised less well than sharper ones."},
    {"Classes without examples", "Nothing can be learnt for them."},
    {"Classes with a single example", "It cannot be checked, and nothing is left for testing."},
    {"Classes that look alike",
     "Classified by the means of the two classes alone, each example left out of its own mean. Perhaps they are one "
     "class, or need photos that show the difference."},
    {"Classes that need more photos most",
     "The fraction of each class's examples that the other examples of the class recognise. With few examples per "
     "class this fraction is rough: one example more or less moves it far."},
}};

class Page {
 public:
  Page(const AuditReport& report, const AuditPageOptions& options) : report_(report), options_(options) {}

  std::string body() const {
    std::string text =
        fmt::format("<article aria-labelledby=\"top\"><h2 id=\"top\">Audit of {}</h2>\n", escape_xml(report_.source));
    text += leak_warning() + answer();
    for (std::size_t kind = 0; kind < kFindingKinds; ++kind) text += section(static_cast<FindingKind>(kind));
    return text + curve_section() + limits_section() + "</article>\n";
  }

 private:
  std::vector<const AuditFinding*> findings_of(FindingKind kind) const {
    std::vector<const AuditFinding*> found;
    for (const AuditFinding& finding : report_.findings) {
      if (finding.kind == kind) found.push_back(&finding);
    }
    return found;
  }

  static std::string id_of(FindingKind kind) { return std::string(to_string(kind)); }

  std::string leak_warning() const {
    const std::size_t count = report_.count(FindingKind::kLeakage);
    if (count == 0) return {};
    return fmt::format(
        "<div class=\"warning\" role=\"note\">⚠ {} of the test examples {} in the training examples too. Accuracy "
        "measured on this split is too high.</div>\n",
        count, count == 1 ? "is" : "are");
  }

  std::string answer() const {
    std::string items;
    for (std::size_t k = 0; k < kFindingKinds; ++k) {
      if (report_.counts[k] == 0) continue;
      const auto kind = static_cast<FindingKind>(k);
      items += fmt::format("<li><a href=\"#{}\">{}</a>: <strong>{}</strong></li>\n", id_of(kind), kWords[k].heading,
                           report_.counts[k]);
    }
    return fmt::format(
               "<nav class=\"answer\" aria-label=\"Findings\"><p class=\"lead\">{} examples of {} classes: {}</p>{}",
               report_.rows, report_.classes,
               items.empty() ? "nothing was found to be wrong" : "what to look at, worst first",
               items.empty() ? "" : "<ul>" + items + "</ul>") +
           "</nav>\n";
  }

  // With its caption below; the alternative text says the same.
  std::string picture(const std::string& path, const std::string& caption) const {
    if (path.empty() || !options_.thumbnail) return {};
    const std::string image = html_picture(options_.thumbnail(path), caption);
    return image.empty() ? image : "<figure>" + image + "<figcaption>" + escape_xml(caption) + "</figcaption></figure>";
  }

  std::string example(const std::string& class_name) const {
    const auto found = report_.examples.find(class_name);
    return found == report_.examples.end() ? "" : picture(found->second, "a typical " + class_name);
  }

  // The images of a finding, in the order in which they are compared.
  std::string pictures(const AuditFinding& finding) const {
    std::string text =
        picture(finding.path, finding.class_name.empty() ? "the image" : "labelled " + finding.class_name);
    std::string others;
    if (!finding.other_path.empty()) {
      others = picture(finding.other_path,
                       finding.other_class.empty() ? "the other image" : "labelled " + finding.other_class);
    } else if (finding.kind == FindingKind::kMislabelled) {
      others = example(finding.class_name) + example(finding.other_class);
    } else if (finding.kind == FindingKind::kAlikeClasses) {
      text = example(finding.class_name);
      others = example(finding.other_class);
    } else if (finding.kind == FindingKind::kHardClass) {
      text = example(finding.class_name);
    }
    if (text.empty() && others.empty()) return {};
    return R"(<div class="pictures captioned">)" + text + others + "</div>";
  }

  std::string card(const AuditFinding& finding) const {
    std::string text = "<li>" + pictures(finding);
    if (finding.kind == FindingKind::kMislabelled) {
      text += fmt::format("labelled <strong>{}</strong>, looks like <strong>{}</strong><br>",
                          escape_xml(finding.class_name), escape_xml(finding.other_class));
      text +=
          fmt::format("<span class=\"note\">{:.0f} % sure: {}</span>", 100.0 * finding.score, escape_xml(finding.path));
    } else {
      text += escape_xml(finding.text);
    }
    return text + "</li>\n";
  }

  static std::string table(const std::vector<const AuditFinding*>& findings, std::size_t first, FindingKind kind) {
    if (findings.size() <= first) return {};
    ResultsTable table;
    const std::size_t end = std::min(findings.size(), first + kMostTableRows);
    table.caption = first == 0 && end == findings.size()
                        ? fmt::format("All {}", findings.size())
                        : fmt::format("{} to {} of {}", first + 1, end, findings.size());
    const bool labels = kind == FindingKind::kMislabelled;
    table.columns = {{"rank", ColumnKind::kNumber}};
    if (labels) {
      table.columns.push_back({"example", ColumnKind::kProse});
      table.columns.push_back({"label", ColumnKind::kName});
      table.columns.push_back({"looks like", ColumnKind::kName});
      table.columns.push_back({"probability, %", ColumnKind::kNumber});
    } else {
      table.columns.push_back({"finding", ColumnKind::kProse});
    }
    for (std::size_t i = first; i < end; ++i) {
      const AuditFinding& finding = *findings[i];
      if (labels) {
        const std::string what = !finding.path.empty() ? finding.path : fmt::format("row {}", finding.row.value_or(0));
        table.rows.push_back({{std::to_string(finding.rank)},
                              {what},
                              {finding.class_name},
                              {finding.other_class},
                              {fmt::format("{:.0f}", 100.0 * finding.score)}});
      } else {
        table.rows.push_back({{std::to_string(finding.rank)}, {finding.text}});
      }
    }
    return html_table(table);
  }

  std::string section(FindingKind kind) const {
    const auto findings = findings_of(kind);
    if (findings.empty()) return {};
    const KindWords& words = kWords[static_cast<std::size_t>(kind)];
    std::string body = html_paragraph(words.explanation);
    if (kind == FindingKind::kMislabelled && report_.planted != 0) {
      body += html_paragraph(fmt::format(
          "How good the check is on this data: of {} labels that were changed as a trial, {:.0f} % came first "
          "in the ranking. {} of the {} labels below are more likely wrong than right.",
          report_.planted, report_.planted_recall, report_.count(kind), findings.size()));
    }
    std::size_t shown = 0;
    if (report_.images && kind != FindingKind::kCorrupt && kind != FindingKind::kEmptyClass) {
      std::string cards;
      const std::size_t most = kind == FindingKind::kTiny ? kMostSmallCards : kMostCards;
      for (; shown < std::min(most, findings.size()); ++shown) cards += card(*findings[shown]);
      body += R"(<ul class="pairs">)" + cards + "</ul>\n";
    }
    const std::string rest = table(findings, shown, kind);
    body += shown != 0 && !rest.empty() ? "<details><summary>The others</summary>" + rest + "</details>\n" : rest;
    return html_section(id_of(kind), words.heading, body);
  }

  std::string curve_section() const {
    const LearningCurve& curve = report_.curve;
    if (curve.measured.empty()) return {};
    ReportPlot plot;
    plot.name = "learning-curve";
    CurvePlot chart;
    chart.labels = {"Accuracy by examples per class", "The values are in the table below.", "examples per class",
                    "accuracy, %"};
    chart.y_percent = true;
    CurveSeries measured{"measured", 0, {}};
    CurveSeries predicted{"predicted", 1, {}};
    ResultsTable table;
    table.caption = "Accuracy by examples per class, with the ends of 95 % intervals";
    table.columns = {{"examples per class", ColumnKind::kNumber},
                     {"accuracy, %", ColumnKind::kNumber},
                     {"from", ColumnKind::kNumber},
                     {"to", ColumnKind::kNumber},
                     {"", ColumnKind::kName}};
    const auto add = [&](const ShotAccuracy& point, bool is_measured) {
      (is_measured ? measured : predicted)
          .points.push_back({static_cast<double>(point.shots), point.accuracy,
                             fmt::format("{} examples per class: {:.1f} % ({:.1f} to {:.1f} %)", point.shots,
                                         point.accuracy, point.low, point.high)});
      table.rows.push_back({{std::to_string(point.shots)},
                            {fmt::format("{:.1f}", point.accuracy)},
                            {fmt::format("{:.1f}", point.low)},
                            {fmt::format("{:.1f}", point.high)},
                            {is_measured ? "measured" : "predicted"}});
    };
    for (const ShotAccuracy& point : curve.measured) add(point, true);
    for (const ShotAccuracy& point : curve.predicted) add(point, false);
    chart.series = {std::move(measured)};
    if (!curve.predicted.empty()) chart.series.push_back(std::move(predicted));
    plot.plot = std::move(chart);
    const std::array<ReportPlot, 1> plots{std::move(plot)};
    return html_section(
        "learning-curve", "The effect of more photos",
        html_paragraph(
            "The nearest prototype, trained on a few random examples of each class and tested on the others. The model "
            "of fit may be better: the shape of the curve is what matters here. Predictions extrapolate a curve fitted "
            "to the measured points. Their intervals come from other splits and other classes of this data, and cannot "
            "know whether new photos will be like the present ones.") +
            html_figures(plots, "curve") + html_table(table));
  }

  std::string limits_section() const {
    const std::string few = small_set_note(report_);
    return html_section(
        "limits", "Limits of this audit",
        (few.empty() ? "" : html_paragraph("Here: " + few + ".")) +
            html_paragraph(
                "Errors that the backbone cannot see, classes whose labels were exchanged as a whole, errors in most "
                "examples of a class, and anything about a class with a single example. A finding is a reason to look, "
                "not a verdict."));
  }

  const AuditReport& report_;
  const AuditPageOptions& options_;
};

}  // namespace

std::string audit_page(const AuditReport& report, const AuditPageOptions& options) {
  return html_page("Audit of " + report.source, "Annulus audit", Page(report, options).body());
}

}  // namespace annulus
