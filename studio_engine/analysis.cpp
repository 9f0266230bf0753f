// Draws the map of photos, then audits their labels.
#include "studio_engine/analysis.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "annulus/eval/audit/label_audit.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus::studio {
namespace {

constexpr std::size_t kMostPairs = 200;
constexpr std::size_t kPairPhotos = 4;
constexpr std::size_t kMostCompared = 1000;

// Whether all photos that a finding names are still in their classes: what was moved or removed since needs no fix.
bool still_true(const AuditFinding& finding, const PhotoMap& photos, const ProjectState& state) {
  for (const auto& row : {finding.row, finding.other_row}) {
    if (!row) continue;
    const auto photo = state.photos().find(photos.photos.at(*row));
    const auto label = static_cast<std::size_t>(photos.labels.at(*row));
    if (photo == state.photos().end() || photo->second.class_name != photos.class_names[label]) return false;
  }
  return true;
}

std::shared_ptr<PhotoMap> draw_map(const TrainingSnapshot& snapshot, const Matrix<float>& directions) {
  auto result = std::make_shared<PhotoMap>();
  const LabelledExamples& data = snapshot.data.rows;
  result->content = snapshot.content;
  result->class_names = snapshot.data.class_names;
  result->photos = snapshot.photos;
  result->labels = data.labels;
  result->class_photos = class_counts(data.labels, data.classes);
  result->map = class_map(directions.view(), data.labels, data.classes);
  return result;
}

std::shared_ptr<Findings> find_faults(TrainingSnapshot snapshot, const Matrix<float>& directions, int threads,
                                      const ProgressCallback& progress) {
  auto result = std::make_shared<Findings>();
  LabelledExamples& data = snapshot.data.rows;
  const LabelScores scores = score_labels(directions.view(), data.labels, data.classes, threads);
  result->confused = confused_pairs(data.labels, scores, kMostPairs, kPairPhotos);
  FeatureSetParts parts = parts_of(std::move(data.features));
  parts.labels = std::move(data.labels);
  parts.class_names = std::move(snapshot.data.class_names);
  parts.paths = std::move(snapshot.data.paths);
  parts.source = "the project";
  AuditOptions options;
  options.threads = threads;
  result->audit = audit(FeatureSet(std::move(parts)), options, progress);
  return result;
}

// The row of class `label` most like `row`, other than itself; none when the class has no other.
std::optional<std::uint32_t> nearest_of(std::int32_t label, std::uint32_t row, const PhotoMap& photos,
                                        const Matrix<float>& directions) {
  std::optional<std::uint32_t> best;
  float closest = 0.0F;
  const std::span<const float> from = directions.row(row);
  for (std::uint32_t i = 0; i < photos.labels.size(); ++i) {
    if (i == row || photos.labels[i] != label) continue;
    const std::span<const float> to = directions.row(i);
    const float cosine = std::inner_product(from.begin(), from.end(), to.begin(), 0.0F);
    if (best && cosine <= closest) continue;
    best = i;
    closest = cosine;
  }
  return best;
}

// Of as many findings as a page shows: the work grows with their number times that of the photos of a class.
std::map<std::uint32_t, Comparison> compare(const AuditReport& audit, const PhotoMap& photos,
                                            const Matrix<float>& directions) {
  std::map<std::uint32_t, Comparison> result;
  for (const AuditFinding& finding : audit.findings) {
    const bool mislabelled = finding.kind == FindingKind::kMislabelled;
    if (!mislabelled && finding.kind != FindingKind::kOutlier) continue;
    if (!finding.row || finding.rank > audit.count(finding.kind) || result.size() >= kMostCompared) continue;
    Comparison& comparison = result[*finding.row];
    comparison.own = nearest_of(photos.labels.at(*finding.row), *finding.row, photos, directions);
    if (!mislabelled) continue;
    const auto other = std::find(photos.class_names.begin(), photos.class_names.end(), finding.other_class);
    if (other == photos.class_names.end()) continue;
    comparison.other =
        nearest_of(static_cast<std::int32_t>(other - photos.class_names.begin()), *finding.row, photos, directions);
  }
  return result;
}

}  // namespace

ConfirmedFinding confirmed_form(const AuditFinding& finding, const PhotoMap& photos) {
  const bool pair = finding.kind == FindingKind::kDuplicate || finding.kind == FindingKind::kNearDuplicate;
  return {std::string(to_string(finding.kind)), finding.row ? photos.photos.at(*finding.row) : std::string(),
          finding.class_name, pair && finding.other_row ? photos.photos.at(*finding.other_row) : std::string()};
}

std::vector<AuditFinding> actionable_findings(const Findings& findings, const ProjectState& state,
                                              const ConfirmedFindings& confirmed, std::size_t most) {
  std::vector<AuditFinding> result;
  for (const AuditFinding& finding : findings.audit.findings) {
    if (result.size() >= most) break;
    const bool sure = finding.rank <= findings.audit.count(finding.kind);
    const bool elsewhere = finding.kind == FindingKind::kSingleExample || finding.kind == FindingKind::kHardClass ||
                           finding.kind == FindingKind::kAlikeClasses;
    if (!sure || elsewhere || !still_true(finding, *findings.photos, state)) continue;
    if (!confirmed.contains(confirmed_form(finding, *findings.photos))) result.push_back(finding);
  }
  return result;
}

std::shared_ptr<const PhotoMap> Analysis::map() const {
  const std::lock_guard lock(mutex_);
  return map_;
}

std::shared_ptr<const Findings> Analysis::findings() const {
  const std::lock_guard lock(mutex_);
  return findings_;
}

void Analysis::request() {
  const std::lock_guard lock(mutex_);
  requested_ = true;
}

bool Analysis::due(const std::string& content) const {
  const std::lock_guard lock(mutex_);
  return requested_ && (!findings_ || findings_->photos->content != content);
}

void Analysis::run(TrainingSnapshot snapshot, const std::function<void()>& map_drawn,
                   const ProgressCallback& progress) {
  const Matrix<float> directions = unit_rows<float>(snapshot.data.rows.features.view());
  auto map = draw_map(snapshot, directions);
  {
    const std::lock_guard lock(mutex_);
    map->number = map_ ? map_->number + 1 : 1;
    map_ = map;
  }
  map_drawn();
  auto findings = find_faults(std::move(snapshot), directions, threads_, progress);
  findings->comparisons = compare(findings->audit, *map, directions);
  findings->photos = std::move(map);
  const std::lock_guard lock(mutex_);
  findings->number = findings_ ? findings_->number + 1 : 1;
  findings_ = std::move(findings);
}

}  // namespace annulus::studio
