// SimpleShot (Wang et al., 2019) as a method: rows of unit length are centred by the mean of the training examples and
// normalised again; the nearest prototype wins.
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/prototypes.h"
#include "annulus/learn/baselines/unit_rows.h"
#include "annulus/learn/method/head.h"

namespace annulus {
namespace {

struct CentredMeans {
  std::vector<float> centre;
  Head<float> head;
};

Matrix<float> centred(ConstMatrixView<float> rows, std::span<const float> centre) {
  Matrix<float> result = unit_rows<float>(rows);
  for (std::size_t i = 0; i < result.rows(); ++i) {
    for (std::size_t j = 0; j < centre.size(); ++j) result(i, j) -= centre[j];
  }
  return result;
}

std::vector<float> mean_row(ConstMatrixView<double> rows) {
  std::vector<double> sum(rows.cols(), 0.0);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += rows(i, j);
  }
  std::vector<float> mean;
  for (const double value : sum) mean.push_back(static_cast<float>(value / static_cast<double>(rows.rows())));
  return mean;
}

}  // namespace

FittedMethod fit_simpleshot_method(const LabelledExamples& support, const MethodContext& context,
                                   const ProgressCallback& progress) {
  report(progress, {"prototypes", 0, 1, {}});
  auto means = std::make_shared<CentredMeans>();
  means->centre = mean_row(unit_rows<double>(support.features.view()).view());
  const Matrix<float> rows = centred(support.features.view(), means->centre);
  means->head = nearest_mean_head(unit_rows<double>(rows.view()).view(), support.labels, support.classes);
  FittedMethod fitted;
  const auto score = [means = std::shared_ptr<const CentredMeans>(std::move(means)), threads = context.threads()](
                         ConstMatrixView<float> asked, MatrixView<float> scores) {
    // A row that equals the centre stays a row of zeros.
    const Matrix<float> unit = unit_rows<float>(centred(asked, means->centre).view());
    compute_logits(means->head, unit.view(), scores, threads);
  };
  classify_by_score(score, support.classes, fitted);
  return fitted;
}

}  // namespace annulus
