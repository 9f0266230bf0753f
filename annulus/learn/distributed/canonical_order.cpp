// Sorts training examples and drops those that do not count.
#include "annulus/learn/distributed/canonical_order.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/row_order.h"
#include "annulus/kernels/row_range.h"
#include "annulus/learn/distributed/class_order.h"

namespace annulus {
namespace {

std::vector<std::size_t> rows_that_count(const LabelledExamples& rows) {
  std::vector<std::size_t> kept(rows.labels.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  if (rows.weights.empty()) return kept;
  if (rows.weights.size() != rows.labels.size()) {
    fail(ErrorKind::kInput, "expected a weight for each of the {} training examples, found {}", rows.labels.size(),
         rows.weights.size());
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!(rows.weights[i] >= 0.0F) || !std::isfinite(rows.weights[i])) {
      fail(ErrorKind::kInput, "expected finite weights of 0 or more, found {} at training example {}", rows.weights[i],
           i);
    }
  }
  std::erase_if(kept, [&](std::size_t row) { return rows.weights[row] == 0.0F; });
  if (kept.empty()) fail(ErrorKind::kInput, "expected a training example with a weight above 0, found none");
  return kept;
}

// Smaller: of a lower class, else with the smaller first number that differs, else of the smaller weight, else of the
// earlier path.
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
    const LabelledExamples& rows = data_.rows;
    if (rows.labels[left] != rows.labels[right]) return rows.labels[left] < rows.labels[right];
    if (first_[left] != first_[right]) return first_[left] < first_[right];
    const auto a = rows.features.row(left);
    const auto b = rows.features.row(right);
    const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin());
    if (in_a != a.end()) return *in_a < *in_b;
    if (!rows.weights.empty() && rows.weights[left] != rows.weights[right]) {
      return rows.weights[left] < rows.weights[right];
    }
    return !data_.paths.empty() && data_.paths[left] < data_.paths[right];
  }

 private:
  const TrainingData& data_;
  std::vector<float>
      first_;  // the first number of each row: most comparisons need no other, and rows may lie on a disk
};

// Positions of the rows that count, in ascending order of class, features, weight and path.
std::vector<std::size_t> sorted_rows(const TrainingData& data) {
  std::vector<std::size_t> order = rows_that_count(data.rows);
  const Before before(data);
  std::stable_sort(order.begin(), order.end(), std::cref(before));
  return order;
}

void rearrange(TrainingData& data, std::span<const std::size_t> order) {
  LabelledExamples& rows = data.rows;
  if (order.size() < rows.labels.size() || !std::is_sorted(order.begin(), order.end())) {
    take_rows(rows.features, order);
    take(rows.labels, order);
    take(rows.weights, order);
    take(rows.groups, order);
    take(data.paths, order);
  }
  const auto& weights = rows.weights;
  if (std::adjacent_find(weights.begin(), weights.end(), std::not_equal_to<>()) == weights.end()) rows.weights.clear();
}

void renumber(std::span<std::int32_t> labels, std::span<const std::size_t> class_order) {
  const std::vector<std::size_t> numbers = inverse_order(class_order);
  for (std::int32_t& label : labels) label = static_cast<std::int32_t>(numbers[static_cast<std::size_t>(label)]);
}

// Compares classes of a set of which every process reads what it compares.
class ClassesOfSet {
 public:
  ClassesOfSet(const FeatureSet& set, std::span<const std::uint32_t> rows, std::span<const std::int32_t> labels)
      : set_(set), rows_(set.classes()) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows_[static_cast<std::size_t>(labels[i])].push_back(rows[i]);
  }

  // Each process finds the first examples of some classes.
  std::vector<std::size_t> by_content(Communicator& communicator) {
    std::vector<double> first(rows_.size(), 0.0);
    const Slice own = slice_of(rows_.size(), communicator.size(), communicator.rank());
    for (std::size_t c = own.first; c < own.first + own.count; ++c) {
      if (!rows_[c].empty()) first[c] = static_cast<double>(first_of(rows_[c]));
    }
    communicator.sum(first);
    ClassContent content;
    for (const auto& rows : rows_) content.counts.push_back(rows.size());
    content.names = set_.class_names();
    content.row = [&](std::size_t of_class, std::size_t place, std::vector<float>& buffer) {
      return place == 0 ? read(static_cast<std::uint32_t>(first[of_class]), buffer)
                        : read(in_order(of_class)[place], buffer);
    };
    return classes_by_content(content);
  }

 private:
  std::span<const float> read(std::uint32_t row, std::vector<float>& buffer) const {
    buffer.resize(set_.dimension());
    set_.copy_rows(std::span(&row, 1), {buffer.data(), 1, buffer.size()});
    bring_into_range(buffer);
    return buffer;
  }

  std::uint32_t first_of(std::span<const std::uint32_t> rows) const {
    std::vector<float> smallest;
    std::vector<float> buffer;
    read(rows.front(), smallest);
    std::uint32_t first = rows.front();
    for (const std::uint32_t row : rows.subspan(1)) {
      read(row, buffer);
      if (!std::lexicographical_compare(buffer.begin(), buffer.end(), smallest.begin(), smallest.end())) continue;
      std::swap(buffer, smallest);
      first = row;
    }
    return first;
  }

  // Only asked for where classes have the same first example.
  const std::vector<std::uint32_t>& in_order(std::size_t of_class) {
    const auto [found, is_new] = in_order_.try_emplace(of_class);
    if (is_new) {
      const auto& rows = rows_[of_class];
      for (const std::size_t place : sorted_rows({gather(set_, rows), {}, {}, {}}))
        found->second.push_back(rows[place]);
    }
    return found->second;
  }

  const FeatureSet& set_;
  std::vector<std::vector<std::uint32_t>> rows_;                // of each class
  std::map<std::size_t, std::vector<std::uint32_t>> in_order_;  // the same in canonical order
};

}  // namespace

