// TIM (Boudiaf et al., NeurIPS 2020) as a method, by gradient descent: the mutual information between queries and
// their predicted classes is maximised. Its term H(Y) wants classes with equally many queries.
#include "annulus/learn/transductive/prototype_training.h"

namespace annulus {

QueryScores score_by_tim(const LabelledExamples& support, ConstMatrixView<float> queries, const MethodContext& context,
                         const ProgressCallback& progress) {
  PrototypeTraining training;  // weights, steps and learning rate as published
  training.name = "tim";
  training.cross_entropy = 0.1;
  training.marginal_entropy = 1.0;
  training.conditional_entropy = 0.1;
  return train_prototypes(support, queries, training, context.threads(), progress);
}

}  // namespace annulus
