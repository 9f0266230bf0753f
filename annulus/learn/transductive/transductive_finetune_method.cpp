// Transductive fine-tuning (Dhillon et al., ICLR 2020) as a method: cross-entropy of the support examples and entropy
// of the queries. The paper trains the whole network; here features are given, and the prototypes alone are trained.
#include "annulus/learn/transductive/prototype_training.h"

namespace annulus {

QueryScores score_by_transductive_finetune(const LabelledExamples& support, ConstMatrixView<float> queries,
                                           const MethodContext& context, const ProgressCallback& progress) {
  PrototypeTraining training;  // both weights 1
  training.name = "transductive-finetune";
  training.steps = 25;            // as published
  training.learning_rate = 5e-5;  // as published
  return train_prototypes(support, queries, training, context.threads(), progress);
}

}  // namespace annulus
