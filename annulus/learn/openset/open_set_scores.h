// Open-set scores that separate inputs of known classes from unknown inputs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/model/model.h"
#include "annulus/learn/model/support_index.h"

namespace annulus {

// The score of each raw feature row x; larger scores mean that it is more likely of a known class. With t the
// temperature, z_j the logits, u(x) the transformed row of unit length and u_i the support examples transformed
// likewise:
//   l_j = (z_j - mean of the z) / t
//   score = weights[0] * max_j l_j + weights[1] * (second largest l_j) + weights[2] * log sum_j exp(l_j)
//         + weights[3] * max_i u(x) . u_i + weights[4] * closeness(u(x), m) + weights[5] * max_i closeness(u(x), u_i)
//   closeness(u, v) = u . v + |axes (u - v)|^2 / 2
// with i over the support examples of the predicted class, and m their mean, scaled to unit length. A row is rejected
// when its score is below unknown_threshold(model.unknown, fraction). Costs the logits and products with the support
// examples of one class. Throws Error{kInput} for rows of another dimension and for a model that has no rule, or lacks
// the support examples that its rule needs, and Error{kCancelled} when progress asks to stop.
void unknown_scores(const Model& model, ConstMatrixView<float> rows, std::span<float> out, int threads = 0,
                    const ProgressCallback& progress = {});

// The same from given logits, which are not changed. `index` is that of rejection_index; it may be null if the rule
// does not need it.
void unknown_scores(const Model& model, const SupportIndex* index, ConstMatrixView<float> rows,
                    ConstMatrixView<float> logits, std::span<float> out, int threads);

// The class with the largest logit of each row.
std::vector<std::int32_t> predicted_classes(ConstMatrixView<float> logits);

// An index of the model's support set, with the axes of its rule.
SupportIndex rejection_index(const Model& model, int threads);

// Whether the rule of a model needs the nearest support example, the mean of a class, or one of the two.
bool needs_nearest(const UnknownRule& rule);
bool needs_means(const UnknownRule& rule);
bool needs_support(const UnknownRule& rule);

// From a row of logits that are already divided by the temperature, and the nearness of the row to its predicted class.
std::array<float, kUnknownParts> unknown_parts(std::span<const float> logits, const ClassNearness& nearness);

// The axes of a rule, for rows of `dimension` values.
ConstMatrixView<float> axes_of(const UnknownRule& rule, std::size_t dimension);

// The weight of the mean of the logits in a score of uncentred logits: 0 if the mean does not matter.
float mean_weight(const UnknownRule& rule);

// The sum of weights times parts.
float unknown_score(const UnknownRule& rule, const std::array<float, kUnknownParts>& parts);

}  // namespace annulus
