// k nearest neighbours as a method: the majority class of the k nearest training examples.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {
namespace {

constexpr std::size_t kMostNeighbours = 5;  // scikit-learn's default

struct Examples {
  Matrix<float> rows;  // of unit length
  std::vector<std::int32_t> labels;
  std::size_t classes = 0;
  std::size_t neighbours = 0;
};

// With more neighbours than a class has examples, every vote would include other classes however clear the prediction;
// with one example per class, five neighbours would always be a tie.
std::size_t neighbours_for(const LabelledExamples& support) {
  const std::vector<std::size_t> counts = class_counts(support.labels, support.classes);
  return std::min(kMostNeighbours, *std::min_element(counts.begin(), counts.end()));
}

// Of classes with equal votes the first; of equally near examples the first.
std::int32_t vote(const Examples& examples, std::span<const float> nearness, std::vector<std::size_t>& order) {
  order.resize(nearness.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(examples.neighbours);
  std::partial_sort(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) {
    return nearness[a] != nearness[b] ? nearness[a] > nearness[b] : a < b;
  });
  std::vector<std::int32_t> voters;
  for (auto row = order.begin(); row != end; ++row) voters.push_back(examples.labels[*row]);
  std::sort(voters.begin(), voters.end());
  std::int32_t winner = voters.front();
  std::ptrdiff_t most = 0;
  for (const std::int32_t label : voters) {
    const std::ptrdiff_t votes = std::count(voters.begin(), voters.end(), label);
    if (votes > most) {
      winner = label;
      most = votes;
    }
  }
  return winner;
}

}  // namespace

FittedMethod fit_nearest_neighbours_method(const LabelledExamples& support, const MethodContext& context,
                                           const ProgressCallback& progress) {
  report(progress, {"neighbours", 0, 1, {}});
  auto examples = std::make_shared<const Examples>(
      Examples{unit_rows<float>(support.features.view()), support.labels, support.classes, neighbours_for(support)});
  FittedMethod fitted;
  fitted.predict = [examples = std::move(examples), threads = context.threads()](ConstMatrixView<float> rows) {
    // For rows of unit length the nearest is the one with the largest cosine.
    const Matrix<float> nearness = cosines(rows, examples->rows.view(), threads);
    std::vector<std::int32_t> classes(rows.rows());
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = vote(*examples, nearness.row(i), order);
    return classes;
  };
  return fitted;
}

}  // namespace annulus
