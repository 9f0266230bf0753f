// A few-shot task: its support (training) and query (test) examples, a pure function of (set, options, seed).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/distributed/partition.h"
#include "annulus/base/matrix.h"
#include "annulus/task/feature_set.h"

namespace annulus {

// Row numbers of one split. Labels are class indices of the set that the examples belong to.
struct Split {
  std::vector<std::uint32_t> support;  // training examples, grouped by class, ascending within a class
  std::vector<std::uint32_t> query;    // test examples; empty when nothing is evaluated
  std::uint64_t seed = 0;
  std::size_t shots = 0;  // requested examples per class; 0: not the same for all classes
};

struct ShotOptions {
  std::size_t shots = 0;   // examples, or groups of examples, per class; 0 takes every training example (uneven shots)
  std::uint64_t seed = 0;  // of the sampling
};

// Samples `shots` training examples of every class (is_train not 0; all examples when the set has no is_train). The
// query examples are those with is_train 0; without is_train, all that were not sampled. Where the set has groups, a
// shot is a group with all its examples in the class, and no query example is of a group that was sampled, for any
// class. Throws Error{kInput} naming a class that has too few examples.
Split draw_split(const FeatureSet& set, const ShotOptions& options);

// The same sampling when training and test examples are two sets: fills in only `support`, from all examples of `set`.
Split draw_support(const FeatureSet& set, const ShotOptions& options);

// Samples `shots` whole groups, the same for every class, as support; the examples of all other groups are the query. A
// group is an origin of examples (a camera, a site, a vendor): this measures how well a class generalises to unseen
// groups. `groups` holds a group number of 0 or more per example. Throws Error{kUsage} when `shots` leaves no group for
// testing, and Error{kInput} naming a class that has no example in the sampled groups.
Split draw_groups(const FeatureSet& set, std::span<const std::int32_t> groups, const ShotOptions& options);

// Examples copied out of a set for training.
struct LabelledExamples {
  Matrix<float> features;  // as stored: not normalised
  std::vector<std::int32_t> labels;
  std::size_t classes = 0;
  std::vector<float> weights{};  // relative weight of each example; empty: all the same
  // When several processes hold the examples together, `features` are those of this process; all else covers all
  // examples.
  Partition partition{};
  std::vector<std::int32_t> groups{};  // as FeatureSetParts::groups: what is held out is held out with its group
};

LabelledExamples gather(const FeatureSet& set, std::span<const std::uint32_t> rows);

// Number of examples of each class.
std::vector<std::size_t> class_counts(std::span<const std::int32_t> labels, std::size_t classes);

// Maps class indices of `from` to those of `to` by name; throws Error{kInput} naming a class of `from` that `to` lacks.
std::vector<std::int32_t> map_classes(const FeatureSet& from, std::span<const std::string> to);

}  // namespace annulus
