// The project's data as a whole: a map of all photos, confused classes, and what may be wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/audit/audit.h"
#include "annulus/eval/audit/class_map.h"
#include "studio_engine/project/confirmed_findings.h"
#include "studio_engine/project/project_state.h"
#include "studio_engine/training_snapshot.h"

namespace annulus::studio {

// The photos of one moment in a plane: there long before the findings.
struct PhotoMap {
  std::string content;  // TrainingSnapshot::content
  std::vector<std::string> class_names;
  std::vector<std::size_t> class_photos;  // number of photos of each class
  std::vector<std::string> photos;        // id of each example
  std::vector<std::int32_t> labels;       // of each example
  ClassMap map;
  std::uint64_t number = 0;  // of the maps since the start
};

// Photos to look at beside one: the most like it in its own class, and in the class that it may belong to.
struct Comparison {
  std::optional<std::uint32_t> own;
  std::optional<std::uint32_t> other;
};

struct Findings {
  std::shared_ptr<const PhotoMap> photos;  // what the rows of the findings and of confused classes are
  std::vector<ConfusedClasses> confused;
  AuditReport audit;
  std::map<std::uint32_t, Comparison> comparisons;  // of rows that may be mislabelled or are outliers
  std::uint64_t number = 0;                         // of the findings since the start
};

// Findings that are sure enough to act on, at most `most`. Those of photos that were moved or removed since are left
// out, and so are those that a person called right, confused classes, which have a list of their own, and classes with
// a single photo, which is no fault.
std::vector<AuditFinding> actionable_findings(const Findings& findings, const ProjectState& state,
                                              const ConfirmedFindings& confirmed, std::size_t most);
// The finding as it is kept when a person calls it right.
ConfirmedFinding confirmed_form(const AuditFinding& finding, const PhotoMap& photos);

// One mutex guards the latest results and whether new ones are wanted; the analysis runs without it. One thread, the
// worker, calls run(); all others may be called from any thread.
class Analysis {
 public:
  explicit Analysis(int threads) : threads_(threads) {}

  // The latest, perhaps of an earlier state; null: none yet.
  std::shared_ptr<const PhotoMap> map() const;
  std::shared_ptr<const Findings> findings() const;

  // From now on, findings are wanted of every state of the project.
  void request();
  // Whether findings are wanted and the latest are not of `content`.
  bool due(const std::string& content) const;

  // Calls `map_drawn` when map() is there, and returns when findings() are. Throws Error{kCancelled} when `progress`
  // returns false.
  void run(TrainingSnapshot snapshot, const std::function<void()>& map_drawn, const ProgressCallback& progress);

 private:
  const int threads_;
  mutable std::mutex mutex_;  // guards all below
  std::shared_ptr<const PhotoMap> map_;
  std::shared_ptr<const Findings> findings_;
  bool requested_ = false;
};

}  // namespace annulus::studio
