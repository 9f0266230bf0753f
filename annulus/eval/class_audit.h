// Classes that are hard: pairs too alike to separate, and those whose rows are recognised least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/eval/label_audit.h"

namespace annulus {

// Two classes told apart by their means alone, each row left out of the mean of its own.
struct AlikeClasses {
  std::int32_t first = 0;
  std::int32_t second = 0;
  std::size_t rows = 0;      // of both
  std::size_t mistaken = 0;  // of these, nearer to the other's mean
  double cosine = 0.0;       // between the means
};

// Pairs of which a fifth of the rows or more is mistaken, the surest to be alike first: a share of few rows counts for
// less. At most `most` pairs.
std::vector<AlikeClasses> find_alike_classes(ConstMatrixView<float> rows, std::span<const std::int32_t> labels,
                                             const LabelScores& scores, std::size_t most);

struct ClassRecall {
  std::int32_t label = 0;
  std::size_t rows = 0;
  std::size_t recognised = 0;  // rows nearer to the mean of the others of their class than to any other class's
};

// Classes with two rows or more, the least recognised first; of equals, the one with fewer rows.
std::vector<ClassRecall> recall_of_classes(std::span<const std::int32_t> labels, const LabelScores& scores);

// The lower end of the 95 % interval (Wilson's) of a share of `hits` in `count` trials.
double least_share(std::size_t hits, std::size_t count);

}  // namespace annulus
