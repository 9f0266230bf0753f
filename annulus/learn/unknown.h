// Scores that tell known things from strangers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/model.h"
#include "annulus/learn/support_index.h"

namespace annulus {

// The score of each raw feature row x; the larger, the better known. With t the temperature, z_j the logits, u(x) the
// conditioned row of length 1 and u_i the support rows conditioned likewise:
//   l_j = (z_j - mean of the z) / t
//   score = weights[0] * max_j l_j + weights[1] * (second largest l_j) + weights[2] * log sum_j exp(l_j)
//         + weights[3] * max_i u(x) . u_i + weights[4] * closeness(u(x), m) + weights[5] * max_i closeness(u(x), u_i)
//   closeness(u, v) = u . v + |axes (u - v)|^2 / 2
// with i over the support rows of the class of the largest logit, and m their mean, scaled to length 1.
// A row is refused when its score is below unknown_threshold(model.unknown, share). Costs the logits and
// products with the support rows of a class. Throws Error{kInput} for rows
// of another dimension and for a model that has no rule, or lacks the support rows that its rule needs, and
// Error{kCancelled} when told to stop.
void unknown_scores(const Model& model, ConstMatrixView<float> rows, std::span<float> out, int threads = 0,
                    const ProgressCallback& progress = {});

// The same from logits that are there, which stay as they are. `index` is as of stranger_index; it may be null where
// the rule does not need it.
void unknown_scores(const Model& model, const SupportIndex* index, ConstMatrixView<float> rows,
                    ConstMatrixView<float> logits, std::span<float> out, int threads);

// The class of the largest logit of each row.
std::vector<std::int32_t> named_classes(ConstMatrixView<float> logits);

// Of the model's support, with the axes of its rule.
SupportIndex stranger_index(const Model& model, int threads);

// Whether the rule of a model asks for the nearest support row, for the mean of a class, for one of the two.
bool needs_nearest(const UnknownRule& rule);
bool needs_means(const UnknownRule& rule);
bool needs_support(const UnknownRule& rule);

// Of a row of logits that are divided by the temperature already, and of how near the row is to the class it is named.
std::array<float, kUnknownParts> unknown_parts(std::span<const float> logits, const ClassNearness& nearness);

// The axes of a rule, for rows of `dimension` numbers.
ConstMatrixView<float> axes_of(const UnknownRule& rule, std::size_t dimension);

// What the mean of the logits weighs in a score of logits from which it was not subtracted: 0 where it does not matter.
float mean_weight(const UnknownRule& rule);

// sum of weights times parts.
float unknown_score(const UnknownRule& rule, const std::array<float, kUnknownParts>& parts);

}  // namespace annulus
