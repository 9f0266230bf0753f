// Runs every check and describes what it finds in sentences.
#include "annulus/eval/audit/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/eval/audit/class_audit.h"
#include "annulus/eval/audit/duplicates.h"
#include "annulus/eval/audit/label_audit.h"
#include "annulus/eval/audit/neighbours.h"
#include "annulus/kernels/row_range.h"
#include "annulus/learn/model/prepared_head.h"

namespace annulus {
namespace {

constexpr std::size_t kNeighbours = 8;
constexpr std::size_t kMostAlike = 50;
constexpr double kHardRecall = 0.5;
constexpr double kFlatContrast = 3.0;  // of 255
constexpr double kSureEnough = 0.5;

constexpr std::array<std::string_view, kFindingKinds> kKindNames = {
    "leakage", "mislabelled", "corrupt",     "duplicate",      "near-duplicate", "outlier",
    "flat",    "tiny",        "empty-class", "single-example", "alike-classes",  "hard-class"};

// Square roots if no value is negative, unit length, centring, unit length: the preprocessing that the weights of the
// scores were chosen with.
Matrix<float> comparable_rows(const FeatureSet& set) {
  Matrix<float> rows(set.rows(), set.dimension());
  set.copy_rows(0, rows.view());
  for (std::size_t i = 0; i < rows.rows(); ++i) bring_into_range(rows.row(i));
  const std::span<float> values(rows.data(), rows.rows() * rows.cols());
  if (std::none_of(values.begin(), values.end(), [](float value) { return value < 0.0F; })) {
    transform_rows({0.5F, {}, {}}, rows.view());
  }
  prepare_rows(learn_transform(std::as_const(rows).view(), TransformKind::kCentre), rows.view());
  return rows;
}

// Which examples are not compared: those of a group, unless one is a training and the other a test example, which is a
// leak. Empty where there are no groups.
std::vector<std::int32_t> groups_to_leave_out(const FeatureSet& set) {
  std::vector<std::int32_t> groups;
  std::map<std::pair<std::int32_t, bool>, std::int32_t> number;
  for (std::size_t i = 0; i < set.groups().size(); ++i) {
    const bool trains = set.is_train().empty() || set.is_train()[i] != 0;
    const auto next = static_cast<std::int32_t>(number.size());
    groups.push_back(number.try_emplace({set.groups()[i], trains}, next).first->second);
  }
  return groups;
}

// Builds the findings of one set.
class Auditor {
 public:
  Auditor(const FeatureSet& set, const AuditOptions& options, AuditReport& report)
      : set_(set), options_(options), report_(report) {}

  std::string class_of(std::uint32_t row) const {
    return set_.class_names()[static_cast<std::size_t>(set_.labels()[row])];
  }
  std::string name_of(std::int32_t label) const { return set_.class_names()[static_cast<std::size_t>(label)]; }
  std::string path_of(std::uint32_t row) const { return set_.paths().empty() ? std::string() : set_.paths()[row]; }
  // The name of an example in a sentence.
  std::string words_for(std::uint32_t row) const {
    return set_.paths().empty() ? fmt::format("row {}", row) : set_.paths()[row];
  }
  bool is_train(std::uint32_t row) const { return set_.is_train().empty() || set_.is_train()[row] != 0; }

  AuditFinding of_row(FindingKind kind, std::uint32_t row, double score, std::string text) const {
    AuditFinding finding{kind};
    finding.row = row;
    finding.path = path_of(row);
    finding.class_name = class_of(row);
    finding.score = score;
    finding.text = std::move(text);
    return finding;
  }

  void add(AuditFinding finding, bool counted = true) {
    const auto kind = static_cast<std::size_t>(finding.kind);
    finding.rank = ++ranks_[kind];
    if (counted) ++report_.counts[kind];
    report_.findings.push_back(std::move(finding));
  }

  void add_pair(const DuplicatePair& pair) {
    const bool leak = is_train(pair.first) != is_train(pair.second);
    // Of a leak, the test example is the one to remove.
    const bool swap = leak && is_train(pair.first);
    const std::uint32_t row = swap ? pair.second : pair.first;
    const std::uint32_t other = swap ? pair.first : pair.second;
    if (leak && !leaks_.insert(row).second) return;  // already reported with its most similar training example
    const bool crosses = set_.labels()[row] != set_.labels()[other];
    const char* likeness = pair.exact ? "the same as" : "nearly the same as";
    std::string text = leak ? fmt::format("{} is a test example and {} the training example {}", words_for(row),
                                          likeness, words_for(other))
                            : fmt::format("{} is {} {}", words_for(row), likeness, words_for(other));
    if (crosses) {
      text += fmt::format("; one is labelled {}, the other {}", class_of(row), class_of(other));
    }
    const FindingKind kind = leak         ? FindingKind::kLeakage
                             : pair.exact ? FindingKind::kDuplicate
                                          : FindingKind::kNearDuplicate;
    AuditFinding finding = of_row(kind, row, pair.cosine, std::move(text));
    finding.other_row = other;
    finding.other_path = path_of(other);
    finding.other_class = class_of(other);
    add(std::move(finding));
  }

