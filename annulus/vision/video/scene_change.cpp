// Shrinks frames and compares them.
#include "annulus/vision/video/scene_change.h"

#include <algorithm>
#include <cmath>

#include "annulus/vision/image/thumbnail.h"

namespace annulus {

bool SceneChange::begins(const Image& frame) {
  constexpr double kThreshold = 25.5;
  const Image small = shrink_image(frame, kColumns, kRows);
  Cells cells{};
  std::copy(small.pixels.get(), small.pixels.get() + cells.size(), cells.begin());
  if (!before_) {
    before_ = cells;
    return true;
  }
  double sum = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) sum += std::abs(cells[i] - (*before_)[i]);
  const double difference = sum / static_cast<double>(cells.size());
  const double rise = std::abs(difference - difference_);
  before_ = cells;
  difference_ = difference;
  return std::min(difference, rise) >= kThreshold;
}

}  // namespace annulus
