// What a model says about rows it never saw: classes, whether it knows the thing at all, and why.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/learn/flip_radius.h"
#include "annulus/learn/model.h"
#include "annulus/learn/prediction.h"
#include "annulus/learn/ranking.h"
#include "annulus/learn/support_index.h"

namespace annulus {

inline constexpr double kFalseReject = 0.05;      // of known things, unless told otherwise
inline constexpr std::size_t kExplainedRows = 3;  // nearest training rows that an explanation names

struct RecogniserOptions {
  double false_reject = kFalseReject;  // share of known things that may be refused; 0: every row is answered
  bool explain = false;
  std::size_t top = 5;  // classes to name
  int threads = 0;
};

struct Explanation {
  std::vector<NearRow> nearest;          // at most kExplainedRows
  std::optional<RankedClass> runner_up;  // absent with a single class
  float radius = 0.0F;                   // how far the row can move before the answer changes
};

struct Answer {
  std::vector<RankedClass> top;  // most probable first
  bool refused = false;
  float unknown_score = 0.0F;  // 0 where nothing is refused
  std::optional<Explanation> explanation;
};

// Prepares once what every answer needs. The model must outlive it; several threads may ask at once.
class Recogniser {
 public:
  // Throws Error{kUsage} for a share outside [0, 1), and Error{kInput} when answers of a model that keeps no training
  // rows are to be explained.
  explicit Recogniser(const Model& model, const RecogniserOptions& options = {});

  // Whether rows carry a score and some are refused: not without a rule in the model, whatever share was asked for.
  bool may_refuse() const { return refuses_; }

  // Of raw feature rows. The bits of an answer do not depend on the rows beside it. Throws Error{kInput} for rows of
  // another dimension and for a row that has no length.
  std::vector<Answer> answer(ConstMatrixView<float> rows) const;

 private:
  const Model& model_;
  PreparedHead head_;
  RecogniserOptions options_;
  bool refuses_;
  float threshold_ = 0.0F;
  std::optional<SupportIndex> index_;
  std::optional<FlipRadius> flip_;
};

}  // namespace annulus
