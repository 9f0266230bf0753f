// What is in a pool of unlabelled examples: groups of alike ones with a cover each, near copies, outliers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/eval/audit/duplicates.h"

namespace annulus {

struct PoolGroup {
  std::vector<std::uint32_t> rows;  // the most typical first: the first one is the cover
  double cohesion = 0.0;            // mean cosine between its rows and their mean, 0 to 1
};

struct PoolGroups {
  std::size_t examples = 0;
  std::vector<PoolGroup> groups;        // the largest first; every row that was looked at is in one
  std::vector<DuplicatePair> copies;    // exact and near copies; `second` is the one that can go
  std::vector<Outlier> outliers;        // far from every other row, the farthest first
  std::vector<std::uint8_t> looked_at;  // of each row of the pool; empty: all

  // Groups of at least kLeastKind rows: how many kinds of things there seem to be.
  std::size_t kinds() const;
};

inline constexpr std::size_t kLeastKind = 3;

struct DiscoverOptions {
  int threads = 0;                        // 0: all processors
  std::vector<std::uint8_t> looked_at{};  // rows to group, one entry for each; empty: all
};

// Groups raw feature rows; `paths` is empty or has one for each row. Rows are numbered as given, but neither their
// order nor the number of threads changes what is found. Costs products of all pairs of rows in blocks: n^2 d
// multiplications; memory: a copy of the rows, 80 bytes for each of their neighbours' lists, and the graph. Throws
// Error{kInput} for fewer than two rows and for a row that has no length, Error{kCancelled} when progress asks to stop.
PoolGroups discover(Matrix<float> rows, std::span<const std::string> paths, const DiscoverOptions& options = {},
                    const ProgressCallback& progress = {});

// The group of each row of the pool, from 0; kNoGroup for rows that were not looked at.
inline constexpr std::uint32_t kNoGroup = 0xFFFFFFFFU;
std::vector<std::uint32_t> group_of_rows(const PoolGroups& found);

}  // namespace annulus
