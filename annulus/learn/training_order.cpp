// Sorts training rows and drops those that do not count.
#include "annulus/learn/training_order.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "annulus/base/error.h"

namespace annulus {
namespace {

std::vector<std::size_t> rows_that_count(const LabelledRows& rows) {
  std::vector<std::size_t> kept(rows.labels.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  if (rows.weights.empty()) return kept;
  if (rows.weights.size() != rows.labels.size()) {
    fail(ErrorKind::kInput, "expected a weight for each of the {} training rows, found {}", rows.labels.size(),
         rows.weights.size());
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!(rows.weights[i] >= 0.0F) || !std::isfinite(rows.weights[i])) {
      fail(ErrorKind::kInput, "expected finite weights of 0 or more, found {} at training row {}", rows.weights[i], i);
    }
  }
  std::erase_if(kept, [&](std::size_t row) { return rows.weights[row] == 0.0F; });
  if (kept.empty()) fail(ErrorKind::kInput, "expected a training row with a weight above 0, found none");
  return kept;
}

// Smaller: of a lower class, else with the smaller first number that differs, else of the earlier path.
class Before {
 public:
  explicit Before(const TrainingData& data) : data_(data) {}

  bool operator()(std::size_t left, std::size_t right) const {
    const LabelledRows& rows = data_.rows;
    if (rows.labels[left] != rows.labels[right]) return rows.labels[left] < rows.labels[right];
    const auto a = rows.features.row(left);
    const auto b = rows.features.row(right);
    const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin());
    if (in_a != a.end()) return *in_a < *in_b;
    return !data_.paths.empty() && data_.paths[left] < data_.paths[right];
  }

 private:
  const TrainingData& data_;
};

template <class T>
void take(std::vector<T>& values, const std::vector<std::size_t>& order) {
  if (values.empty()) return;
  std::vector<T> taken;
  taken.reserve(order.size());
  for (const std::size_t row : order) taken.push_back(std::move(values[row]));
  values = std::move(taken);
}

}  // namespace

void settle_rows(TrainingData& data) {
  LabelledRows& rows = data.rows;
  std::vector<std::size_t> order = rows_that_count(rows);
  std::stable_sort(order.begin(), order.end(), Before(data));
  if (order.size() < rows.labels.size() || !std::is_sorted(order.begin(), order.end())) {
    Matrix<float> features(order.size(), rows.features.cols());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto row = std::as_const(rows.features).row(order[i]);
      std::copy(row.begin(), row.end(), features.row(i).begin());
    }
    rows.features = std::move(features);
    take(rows.labels, order);
    take(rows.weights, order);
    take(data.paths, order);
  }
  const auto& weights = rows.weights;
  if (std::adjacent_find(weights.begin(), weights.end(), std::not_equal_to<>()) == weights.end()) rows.weights.clear();
}

}  // namespace annulus
