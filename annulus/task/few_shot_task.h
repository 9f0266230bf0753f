// A few-shot task: which rows are learnt from and which are asked about, a pure function of (set, options, seed).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/row_cut.h"
#include "annulus/task/feature_set.h"

namespace annulus {

// Row numbers of one draw. Labels are class indices of the set the rows belong to.
struct Split {
  std::vector<std::uint32_t> support;  // rows to learn from, grouped by class, ascending within a class
  std::vector<std::uint32_t> query;    // rows to be recognised; empty when nothing is evaluated
  std::uint64_t seed = 0;
  std::size_t shots = 0;  // rows a class that were asked for; 0: uneven
};

struct ShotOptions {
  std::size_t shots = 0;   // rows a class; 0 takes every row that may be drawn (uneven shots)
  std::uint64_t seed = 0;  // which draw
};

// Draws `shots` rows of every class among the rows whose is_train is not 0 (all rows when the set has no such array).
// The query rows are those with is_train 0; without that array, every row that was not drawn. Throws Error{kInput}
// when a class has too few rows, naming it.
Split draw_split(const FeatureSet& set, const ShotOptions& options);

// The same draw when training and test rows live in two sets: only `support` is filled in, from every row of `set`.
Split draw_support(const FeatureSet& set, const ShotOptions& options);

// Draws `shots` whole groups, the same for every class, as support; the rows of all other groups are the query. A group
// is where rows come from (a camera, a site, a design house): this asks how well a class carries over to groups never
// seen. `groups` holds a group number of 0 or more for each row. Throws Error{kUsage} when `shots` leaves no group to
// ask about, and Error{kInput} when a class has no row in the groups drawn, naming it.
Split draw_groups(const FeatureSet& set, std::span<const std::int32_t> groups, const ShotOptions& options);

// Rows copied out of a set, ready to be trained on.
struct LabelledRows {
  Matrix<float> features;  // as stored: not normalised
  std::vector<std::int32_t> labels;
  std::size_t classes = 0;
  std::vector<float> weights{};  // how much each row counts, beside the others; empty: all the same
  // Where several processes hold the rows together, `features` are those that are here; all else is of all rows.
  RowCut cut{};
};

LabelledRows gather(const FeatureSet& set, std::span<const std::uint32_t> rows);

// Rows of each class.
std::vector<std::size_t> class_counts(std::span<const std::int32_t> labels, std::size_t classes);

// Maps class indices of `from` to those of `to` by name; throws Error{kInput} naming a class of `from` that `to` lacks.
std::vector<std::int32_t> map_classes(const FeatureSet& from, std::span<const std::string> to);

}  // namespace annulus
