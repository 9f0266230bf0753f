// What `annulus fit` does when told nothing else, as a method: IbM2 by the default recipe, whatever recipe the others
// follow, with probabilities at the temperature that its training rows ask for.
#include <memory>
#include <utility>

#include "annulus/eval/method.h"
#include "annulus/learn/calibration.h"
#include "annulus/learn/prediction.h"

namespace annulus {

FittedMethod fit_default_method(const LabelledRows& support, const MethodContext& context,
                                const ProgressCallback& progress) {
  const TrainOptions& asked = context.recipe.final_training;
  Recipe recipe = recipe_named("default");
  set_seed(recipe, asked.seed);
  set_task(recipe, asked.task);
  set_noise_bank(recipe, asked.bank);
  set_threads(recipe, asked.threads);
  FitResult fit = fit_ibm2(support, recipe, progress);
  // Episodes, which bring a bank, ask for no probabilities.
  if (asked.bank != nullptr) return fitted_head(std::move(fit), asked.threads);
  const double temperature =
      calibrate(keep_support(support, {}), fit, recipe, fit_ibm2, progress, {}, /*with_rule=*/false).temperature;
  const auto head = std::make_shared<const Head<float>>(fit.head.clone());
  FittedMethod fitted = fitted_head(std::move(fit), asked.threads);
  fitted.score = [head, temperature, threads = asked.threads](ConstMatrixView<float> rows, MatrixView<float> scores) {
    predict_probabilities(*head, temperature, rows, scores, threads);
  };
  return fitted;
}

}  // namespace annulus
