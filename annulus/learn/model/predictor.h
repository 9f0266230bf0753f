// Predictor: a model made ready to predict the classes of examples, reject unknown inputs and explain itself.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/model/boundary_distance.h"
#include "annulus/learn/model/class_tree.h"
#include "annulus/learn/model/model.h"
#include "annulus/learn/model/prediction.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/learn/model/ranking.h"
#include "annulus/learn/model/support_index.h"
#include "annulus/task/feature_set.h"

namespace annulus {

inline constexpr double kFalseReject = 0.05;          // default false-rejection rate
inline constexpr double kSure = 0.8;                  // default probability of what is named
inline constexpr std::size_t kExplainedExamples = 3;  // nearest training examples that an explanation names

// Throws Error{kUsage} for a false-rejection rate outside [0, 1).
void check_false_reject(double rate);
// Throws Error{kUsage} for a probability outside [0, 1].
void check_sure(double sure);

struct PredictorOptions {
  double false_reject = kFalseReject;  // fraction of known inputs that may be rejected; 0: none is
  bool explain = false;                // add an Explanation to each prediction
  std::size_t top = 5;                 // classes to list
  int threads = 0;                     // 0: all processors
  // Of a model whose classes have groups: a prediction names the smallest group, or the class, that is at least as
  // probable, else the most probable of the largest groups. 0: always a class.
  double sure = kSure;
};

// Prepares once what every prediction needs. The model must outlive it; several threads may use it at once.
class Predictor {
 public:
  // Throws Error{kUsage} for a false-rejection rate outside [0, 1) or a `sure` outside [0, 1], and Error{kInput} when
  // predictions of a model that keeps no training examples are to be explained.
  explicit Predictor(const Model& model, const PredictorOptions& options = {});

  // Whether rows get an unknown score and some are rejected: never without a rule in the model.
  bool may_reject() const { return rejects_; }

  // Classes and their groups; empty where the model has no groups.
  const ClassTree& tree() const { return tree_; }

  // Of raw feature rows. The bits of a prediction do not depend on the rows beside it. Throws Error{kInput} for rows of
  // another dimension and for a row that has no length.
  std::vector<Prediction> predict(ConstMatrixView<float> rows) const;

 private:
  const Model& model_;
  PreparedHead head_;
  PredictorOptions options_;
  ClassTree tree_;
  bool rejects_;
  float threshold_ = 0.0F;
  std::optional<SupportIndex> index_;
  std::optional<BoundaryDistance> boundary_;
};

// Fills in label, probability, lineage and level of a prediction whose classes are ranked, and that may be rejected.
void name_answer(std::span<const float> probabilities, std::span<const std::string> class_names, const ClassTree& tree,
                 double sure, Prediction& prediction);

// Takes the predictions of examples [first, first + predictions.size()) of a set.
using PredictionsCallback = std::function<void(std::size_t first, std::span<Prediction> predictions)>;

// Predicts a whole set in blocks, so that neither its features nor its predictions stand in memory together.
void predict_set(const Predictor& predictor, const FeatureSet& set, const PredictionsCallback& use,
                 const ProgressCallback& progress = {});

}  // namespace annulus
