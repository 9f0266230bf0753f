// Support set: the training examples that a model keeps, so that it can be updated, explain its predictions and reject
// unknown inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/distributed/partition.h"
#include "annulus/base/matrix.h"

namespace annulus {

struct LabelledExamples;

inline constexpr std::size_t kMostSupportExamples = 64;  // of one class that a model keeps

struct SupportSet {
  Matrix<float> features;            // raw rows scaled to length 1, rounded to half precision
  std::vector<std::int32_t> labels;  // head row of each
  std::vector<std::string> paths;    // where each came from; empty: not known
  // Where several processes hold the rows together, `features` are those that are here; all else is of all rows.
  Partition partition{};
  std::vector<std::int32_t> groups{};  // as LabelledExamples has them, for the calibration; no model keeps them

  std::size_t rows() const { return labels.size(); }
  bool empty() const { return labels.empty(); }
  SupportSet clone() const { return {features.clone(), labels, paths, partition, groups}; }
};

// The rows that a model keeps of those it learns from: all of a class, or kMostSupportExamples of them, evenly spaced.
// `paths` is empty or has one for each row. Throws Error{kInput} for a row that has no length.
SupportSet keep_support(const LabelledExamples& rows, std::span<const std::string> paths);

// The weights of the rows that keep_support keeps; none where `rows` has none.
std::vector<float> support_weights(const LabelledExamples& rows);

// The named rows, each where it is: in ascending order where processes hold them together.
SupportSet select_support(const SupportSet& support, std::span<const std::size_t> rows);

// The named rows, all of them on every process.
SupportSet fetch_support(const SupportSet& support, std::span<const std::size_t> rows);

// All rows on the first process; the others keep none.
SupportSet collect_support(SupportSet support);

// All rows of both, whose dimension is the same; rows of unknown origin have an empty path beside those of a known one.
SupportSet join_support(const SupportSet& support, const SupportSet& more);

// At most kMostSupportExamples of each class, evenly spaced.
SupportSet thin_support(SupportSet support, std::size_t classes);

}  // namespace annulus
