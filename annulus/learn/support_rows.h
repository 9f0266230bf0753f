// Support rows: what a model learnt from, kept with it so that it can grow, explain its answers and know strangers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

inline constexpr std::size_t kMostSupportRows = 64;  // of one class that a model keeps

struct SupportRows {
  Matrix<float> features;            // raw rows scaled to length 1, rounded to half precision
  std::vector<std::int32_t> labels;  // head row of each
  std::vector<std::string> paths;    // where each came from; empty: not known
  // Where several processes hold the rows together, `features` are those that are here; all else is of all rows.
  RowCut cut{};

  std::size_t rows() const { return labels.size(); }
  bool empty() const { return labels.empty(); }
  SupportRows clone() const { return {features.clone(), labels, paths, cut}; }
};

// The rows that a model keeps of those it learns from: all of a class, or kMostSupportRows of them, evenly spaced.
// `paths` is empty or has one for each row. Throws Error{kInput} for a row that has no length.
SupportRows keep_support(const LabelledRows& rows, std::span<const std::string> paths);

// The weights of the rows that keep_support keeps; none where `rows` has none.
std::vector<float> support_weights(const LabelledRows& rows);

// The named rows, each where it is: in ascending order where processes hold them together.
SupportRows select_support(const SupportRows& support, std::span<const std::size_t> rows);

// The named rows, all of them on every process.
SupportRows fetch_support(const SupportRows& support, std::span<const std::size_t> rows);

// All rows on the first process; the others keep none.
SupportRows collect_support(SupportRows support);

// All rows of both, whose dimension is the same; rows of unknown origin have an empty path beside those of a known one.
SupportRows join_support(const SupportRows& support, const SupportRows& more);

// At most kMostSupportRows of each class, evenly spaced.
SupportRows thin_support(SupportRows support, std::size_t classes);

}  // namespace annulus
