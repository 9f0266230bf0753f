// alpha-TIM (Veilleux et al., NeurIPS 2021) as a method: TIM with Tsallis entropies, which tolerate classes with
// unequally many queries.
#include <cstddef>

#include "annulus/learn/transductive/prototype_training.h"

namespace annulus {
namespace {

// As the authors' program has it; between one shot and five it leaves its general default.
double order_for(std::size_t shots) {
  if (shots <= 1) return 2.0;
  return shots < 5 ? 5.0 : 7.0;
}

}  // namespace

QueryScores score_by_alpha_tim(const LabelledExamples& support, ConstMatrixView<float> queries,
                               const MethodContext& context, const ProgressCallback& progress) {
  PrototypeTraining training;  // weights, steps and learning rate as published
  training.name = "alpha-tim";
  training.marginal_entropy = 1.0;
  training.order = order_for(support.labels.size() / support.classes);
  return train_prototypes(support, queries, training, context.threads(), progress);
}

}  // namespace annulus
