// Joins labelled rows and pool, and weights coverage by uncertainty.
#include "annulus/eval/pool/label_next.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/row_order.h"
#include "annulus/eval/audit/neighbours.h"
#include "annulus/eval/pool/coverage.h"
#include "annulus/eval/pool/pool_rows.h"
#include "annulus/learn/baselines/discriminant_head.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/learn/model/prepared_head.h"

namespace annulus {
namespace {

constexpr std::size_t kCoverNeighbours = 64;
constexpr double kUnsure = 0.5;  // from this uncertainty on it is why a row was chosen
constexpr std::size_t kPredictedRows = 1024;

// All rows: the labelled ones first, then the pool.
Matrix<float> joined(const Matrix<float>& labelled, const Matrix<float>& pool) {
  Matrix<float> rows(labelled.rows() + pool.rows(), pool.cols());
  std::copy_n(labelled.data(), labelled.rows() * pool.cols(), rows.data());
  std::copy_n(pool.data(), pool.rows() * pool.cols(), rows.data() + labelled.rows() * pool.cols());
  return rows;
}

// Numbers those classes that have examples from 0 on; `classes` becomes the class of each number.
std::vector<std::int32_t> dense_labels(std::span<const std::int32_t> labels, std::vector<std::int32_t>& classes) {
  classes.assign(labels.begin(), labels.end());
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  std::vector<std::int32_t> dense;
  for (const std::int32_t label : labels) {
    const auto place = std::lower_bound(classes.begin(), classes.end(), label);
    dense.push_back(static_cast<std::int32_t>(place - classes.begin()));
  }
  return dense;
}

// Uncertainty from leads of the largest logit over the next: the mean lead is the temperature.
std::vector<float> uncertainty_of(const Matrix<float>& logits) {
  const auto two_largest = [&](std::size_t i) {
    std::pair<float, float> top{-1e30F, -1e30F};
    for (const float value : logits.row(i)) {
      if (value > top.first) {
        top = {value, top.first};
      } else {
        top.second = std::max(top.second, value);
      }
    }
    return top;
  };
  double mean = 0.0;
  for (std::size_t i = 0; i < logits.rows(); ++i) {
    const auto [first, second] = two_largest(i);
    mean += static_cast<double>(first - second) / static_cast<double>(logits.rows());
  }
  const double temperature = std::max(mean, 1e-12);
  std::vector<float> uncertainty(logits.rows());
  for (std::size_t i = 0; i < logits.rows(); ++i) {
    const auto [first, second] = two_largest(i);
    double sum = 0.0;
    for (const float value : logits.row(i)) sum += std::exp(static_cast<double>(value - first) / temperature);
    const double runner_up = std::exp(static_cast<double>(second - first) / temperature);
    uncertainty[i] = static_cast<float>(1.0 - (1.0 - runner_up) / sum);
  }
  return uncertainty;
}

// What discriminant analysis of the labelled rows says about the pool; nothing for fewer than two classes.
std::optional<PoolBelief> own_belief(ConstMatrixView<float> labelled, std::span<const std::int32_t> labels,
                                     ConstMatrixView<float> pool, int threads) {
  std::vector<std::int32_t> classes;
  const std::vector<std::int32_t> dense = dense_labels(labels, classes);
  if (classes.size() < 2) return std::nullopt;
  // In the order of their content, so that sums do not depend on the order of the file.
  const std::vector<std::size_t> order = content_order(labelled, {});
  Matrix<float> rows(labelled.rows(), labelled.cols());
  std::vector<std::int32_t> sorted;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::copy_n(labelled.row(order[i]).begin(), labelled.cols(), rows.row(i).begin());
    sorted.push_back(dense[order[i]]);
  }
  const Head<float> head = discriminant_head(std::move(rows), sorted, classes.size(), threads);
  Matrix<float> logits(pool.rows(), classes.size());
  compute_logits(head, pool, logits.view(), threads);
  PoolBelief belief;
  belief.uncertainty = uncertainty_of(logits);
  for (std::size_t i = 0; i < pool.rows(); ++i) {
    const auto row = std::as_const(logits).row(i);
    belief.guess.push_back(classes[static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin())]);
  }
  return belief;
}

