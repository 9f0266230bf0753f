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
  explicit Before(const TrainingData& data) : data_(data) {
    first_.reserve(data.rows.features.rows());
    for (std::size_t i = 0; i < data.rows.features.rows(); ++i) {
      const auto row = data.rows.features.row(i);
      first_.push_back(row.empty() ? 0.0F : row.front());
    }
  }

  bool operator()(std::size_t left, std::size_t right) const {
    const LabelledRows& rows = data_.rows;
    if (rows.labels[left] != rows.labels[right]) return rows.labels[left] < rows.labels[right];
    if (first_[left] != first_[right]) return first_[left] < first_[right];
    const auto a = rows.features.row(left);
    const auto b = rows.features.row(right);
    const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin());
    if (in_a != a.end()) return *in_a < *in_b;
    return !data_.paths.empty() && data_.paths[left] < data_.paths[right];
  }

 private:
  const TrainingData& data_;
  std::vector<float> first_;  // numbers of the rows: most comparisons need no other, and rows may lie on a disk
};

// Row i becomes what row order[i] was, without a copy of all: rows may fill the memory. Row numbers that `order` leaves
// out are let go.
void take_rows(Matrix<float>& features, const std::vector<std::size_t>& order) {
  std::vector<std::size_t> from = order;  // an order of all rows, those let go at its end
  std::vector<bool> kept(features.rows(), false);
  for (const std::size_t row : order) kept[row] = true;
  for (std::size_t row = 0; row < features.rows(); ++row) {
    if (!kept[row]) from.push_back(row);
  }
  constexpr std::size_t kFetched = 512;  // rows at a time
  std::vector<float> first(features.cols());
  std::vector<std::size_t> cycle;  // rows each of which becomes the next
  for (std::size_t start = 0; start < from.size(); ++start) {
    if (from[start] == start) continue;
    cycle.clear();
    for (std::size_t row = start; from[row] != row; row = std::exchange(from[row], row)) cycle.push_back(row);
    std::copy(features.row(start).begin(), features.row(start).end(), first.begin());
    for (std::size_t i = 0; i + 1 < cycle.size(); ++i) {
      for (std::size_t k = i + 1; i % kFetched == 0 && k < std::min(i + 1 + kFetched, cycle.size()); ++k) {
        features.expect_row(cycle[k]);
      }
      const auto row = features.row(cycle[i + 1]);
      std::copy(row.begin(), row.end(), features.row(cycle[i]).begin());
    }
    std::copy(first.begin(), first.end(), features.row(cycle.back()).begin());
  }
  features.keep_first(order.size());
}

template <class T>
void take(std::vector<T>& values, const std::vector<std::size_t>& order) {
  if (values.empty()) return;
  std::vector<T> taken;
  taken.reserve(order.size());
  for (const std::size_t row : order) taken.push_back(std::move(values[row]));
  values = std::move(taken);
}

}  // namespace

std::vector<std::size_t> settle_rows(TrainingData& data) {
  LabelledRows& rows = data.rows;
  std::vector<std::size_t> order = rows_that_count(rows);
  const Before before(data);
  std::stable_sort(order.begin(), order.end(), std::cref(before));
  if (order.size() < rows.labels.size() || !std::is_sorted(order.begin(), order.end())) {
    take_rows(rows.features, order);
    take(rows.labels, order);
    take(rows.weights, order);
    take(data.paths, order);
  }
  const auto& weights = rows.weights;
  if (std::adjacent_find(weights.begin(), weights.end(), std::not_equal_to<>()) == weights.end()) rows.weights.clear();
  return order;
}

TrainingData settled_run(const FeatureSet& set, std::span<const std::uint32_t> rows, Team& team) {
  const std::vector<std::int32_t> labels = set.labels_of(rows);
  const std::vector<std::size_t> counts = class_counts(labels, set.classes());
  TrainingData data{{{}, {}, set.classes(), {}, RowCut(team, rows.size())}, {}, {}, {}};
  const Slice own = data.rows.cut.own(rows.size());
  std::vector<bool> touched(counts.size(), false);  // classes of which rows are in the run
  std::size_t first = rows.size();                  // place of the first row of these
  for (std::size_t c = 0; c < counts.size(); ++c) {
    const std::size_t place = data.rows.labels.size();
    data.rows.labels.insert(data.rows.labels.end(), counts[c], static_cast<std::int32_t>(c));
    touched[c] = place < own.first + own.count && own.first < place + counts[c];
    if (touched[c]) first = std::min(first, place);
  }
  std::vector<std::uint32_t> some;
  std::vector<std::size_t> number;  // of these among all rows
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!touched[static_cast<std::size_t>(labels[i])]) continue;
    some.push_back(rows[i]);
    number.push_back(i);
  }
  TrainingData sorted{gather(set, some), paths_of(set, some), {}, {}};
  const std::vector<std::size_t> order = settle_rows(sorted);
  data.rows.features = std::move(sorted.rows.features);
  if (own.count > 0) {
    const auto from = data.rows.features.row(own.first - first).data();
    std::copy_n(from, own.count * set.dimension(), data.rows.features.data());
  }
  data.rows.features.keep_first(own.count);
  if (set.paths().empty()) return data;
  std::vector<double> places(rows.size(), 0.0);  // which row each place has, of all processes
  for (std::size_t i = 0; i < own.count; ++i) {
    places[own.first + i] = static_cast<double>(number[order[own.first - first + i]]);
  }
  team.sum(places);
  std::vector<std::uint32_t> all;
  all.reserve(rows.size());
  for (const double place : places) all.push_back(rows[static_cast<std::size_t>(place)]);
  data.paths = paths_of(set, all);
  return data;
}

}  // namespace annulus
