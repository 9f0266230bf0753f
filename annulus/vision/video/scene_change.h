// Finds the frames of a video with which a scene begins.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "annulus/vision/image/image.h"

namespace annulus {

// Compares each frame with the one before, both shrunk to 32 x 18 pixels. A scene begins where the mean
// difference d of their values, and its rise over the difference before, min(d, |d - d before|), is at least a tenth of
// the range of a value. A slow pan, a fade and noise keep the rise small; a cut does not.
class SceneChange {
 public:
  // Whether `frame`, the next one, begins a scene; the first one does.
  bool begins(const Image& frame);

 private:
  static constexpr std::size_t kColumns = 32;
  static constexpr std::size_t kRows = 18;
  using Cells = std::array<double, 3 * kColumns * kRows>;

  std::optional<Cells> before_;
  double difference_ = 0;
};

}  // namespace annulus
