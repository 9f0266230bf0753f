// Scores that tell known things from strangers.
#pragma once

#include <array>
#include <span>

#include "annulus/base/matrix.h"
#include "annulus/learn/model.h"
#include "annulus/learn/support_index.h"

namespace annulus {

// The score of each raw feature row x; the larger, the better known. With t the temperature, z_j the logits, u(x) the
// conditioned row of length 1 and u_i the support rows conditioned likewise:
//   l_j = z_j / t
//   score = weights[0] * max_j l_j + weights[1] * (second largest l_j) + weights[2] * log sum_j exp(l_j)
//         + weights[3] * max_i u(x) . u_i
// A row is refused when its score is below unknown_threshold(model.unknown, share). Costs the logits and, where
// weights[3] is not 0, a product with the support rows. Throws Error{kInput} for rows of another dimension and for a
// model that has no rule, or lacks the support rows that its rule needs.
void unknown_scores(const Model& model, ConstMatrixView<float> rows, std::span<float> out, int threads = 0);

// The same from logits that are there, which stay as they are, and the nearest support row of each row (none where the
// rule does not ask for it).
void unknown_scores(const Model& model, ConstMatrixView<float> logits, std::span<const std::vector<NearRow>> nearest,
                    std::span<float> out);

// Whether the rule of a model asks for the nearest support row.
bool needs_nearest(const UnknownRule& rule);

// The first three parts of a row of logits that are divided by the temperature already; the fourth is given.
std::array<float, kUnknownParts> unknown_parts(std::span<const float> logits, float nearest_cosine);

// sum of weights times parts.
float unknown_score(const UnknownRule& rule, const std::array<float, kUnknownParts>& parts);

}  // namespace annulus
