// An audit of a labelled set: which of its rows are wrong, double or odd, and what to collect next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/image_facts.h"
#include "annulus/eval/learning_curve.h"
#include "annulus/task/feature_set.h"

namespace annulus {

// In the order of severity.
enum class FindingKind : std::uint8_t {
  kLeakage,        // a test row that is (nearly) a training row
  kMislabelled,    // the label is probably wrong
  kCorrupt,        // an image that cannot be used
  kDuplicate,      // the same twice
  kNearDuplicate,  // nearly the same twice
  kOutlier,        // far from every other row
  kFlat,           // an image of hardly more than one colour
  kTiny,           // an image smaller than what the backbone looks at
  kEmptyClass,     // a class without rows
  kSingleRow,      // a class with one row, about which nothing can be checked
  kAlikeClasses,   // two classes that can hardly be told apart
  kHardClass,      // a class that needs more rows
};
inline constexpr std::size_t kFindingKinds = 12;

std::string_view to_string(FindingKind kind);
FindingKind finding_kind_from(std::string_view name);  // throws Error{kUsage} listing the names

struct AuditFinding {
  FindingKind kind = FindingKind::kMislabelled;
  std::size_t rank = 0;  // among its kind, from 1
  std::optional<std::uint32_t> row{};
  std::string path{};
  std::string class_name{};
  std::optional<std::uint32_t> other_row{};
  std::string other_path{};
  std::string other_class{};  // suggested, or of the other row, or the other of two classes
  double score = 0.0;         // see docs/audit.md for what it is of each kind
  std::string text{};         // a sentence
};

struct AuditOptions {
  double suspect_share = 0.05;               // of all rows that are listed as mislabelled, most suspicious first
  std::uint64_t seed = 0;                    // of planted errors and draws
  int threads = 0;                           // 0: all processors
  std::size_t smallest_side = 0;             // pixels that the backbone looks at; 0: unknown
  std::vector<ImageFacts> images{};          // of image data, one a row of the set, in its order
  std::vector<ImageFacts> corrupt{};         // images that are no row
  std::vector<std::string> empty_classes{};  // classes that are not in the set for lack of images
};

struct AuditReport {
  std::string source;
  std::size_t rows = 0;
  std::size_t classes = 0;
  std::size_t dimension = 0;
  bool images = false;
  std::vector<AuditFinding> findings;  // by kind, then by rank
  // Findings that are sure enough to act on: suspects whose label is more likely wrong than right, all others as
  // listed.
  std::vector<std::size_t> counts;  // of each kind
  double planted_recall = 0.0;      // percent; of errors planted in this data, those found in as many suspects
  std::size_t planted = 0;
  double recognised = 0.0;        // percent of rows that the others of their class recognise
  double typical_distance = 0.0;  // see DuplicateAudit
  double near_distance = 0.0;
  LearningCurve curve;                          // of training rows
  std::map<std::string, std::string> examples;  // class: path of a typical row; empty where rows have no paths

  std::size_t count(FindingKind kind) const { return counts[static_cast<std::size_t>(kind)]; }
};

// Rows need labels: throws Error{kInput} otherwise, and where fewer than two rows are there. Throws Error{kCancelled}
// when told to stop. Memory: a copy of the features as float and blocks of products; the same bits for any number of
// threads.
AuditReport audit(const FeatureSet& set, const AuditOptions& options, const ProgressCallback& progress = {});

// A sentence about checks that are left out of small sets; empty where none is.
std::string few_rows_note(const AuditReport& report);

// A few lines for people.
std::string audit_text(const AuditReport& report);
// The summary, as docs/file-formats.md says.
nlohmann::ordered_json audit_json(const AuditReport& report);
// A JSON object a line, one for each finding.
std::string audit_json_lines(const AuditReport& report);

}  // namespace annulus
