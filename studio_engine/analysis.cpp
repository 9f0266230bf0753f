// Draws the map of photos, then audits their labels.
#include "studio_engine/analysis.h"

#include <utility>

#include "annulus/eval/audit/label_audit.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus::studio {
namespace {

constexpr std::size_t kMostPairs = 200;
constexpr std::size_t kPairPhotos = 4;

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

}  // namespace

std::vector<AuditFinding> actionable_findings(const Findings& findings, const ProjectState& state, std::size_t most) {
  std::vector<AuditFinding> result;
  for (const AuditFinding& finding : findings.audit.findings) {
    if (result.size() >= most) break;
    const bool sure = finding.rank <= findings.audit.count(finding.kind);
    const bool elsewhere = finding.kind == FindingKind::kSingleExample || finding.kind == FindingKind::kHardClass ||
                           finding.kind == FindingKind::kAlikeClasses;
    if (sure && !elsewhere && still_true(finding, *findings.photos, state)) result.push_back(finding);
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
  findings->photos = std::move(map);
  const std::lock_guard lock(mutex_);
  findings->number = findings_ ? findings_->number + 1 : 1;
  findings_ = std::move(findings);
}

}  // namespace annulus::studio
