// Asks the rows that are likely to be named otherwise, and counts.
#include "annulus/learn/growth_report.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "annulus/learn/prediction.h"

namespace annulus {
namespace {

// Rows that are asked at most, half of them of classes alike: two products of as many rows and all classes.
constexpr std::size_t kMostNamedTwice = 1024;

double mean_cosine(std::span<const float> left, std::span<const float> right) {
  double sum = 0.0;
  for (std::size_t j = 0; j < left.size(); ++j) sum += static_cast<double>(left[j]) * static_cast<double>(right[j]);
  return sum;
}

}  // namespace

std::vector<std::size_t> most_alike_first(const Matrix<float>& means, const std::vector<bool>& changed) {
  std::vector<double> nearness(means.rows(), -2.0);
  for (std::size_t other = 0; other < means.rows(); ++other) {
    if (!changed[other]) continue;
    for (std::size_t c = 0; c < means.rows(); ++c) {
      nearness[c] = std::max(nearness[c], changed[c] ? 2.0 : mean_cosine(means.row(c), means.row(other)));
    }
  }
  std::vector<std::size_t> order(means.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t left, std::size_t right) { return nearness[left] > nearness[right]; });
  return order;
}

std::vector<std::size_t> rows_to_ask(const Matrix<float>& means, const std::vector<bool>& changed,
                                     std::span<const std::int32_t> labels) {
  std::vector<std::size_t> asked;
  if (labels.size() <= kMostNamedTwice) {
    asked.resize(labels.size());
    std::iota(asked.begin(), asked.end(), std::size_t{0});
    return asked;
  }
  const std::vector<std::size_t> counts = class_counts(labels, means.rows());
  std::vector<bool> alike(means.rows(), false);
  std::size_t near_rows = 0;
  if (std::find(changed.begin(), changed.end(), true) != changed.end()) {
    for (const std::size_t c : most_alike_first(means, changed)) {
      if (near_rows + counts[c] > kMostNamedTwice / 2) break;
      alike[c] = true;
      near_rows += counts[c];
    }
  }
  const std::size_t others = labels.size() - near_rows;
  const std::size_t wanted = std::min(others, kMostNamedTwice - near_rows);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (alike[static_cast<std::size_t>(labels[i])]) {
      asked.push_back(i);
      continue;
    }
    // Those at which the number of rows taken so far grows.
    if ((seen + 1) * wanted / others > seen * wanted / others) asked.push_back(i);
    ++seen;
  }
  return asked;
}

Matrix<float> gather_rows(ConstMatrixView<float> rows, std::span<const std::size_t> chosen) {
  Matrix<float> result(chosen.size(), rows.cols());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto row = rows.row(chosen[i]);
    std::copy(row.begin(), row.end(), result.row(i).begin());
  }
  return result;
}

std::vector<std::int32_t> name_conditioned(Head<float>& head, ConstMatrixView<float> rows, int threads) {
  Conditioning conditioning = std::exchange(head.conditioning, {});
  std::vector<std::int32_t> named = predict_classes(head, rows, threads);
  head.conditioning = std::move(conditioning);
  return named;
}

void compare_answers(const Model& model, std::span<const std::size_t> asked, std::span<const std::int32_t> before,
                     std::span<const std::int32_t> after, GrowthReport& report) {
  std::vector<ClassChange> classes(model.class_names.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::int32_t label = model.support.labels[asked[i]];
    ClassChange& change = classes[static_cast<std::size_t>(label)];
    ++change.rows;
    if (before[i] == label) ++change.right_before;
    if (after[i] == label) ++change.right_after;
    if (before[i] != after[i]) ++change.changed;
  }
  for (std::size_t c = 0; c < classes.size(); ++c) {
    report.asked += classes[c].rows;
    report.changed += classes[c].changed;
    report.right_before += classes[c].right_before;
    report.right_after += classes[c].right_after;
    if (classes[c].changed == 0) continue;
    classes[c].name = model.class_names[c];
    report.classes.push_back(std::move(classes[c]));
  }
  const auto gain = [](const ClassChange& change) {
    return static_cast<std::ptrdiff_t>(change.right_after) - static_cast<std::ptrdiff_t>(change.right_before);
  };
  std::stable_sort(report.classes.begin(), report.classes.end(),
                   [&](const ClassChange& left, const ClassChange& right) { return gain(left) < gain(right); });
}

void find_most_alike(const Model& model, const Matrix<float>& means, std::size_t chosen, GrowthReport& report) {
  report.alike_cosine = -2.0;
  for (std::size_t c = 0; c < means.rows(); ++c) {
    if (c == chosen) continue;
    const double found = mean_cosine(means.row(c), means.row(chosen));
    if (found <= report.alike_cosine) continue;
    report.alike_cosine = found;
    report.most_alike = model.class_names[c];
  }
}

}  // namespace annulus
