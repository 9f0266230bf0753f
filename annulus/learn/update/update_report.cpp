// Predicts the examples most likely to be affected before and after an update, and counts the changes.
#include "annulus/learn/update/update_report.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

// At most this many examples are checked, half of them of similar classes. Cost: two products of as many rows and all
// classes.
constexpr std::size_t kMostChecked = 1024;

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

std::vector<std::size_t> examples_to_check(const Matrix<float>& means, const std::vector<bool>& changed,
                                           std::span<const std::int32_t> labels) {
  std::vector<std::size_t> checked;
  if (labels.size() <= kMostChecked) {
    checked.resize(labels.size());
    std::iota(checked.begin(), checked.end(), std::size_t{0});
    return checked;
  }
  const std::vector<std::size_t> counts = class_counts(labels, means.rows());
  std::vector<bool> alike(means.rows(), false);
  std::size_t near_rows = 0;
  if (std::find(changed.begin(), changed.end(), true) != changed.end()) {
    for (const std::size_t c : most_alike_first(means, changed)) {
      if (near_rows + counts[c] > kMostChecked / 2) break;
      alike[c] = true;
      near_rows += counts[c];
    }
  }
  const std::size_t others = labels.size() - near_rows;
  const std::size_t wanted = std::min(others, kMostChecked - near_rows);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (alike[static_cast<std::size_t>(labels[i])]) {
      checked.push_back(i);
      continue;
    }
    // Evenly spaced: those at which the rounded count increases.
    if ((seen + 1) * wanted / others > seen * wanted / others) checked.push_back(i);
    ++seen;
  }
  return checked;
}

Matrix<float> gather_rows(ConstMatrixView<float> rows, std::span<const std::size_t> chosen) {
  Matrix<float> result(chosen.size(), rows.cols());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto row = rows.row(chosen[i]);
    std::copy(row.begin(), row.end(), result.row(i).begin());
  }
  return result;
}

void compare_predictions(const Model& model, std::span<const std::size_t> checked, std::span<const std::int32_t> before,
                         std::span<const std::int32_t> after, UpdateReport& report) {
  std::vector<ClassChange> classes(model.class_names.size());
  for (std::size_t i = 0; i < checked.size(); ++i) {
    const std::int32_t label = model.support.labels[checked[i]];
    ClassChange& change = classes[static_cast<std::size_t>(label)];
    ++change.examples;
    if (before[i] == label) ++change.right_before;
    if (after[i] == label) ++change.right_after;
    if (before[i] != after[i]) ++change.changed;
  }
  for (std::size_t c = 0; c < classes.size(); ++c) {
    report.checked += classes[c].examples;
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

void find_most_alike(const Model& model, const Matrix<float>& means, std::size_t chosen, UpdateReport& report) {
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
