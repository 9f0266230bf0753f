// Difficult classes: pairs that can hardly be separated, and the classes with the lowest recall.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/eval/audit/label_audit.h"

namespace annulus {

// Two classes separated by their means alone, with each example left out of the mean of its class.
struct AlikeClasses {
  std::int32_t first = 0;
  std::int32_t second = 0;
  std::size_t rows = 0;      // of both
  std::size_t mistaken = 0;  // nearer to the mean of the other class
  double cosine = 0.0;       // between the means
};

// Pairs with a fifth or more of their examples mistaken, by the lower end of the interval of that fraction: the most
// certain first. At most `most` pairs.
std::vector<AlikeClasses> find_alike_classes(ConstMatrixView<float> rows, std::span<const std::int32_t> labels,
                                             const LabelScores& scores, std::size_t most);

struct ClassRecall {
  std::int32_t label = 0;
  std::size_t rows = 0;
  std::size_t recognised = 0;  // examples nearer to the mean of the others of their class than to any other mean
};

// Classes with two examples or more, the lowest recall first; of equal ones, the class with fewer examples.
std::vector<ClassRecall> recall_of_classes(std::span<const std::int32_t> labels, const LabelScores& scores);

// The lower end of Wilson's 95 % interval of the fraction `correct` / `count`.
double least_fraction(std::size_t correct, std::size_t count);

}  // namespace annulus
