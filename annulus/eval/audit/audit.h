// Audits a labelled set: examples that are mislabelled, duplicated or outliers, and what to collect next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/audit/image_facts.h"
#include "annulus/eval/audit/learning_curve.h"
#include "annulus/task/feature_set.h"

namespace annulus {

// In the order of severity.
enum class FindingKind : std::uint8_t {
  kLeakage,        // a test example that is (nearly) a training example
  kMislabelled,    // the label is probably wrong
  kCorrupt,        // an image that cannot be used
  kDuplicate,      // an exact copy of another example
  kNearDuplicate,  // a near copy of another example
  kOutlier,        // far from every other example
  kFlat,           // an image of hardly more than one colour
  kTiny,           // an image smaller than the input of the backbone
  kEmptyClass,     // a class without examples
  kSingleExample,  // a class with one example, which cannot be checked
  kAlikeClasses,   // two classes that can hardly be separated
  kHardClass,      // a class that needs more examples
};
inline constexpr std::size_t kFindingKinds = 12;

std::string_view to_string(FindingKind kind);
FindingKind finding_kind_from(std::string_view name);  // throws Error{kUsage} listing the names

struct AuditFinding {
  FindingKind kind = FindingKind::kMislabelled;
  std::size_t rank = 0;  // within its kind, from 1
  std::optional<std::uint32_t> row{};
  std::string path{};
  std::string class_name{};
  std::optional<std::uint32_t> other_row{};
  std::string other_path{};
  std::string other_class{};  // the suggested class, the class of the other example, or the other of two classes
  double score = 0.0;         // its meaning depends on the kind: see docs/how-to/audit.md
  std::string text{};         // a sentence
};

struct AuditOptions {
  double suspect_fraction = 0.05;            // of all examples, listed as mislabelled, most suspicious first
  std::uint64_t seed = 0;                    // of planted errors and splits
  int threads = 0;                           // 0: all processors
  std::size_t smallest_side = 0;             // input size of the backbone in pixels; 0: unknown
  std::vector<ImageFacts> images{};          // of image data: one per example, in the order of the set
  std::vector<ImageFacts> corrupt{};         // images that are not in the set because they cannot be read
  std::vector<std::string> empty_classes{};  // classes that are not in the set because they have no images
};

struct AuditReport {
  std::string source;
  std::size_t rows = 0;
  std::size_t classes = 0;
  std::size_t dimension = 0;
  bool images = false;
  std::vector<AuditFinding> findings;  // by kind, then by rank
  // Findings that are certain enough to act on: suspects whose label is more likely wrong than right; of other kinds,
  // all.
  std::vector<std::size_t> counts;  // per kind
  double planted_recall = 0.0;      // percent of planted label errors that were found among as many suspects
  std::size_t planted = 0;
  double recognised = 0.0;        // percent of examples that the other examples of their class recognise
  double typical_distance = 0.0;  // see DuplicateAudit
  double near_distance = 0.0;
  LearningCurve curve;  // on training examples
  std::map<std::string, std::string>
      examples;  // class: path of a typical example; empty where the features have no paths

  std::size_t count(FindingKind kind) const { return counts[static_cast<std::size_t>(kind)]; }
};

// Throws Error{kInput} without labels or with fewer than two examples, and Error{kCancelled} when progress asks to
// stop. Memory: a copy of the features as float and blocks of products. The result is the same for any number of
// threads.
AuditReport audit(const FeatureSet& set, const AuditOptions& options, const ProgressCallback& progress = {});

// A sentence about the checks that are skipped for a small set; empty when none is.
std::string small_set_note(const AuditReport& report);

}  // namespace annulus
