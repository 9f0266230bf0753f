// How many rows a head gets right.
#pragma once

#include <cstddef>

#include "annulus/learn/prediction.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

inline double percent_right(const Head<float>& head, const LabelledRows& rows) {
  const auto predicted = predict_classes(head, rows.features.view(), 1);
  std::size_t right = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) right += predicted[i] == rows.labels[i] ? 1U : 0U;
  return 100.0 * static_cast<double>(right) / static_cast<double>(predicted.size());
}

}  // namespace annulus