// How many of the choices go to rows that resemble no class: no more than there are beyond false rejections.
std::size_t new_class_count(const PoolBelief& belief, const LabelNextOptions& options) {
  if (belief.unknown.empty()) return 0;
  const auto rejected = static_cast<double>(std::count(belief.unknown.begin(), belief.unknown.end(), 1));
  const double excess = rejected - belief.false_reject * static_cast<double>(belief.unknown.size());
  const double most = std::ceil(options.new_class_fraction * static_cast<double>(options.count));
  return excess <= 0.0 ? 0 : static_cast<std::size_t>(std::min(most, std::ceil(excess)));
}

// Labelled rows and pool together, in the order of their content.
struct JoinedRows {
  Matrix<float> rows;              // transformed, of unit length
  std::vector<std::size_t> order;  // row i was row order[i] of the labelled rows and the pool, one after the other
  std::vector<std::size_t> place;  // the inverse
};

JoinedRows join_rows(const Matrix<float>& labelled, Matrix<float> pool, std::span<const std::string> paths,
                     int threads) {
  JoinedRows result{joined(labelled, pool), {}, {}};
  pool = Matrix<float>();
  make_comparable(result.rows.view());
  std::vector<std::string> names;
  if (!paths.empty()) {
    names.resize(labelled.rows());
    names.insert(names.end(), paths.begin(), paths.end());
  }
  result.order = content_order(std::as_const(result.rows).view(), names);
  result.place = inverse_order(result.order);
  take_rows(result.rows, result.order);
  const FeatureTransform centre = learn_transform(std::as_const(result.rows).view(), TransformKind::kCentre);
  prepare_rows(centre, result.rows.view(), 0, threads);
  return result;
}

bool may_be_new(const std::optional<PoolBelief>& belief, std::size_t row) {
  return belief && !belief->unknown.empty() && belief->unknown[row] != 0;
}

// Those that may be of a new class first, then all others by what they cover; the largest gain comes first.
std::vector<Coverage::Chosen> choose(Coverage& coverage, const JoinedRows& joined, std::size_t known,
                                     const std::optional<PoolBelief>& belief, const LabelNextOptions& options) {
  const std::size_t all = joined.place.size();
  std::vector<float> weights(all, 0.0F);
  std::vector<std::uint8_t> may_choose(all, 0);
  std::vector<std::uint8_t> is_new(all, 0);
  for (std::size_t i = known; i < all; ++i) {
    const std::size_t place = joined.place[i];
    is_new[place] = may_be_new(belief, i - known) ? 1 : 0;
    weights[place] = !belief || is_new[place] != 0 ? 1.0F : belief->uncertainty[i - known];
    may_choose[place] = 1;
  }
  const std::size_t count = std::min(options.count, all - known);
  const std::size_t for_new = belief ? std::min(count, new_class_count(*belief, options)) : 0;
  std::vector<Coverage::Chosen> chosen = coverage.choose(for_new, weights, is_new);
  for (const Coverage::Chosen& choice : chosen) may_choose[choice.row] = 0;
  const std::vector<Coverage::Chosen> others = coverage.choose(count - chosen.size(), weights, may_choose);
  chosen.insert(chosen.end(), others.begin(), others.end());
  std::stable_sort(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) { return a.gain > b.gain; });
  return chosen;
}

LabelChoice explained(std::size_t row, const std::optional<PoolBelief>& belief) {
  LabelChoice choice;
  choice.row = row_number(row);
  if (!belief) return choice;
  choice.guess = belief->guess[row];
  choice.uncertainty = static_cast<double>(belief->uncertainty[row]);
  if (choice.uncertainty >= kUnsure) choice.reason = LabelReason::kUncertain;
  if (may_be_new(belief, row)) choice.reason = LabelReason::kNewClass;
  return choice;
}

