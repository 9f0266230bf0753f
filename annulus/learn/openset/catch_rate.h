// How many inputs of unknown classes a rejection rule catches, estimated from the training examples.
#pragma once

#include <span>
#include <vector>

#include "annulus/learn/openset/open_set_features.h"
#include "annulus/learn/openset/rejection_rule.h"

namespace annulus {

// The estimated catch rate at each quantile of a rule, by two ways that both tend to say too much; the smaller is
// taken.
// - `hidden_scores` are those of held-out examples after their own class was taken out of the head: the fraction below
//   the quantile. The head learnt to tell that class from the others, which lowers these scores.
// - Of each fold, the fraction of its unknown examples below that quantile of its known ones, on average over the
//   folds, with `weights` of the open-set features. These heads have fewer classes that an unknown input may be taken
//   for.
// Empty without hidden scores and where no fold has two known examples and an unknown one.
std::vector<float> catch_rates(const UnknownRule& rule, std::span<const float> hidden_scores,
                               std::span<const OpenSetFold> folds, const OpenSetFeatures& weights);

}  // namespace annulus
