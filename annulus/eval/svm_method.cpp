// Support vector machine with a linear kernel as a method: LIBSVM, its cost chosen on the training rows alone.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "annulus/eval/method.h"
#include "annulus/eval/svm_at_cost.h"
#include "annulus/eval/unit_rows.h"
#include "annulus/eval/voting_svm.h"

namespace annulus {
namespace {

constexpr double kCostOfOneShot = 1.0;  // a class with one row leaves nothing to choose by

bool one_row_somewhere(const LabelledRows& support) {
  std::vector<std::size_t> counts(support.classes, 0);
  for (const std::int32_t label : support.labels) ++counts[static_cast<std::size_t>(label)];
  return *std::min_element(counts.begin(), counts.end()) < 2;
}

}  // namespace

FittedMethod fit_svm_method(const LabelledRows& support, const MethodContext& context,
                            const ProgressCallback& progress) {
  const SvmProducts products(unit_rows<double>(support.features.view()).view(), support.labels);
  const double cost =
      one_row_somewhere(support) ? kCostOfOneShot : choose_svm_cost(products, context.threads(), progress);
  return fit_svm_at_cost(products, support, cost, context.threads());
}

}  // namespace annulus