std::vector<std::size_t> to_canonical_order(TrainingData& data) {
  std::vector<std::size_t> order = sorted_rows(data);
  rearrange(data, order);
  return order;
}

void to_content_order(TrainingData& data) {
  const std::vector<std::size_t> sorted = sorted_rows(data);
  const LabelledExamples& rows = data.rows;
  ClassContent content;
  content.counts.assign(rows.classes, 0);
  content.names = data.class_names;
  for (const std::size_t row : sorted) ++content.counts[static_cast<std::size_t>(rows.labels[row])];
  std::vector<std::size_t> starts(rows.classes, 0);  // of each class in `sorted`
  std::exclusive_scan(content.counts.begin(), content.counts.end(), starts.begin(), std::size_t{0});
  content.row = [&](std::size_t of_class, std::size_t place, std::vector<float>&) {
    return rows.features.row(sorted[starts[of_class] + place]);
  };
  if (!rows.weights.empty()) {
    content.weight = [&](std::size_t of_class, std::size_t place) {
      return rows.weights[sorted[starts[of_class] + place]];
    };
  }
  data.class_order = classes_by_content(content);
  std::vector<std::size_t> order;
  order.reserve(sorted.size());
  for (const std::size_t c : data.class_order) {
    const auto first = sorted.begin() + static_cast<std::ptrdiff_t>(starts[c]);
    order.insert(order.end(), first, first + static_cast<std::ptrdiff_t>(content.counts[c]));
  }
  rearrange(data, order);
  renumber(data.rows.labels, data.class_order);
}

TrainingData canonical_partition(const FeatureSet& set, std::span<const std::uint32_t> rows,
                                 Communicator& communicator) {
  std::vector<std::int32_t> labels = set.labels_of(rows);
  TrainingData data{{{}, {}, set.classes(), {}, Partition(communicator, rows.size())}, {}, {}, {}};
  data.class_order = ClassesOfSet(set, rows, labels).by_content(communicator);
  renumber(labels, data.class_order);
  const std::vector<std::size_t> counts = class_counts(labels, set.classes());
  const Slice own = data.rows.partition.own(rows.size());
  std::vector<bool> touched(counts.size(), false);  // classes with rows in the partition
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
  renumber(sorted.rows.labels, data.class_order);
  const std::vector<std::size_t> order = to_canonical_order(sorted);
  data.rows.features = std::move(sorted.rows.features);
  if (own.count > 0) {
    const auto from = data.rows.features.row(own.first - first).data();
    std::copy_n(from, own.count * set.dimension(), data.rows.features.data());
  }
  data.rows.features.keep_first(own.count);
  if (set.paths().empty() && set.groups().empty()) return data;
  std::vector<double> places(rows.size(), 0.0);  // which row each place has, of all processes
  for (std::size_t i = 0; i < own.count; ++i) {
    places[own.first + i] = static_cast<double>(number[order[own.first - first + i]]);
  }
  communicator.sum(places);
  std::vector<std::uint32_t> all;
  all.reserve(rows.size());
  for (const double place : places) all.push_back(rows[static_cast<std::size_t>(place)]);
  data.paths = paths_of(set, all);
  data.rows.groups = groups_of(set, all);
  return data;
}

}  // namespace annulus