  void add_suspects(const LabelAudit& labels) {
    const auto listed =
        static_cast<std::size_t>(std::ceil(options_.suspect_fraction * static_cast<double>(set_.rows())));
    for (std::size_t i = 0; i < std::min(listed, labels.ranked.size()); ++i) {
      const LabelSuspect& suspect = labels.ranked[i];
      AuditFinding finding =
          of_row(FindingKind::kMislabelled, suspect.row, suspect.probability,
                 fmt::format("{} is labelled {} and looks more like {}: wrong with a probability of about {:.0f} %",
                             words_for(suspect.row), class_of(suspect.row), name_of(suspect.suggested),
                             100.0 * suspect.probability));
      finding.other_class = name_of(suspect.suggested);
      add(std::move(finding), suspect.probability >= kSureEnough);
    }
  }

  void add_image_findings() {
    for (const ImageFacts& image : options_.corrupt) {
      AuditFinding finding{FindingKind::kCorrupt};
      finding.path = image.path;
      finding.text = image.error;
      add(std::move(finding));
    }
    for (std::uint32_t row = 0; row < options_.images.size(); ++row) {
      const ImageFacts& image = options_.images[row];
      const std::size_t shorter = std::min(image.width, image.height);
      if (image.contrast < kFlatContrast) {
        add(of_row(FindingKind::kFlat, row, image.contrast,
                   fmt::format("{} shows hardly more than one colour", words_for(row))));
      }
      if (shorter < options_.smallest_side) {
        add(of_row(FindingKind::kTiny, row, static_cast<double>(shorter),
                   fmt::format("{} has {} x {} pixels and is enlarged to the {} of the backbone", words_for(row),
                               image.width, image.height, options_.smallest_side)));
      }
    }
  }

  void add_class(FindingKind kind, const std::string& name, double score, std::string text) {
    AuditFinding finding{kind};
    finding.class_name = name;
    finding.score = score;
    finding.text = std::move(text);
    add(std::move(finding));
  }

  void add_class_findings(ConstMatrixView<float> rows, const LabelScores& scores) {
    for (const std::string& name : options_.empty_classes) {
      add_class(FindingKind::kEmptyClass, name, 0.0, fmt::format("class {} has no images", name));
    }
    for (std::size_t c = 0; c < scores.class_rows.size(); ++c) {
      const std::string& name = set_.class_names()[c];
      if (scores.class_rows[c] == 0) {
        add_class(FindingKind::kEmptyClass, name, 0.0, fmt::format("class {} has no examples", name));
      }
    }
    std::set<std::size_t> said;
    for (std::uint32_t row = 0; row < set_.rows(); ++row) {
      if (scores.alone[row] == 0) continue;
      const auto label = static_cast<std::size_t>(set_.labels()[row]);
      if (!said.insert(label).second) continue;
      const char* const few = scores.class_rows[label] == 1 ? "a single example" : "examples of a single group";
      add(of_row(
          FindingKind::kSingleExample, row, 0.0,
          fmt::format("class {} has {}, {}, so that nothing can be checked", class_of(row), few, words_for(row))));
    }
    for (const AlikeClasses& pair : find_alike_classes(rows, set_.labels(), scores, kMostAlike)) {
      AuditFinding finding{FindingKind::kAlikeClasses};
      finding.class_name = name_of(pair.first);
      finding.other_class = name_of(pair.second);
      finding.score = static_cast<double>(pair.mistaken) / static_cast<double>(pair.rows);
      finding.text = fmt::format("{} and {}: {} of {} examples are nearer to the other class", finding.class_name,
                                 finding.other_class, pair.mistaken, pair.rows);
      add(std::move(finding));
    }
    for (const ClassRecall& recall : recall_of_classes(set_.labels(), scores)) {
      const double fraction = static_cast<double>(recall.recognised) / static_cast<double>(recall.rows);
      if (fraction >= kHardRecall) break;
      add_class(FindingKind::kHardClass, name_of(recall.label), fraction,
                fmt::format("class {}: {} of its {} examples are recognised by the others", name_of(recall.label),
                            recall.recognised, recall.rows));
    }
  }

  // The most typical example of each class.
  void choose_examples(const LabelScores& scores) {
    if (set_.paths().empty()) return;
    std::vector<std::int64_t> best(scores.class_rows.size(), -1);
    for (std::size_t i = 0; i < set_.rows(); ++i) {
      std::int64_t& chosen = best[static_cast<std::size_t>(set_.labels()[i])];
      if (chosen < 0 || scores.own[i] > scores.own[static_cast<std::size_t>(chosen)]) {
        chosen = static_cast<std::int64_t>(i);
      }
    }
    for (std::size_t c = 0; c < best.size(); ++c) {
      if (best[c] >= 0) report_.examples[set_.class_names()[c]] = set_.paths()[static_cast<std::size_t>(best[c])];
    }
  }