void check_inputs(const Matrix<float>& pool, const PoolKnowledge& knowledge, const LabelNextOptions& options) {
  if (pool.rows() == 0) fail(ErrorKind::kInput, "expected a pool of examples to choose from, found none");
  if (knowledge.features.rows() != 0 && knowledge.features.cols() != pool.cols()) {
    fail(ErrorKind::kInput, "expected a pool of {} dimensions as the labelled examples have, found {}",
         knowledge.features.cols(), pool.cols());
  }
  if (!(options.new_class_fraction >= 0.0 && options.new_class_fraction <= 1.0)) {
    fail_field(ErrorKind::kUsage, "new_classes", "expected {} to be from 0 to 1, found {}", options.new_class_fraction);
  }
}

}  // namespace

std::string_view to_string(LabelReason reason) {
  switch (reason) {
    case LabelReason::kTypical:
      return "typical";
    case LabelReason::kUncertain:
      return "uncertain";
    case LabelReason::kNewClass:
      return "new-class";
  }
  return "";
}

PoolBelief belief_of(const Model& model, ConstMatrixView<float> rows, double false_reject, int threads) {
  const Predictor predictor(model, {false_reject, false, 2, threads});
  PoolBelief belief;
  belief.false_reject = predictor.may_reject() ? false_reject : 0.0;
  for (std::size_t first = 0; first < rows.rows(); first += kPredictedRows) {
    for (const Prediction& prediction :
         predictor.predict(rows.rows_at(first, std::min(kPredictedRows, rows.rows() - first)))) {
      const float second = prediction.top.size() > 1 ? prediction.top[1].probability : 0.0F;
      belief.guess.push_back(prediction.top.front().index);
      belief.uncertainty.push_back(1.0F - (prediction.top.front().probability - second));
      if (predictor.may_reject()) belief.unknown.push_back(prediction.rejected ? 1 : 0);
    }
  }
  return belief;
}

PoolKnowledge knowledge_of(const Model& model, ConstMatrixView<float> pool, double false_reject, int threads) {
  return {model.support.features.clone(), model.support.labels, belief_of(model, pool, false_reject, threads)};
}

std::vector<LabelChoice> label_next(Matrix<float> pool, std::span<const std::string> paths,
                                    const PoolKnowledge& knowledge, const LabelNextOptions& options,
                                    const ProgressCallback& progress) {
  check_inputs(pool, knowledge, options);
  const std::size_t known = knowledge.features.rows();
  JoinedRows joined = join_rows(knowledge.features, std::move(pool), paths, options.threads);
  std::optional<PoolBelief> belief = knowledge.belief;
  if (!belief && known != 0) {
    Matrix<float> original = joined.rows.clone();
    take_rows(original, joined.place);
    const ConstMatrixView<float> view = std::as_const(original).view();
    belief =
        own_belief(view.rows_at(0, known), knowledge.labels, view.rows_at(known, view.rows() - known), options.threads);
  }
  const std::size_t all = joined.rows.rows();
  Coverage coverage(nearest_rows(joined.rows.view(), std::min(kCoverNeighbours, all - 1), options.threads, progress));
  for (std::size_t i = 0; i < known; ++i) coverage.add(row_number(joined.place[i]));
  const std::vector<Coverage::Chosen> chosen = choose(coverage, joined, known, belief, options);

  std::vector<std::size_t> stands_for(all, 0);
  for (std::size_t i = known; i < all; ++i) {
    const std::uint32_t by = coverage.covered_by(row_number(joined.place[i]));
    if (by != Coverage::kNobody) ++stands_for[by];
  }
  std::vector<LabelChoice> choices;
  for (const Coverage::Chosen& found : chosen) {
    LabelChoice choice = explained(joined.order[found.row] - known, belief);
    choice.gain = found.gain;
    choice.stands_for = stands_for[found.row];
    choices.push_back(choice);
  }
  return choices;
}

}  // namespace annulus
