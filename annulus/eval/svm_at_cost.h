// The support vector machine at a cost given by the caller, for tables that compare costs.
#pragma once

#include "annulus/eval/many_way.h"
#include "annulus/eval/method.h"
#include "annulus/eval/voting_svm.h"

namespace annulus {

// LIBSVM's C-SVC with a linear kernel on rows of length 1, one machine a pair of classes, that vote.
FittedMethod fit_svm_at_cost(const LabelledRows& support, double cost, int threads);
// With the products of the rows among themselves, which several costs share.
FittedMethod fit_svm_at_cost(const SvmProducts& products, const LabelledRows& support, double cost, int threads);

// Learns from all rows of one set and is tested on all rows of another; classes are matched by name.
ManyWayRun evaluate_svm_at_cost(const FeatureSet& training, const FeatureSet& test, double cost, int threads);

}  // namespace annulus
