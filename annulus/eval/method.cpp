// The list of methods.
#include "annulus/eval/method.h"

#include <array>
#include <memory>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {

std::span<const Method> methods() {
  static constexpr std::array kMethods{
      Method{"ncm", "nearest class mean of L2-normalised features", &fit_nearest_class_mean_method},
      Method{"baseline", "the head trained on the originals", &fit_baseline_method},
      Method{"ibm2", "the head trained on virtual examples at the largest radius found", &fit_ibm2_method},
  };
  return kMethods;
}

const Method& method_named(std::string_view name) {
  std::string known;
  for (const Method& method : methods()) {
    if (method.name == name) return method;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", method.name);
  }
  fail(ErrorKind::kUsage, "method \"{}\" is unknown; expected one of {}", name, known);
}

FittedMethod fitted_head(Head<float> head, double epsilon, int threads) {
  const auto shared = std::make_shared<const Head<float>>(std::move(head));
  return {[shared, threads](ConstMatrixView<float> rows) { return predict_classes(*shared, rows, threads); }, epsilon};
}

}  // namespace annulus
