// Training examples as closed-form heads use them: weighted, and perhaps held by several processes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "annulus/base/slice.h"
#include "annulus/learn/method/virtual_examples.h"

namespace annulus {

// How much an example counts: 1 if there are no weights.
double weight_of(const TrainingExamples<float>& rows, std::size_t row);

// The total weight of the examples of each class: their number if there are no weights.
std::vector<double> class_weights(const TrainingExamples<float>& rows);

// The weighted mean of the rows of all processes.
std::vector<float> mean_row(const TrainingExamples<float>& rows);

// The index of the class of a row within a block; outside [0, block.count) if the block does not hold it.
std::size_t place_of(const TrainingExamples<float>& rows, std::size_t row, Slice block);

// row -= what.
void subtract_row(std::span<const float> what, std::span<float> row);

}  // namespace annulus
