// BD-CSPN (Liu et al., ECCV 2020) as a method: the largest cosine to prototypes that the queries rectify.
#include <utility>

#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/unit_rows.h"
#include "annulus/learn/transductive/rectified_prototypes.h"

namespace annulus {

QueryScores score_by_bd_cspn(const LabelledExamples& support, ConstMatrixView<float> queries,
                             const MethodContext& context, const ProgressCallback& progress) {
  report(progress, {"bd-cspn", 0, 1, {}});
  const RectifiedPrototypes rectified = rectify_prototypes(support, queries, context.threads());
  const Matrix<float> prototypes = unit_rows<float>(rectified.prototypes.view());
  return {cosines(rectified.queries.view(), prototypes.view(), context.threads()), false};
}

}  // namespace annulus