  LearningCurve curve(ConstMatrixView<float> rows, const ProgressCallback& progress) const {
    std::vector<std::uint32_t> training;
    for (std::uint32_t i = 0; i < set_.rows(); ++i) {
      if (is_train(i)) training.push_back(i);
    }
    if (training.size() == set_.rows()) {
      return learning_curve(rows, set_.labels(), set_.classes(), options_.seed, options_.threads, progress,
                            set_.groups());
    }
    Matrix<float> some(training.size(), rows.cols());
    for (std::size_t i = 0; i < training.size(); ++i) {
      std::copy(rows.row(training[i]).begin(), rows.row(training[i]).end(), some.row(i).begin());
    }
    return learning_curve(std::as_const(some).view(), set_.labels_of(training), set_.classes(), options_.seed,
                          options_.threads, progress, groups_of(set_, training));
  }

 private:
  const FeatureSet& set_;
  const AuditOptions& options_;
  AuditReport& report_;
  std::array<std::size_t, kFindingKinds> ranks_{};
  std::set<std::uint32_t> leaks_;
};

void check_set(const FeatureSet& set, const AuditOptions& options) {
  if (!set.labelled()) {
    fail(ErrorKind::kInput, "{}: an audit needs labelled examples, found {} without labels", set.source(), set.rows());
  }
  if (set.rows() < 2) {
    fail(ErrorKind::kInput, "{}: an audit compares examples with each other, found {}", set.source(), set.rows());
  }
  constexpr std::size_t kMostClasses = 50'000;  // 10 GB: every class is compared with every other
  if (set.classes() > kMostClasses) {
    fail(ErrorKind::kInput, "{}: expected at most {} classes, each of which is compared with all others, found {}",
         set.source(), kMostClasses, set.classes());
  }
  if (!(options.suspect_fraction >= 0.0 && options.suspect_fraction <= 1.0)) {
    fail(ErrorKind::kUsage, "expected a fraction of suspects from 0 to 1, found {}", options.suspect_fraction);
  }
}

}  // namespace

std::string small_set_note(const AuditReport& report) {
  if (report.near_distance > 0.0) return {};
  return report.rows < kFewestExamplesToCompare
             ? fmt::format(
                   "fewer than {} examples: near copies are detected by the look of images alone, and no example is "
                   "called "
                   "an outlier",
                   kFewestExamplesToCompare)
             : fmt::format("fewer than {} distinct examples: near copies are detected by the look of images alone",
                           kFewestExamplesToCompare);
}

std::string_view to_string(FindingKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

FindingKind finding_kind_from(std::string_view name) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<FindingKind>(i);
  }
  fail(ErrorKind::kUsage, "expected a kind of finding ({}), found \"{}\"", fmt::join(kKindNames, ", "), name);
}

AuditReport audit(const FeatureSet& set, const AuditOptions& options, const ProgressCallback& progress) {
  check_set(set, options);
  AuditReport report;
  report.source = set.source();
  report.rows = set.rows();
  report.classes = set.classes();
  report.dimension = set.dimension();
  report.images = !options.images.empty();
  report.counts.assign(kFindingKinds, 0);
  Auditor auditor(set, options, report);

  annulus::report(progress, {"prepare features", 0, 0, {}});
  const Matrix<float> rows = comparable_rows(set);
  const std::vector<std::int32_t> groups = groups_to_leave_out(set);
  const Neighbours neighbours = nearest_rows(rows.view(), kNeighbours, options.threads, progress, groups);
  const DuplicateAudit duplicates =
      find_duplicates(rows.view(), neighbours, options.images, set.is_train(), options.threads, groups);
  report.typical_distance = duplicates.typical_distance;
  report.near_distance = duplicates.near_distance;
  annulus::report(progress, {"check labels", 0, 0, {}});
  const LabelScores scores = score_labels(rows.view(), set.labels(), set.classes(), options.threads, set.groups());
  const LabelAudit labels =
      audit_labels(rows.view(), set.labels(), scores, options.seed, options.threads, progress, set.groups());
  report.planted = labels.planted;
  report.planted_recall = 100.0 * labels.planted_recall;
  std::size_t recognised = 0, judged = 0;
  for (std::size_t i = 0; i < set.rows(); ++i) {
    if (scores.alone[i] != 0) continue;
    ++judged;
    if (scores.recognised(i)) ++recognised;
  }
  report.recognised = judged == 0 ? 0.0 : 100.0 * static_cast<double>(recognised) / static_cast<double>(judged);

  for (const DuplicatePair& pair : duplicates.pairs) auditor.add_pair(pair);
  auditor.add_suspects(labels);
  for (const Outlier& outlier : find_outliers(neighbours)) {
    auditor.add(
        auditor.of_row(FindingKind::kOutlier, outlier.row, outlier.deviation,
                       fmt::format("{}, labelled {}, is far from every other example: {:.1f} standard deviations",
                                   auditor.words_for(outlier.row), auditor.class_of(outlier.row), outlier.deviation)));
  }
  auditor.add_image_findings();
  auditor.add_class_findings(rows.view(), scores);
  auditor.choose_examples(scores);
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const AuditFinding& a, const AuditFinding& b) { return a.kind < b.kind; });
  report.curve = auditor.curve(rows.view(), progress);
  return report;
}

}  // namespace annulus
