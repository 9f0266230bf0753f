// Bicubic resizing as two products with a small matrix of weights.
#include "annulus/vision/networks/position_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace annulus {
namespace {

double cubic(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

// Row i holds the weight of each of the `from` inputs in output i.
std::vector<double> plain_weights(int from, int to, double ratio) {
  std::vector<double> weights(static_cast<std::size_t>(from) * static_cast<std::size_t>(to), 0.0);
  for (int i = 0; i < to; ++i) {
    const double centre = (i + 0.5) / ratio - 0.5;
    const int first = static_cast<int>(std::floor(centre)) - 1;
    for (int tap = first; tap < first + 4; ++tap) {
      const int source = std::clamp(tap, 0, from - 1);
      weights[static_cast<std::size_t>(i * from + source)] += cubic(centre - tap, -0.75);
    }
  }
  return weights;
}

std::vector<double> antialiased_weights(int from, int to) {
  std::vector<double> weights(static_cast<std::size_t>(from) * static_cast<std::size_t>(to), 0.0);
  const double scale = static_cast<double>(from) / to;
  const double stretch = std::max(scale, 1.0);
  for (int i = 0; i < to; ++i) {
    const double centre = scale * (i + 0.5);
    const int first = std::max(0, static_cast<int>(centre - 2 * stretch + 0.5));
    const int end = std::min(from, static_cast<int>(centre + 2 * stretch + 0.5));
    double total = 0;
    for (int source = first; source < end; ++source) {
      const double weight = cubic((source - centre + 0.5) / stretch, -0.5);
      weights[static_cast<std::size_t>(i * from + source)] = weight;
      total += weight;
    }
    for (int source = first; source < end; ++source) weights[static_cast<std::size_t>(i * from + source)] /= total;
  }
  return weights;
}

}  // namespace

std::vector<float> resize_positions(std::span<const float> table, int from, int to, int width, PositionResize how) {
  constexpr double kOffset = 0.1;
  const double ratio = (to + (how == PositionResize::kOffset ? kOffset : 0.0)) / from;
  const auto weights =
      how == PositionResize::kAntialias ? antialiased_weights(from, to) : plain_weights(from, to, ratio);
  const auto from_size = static_cast<std::size_t>(from);
  const auto to_size = static_cast<std::size_t>(to);
  const auto numbers = static_cast<std::size_t>(width);

  // Columns first, then rows.
  std::vector<double> half(from_size * to_size * numbers, 0.0);
  for (std::size_t y = 0; y < from_size; ++y) {
    for (std::size_t x = 0; x < to_size; ++x) {
      for (std::size_t source = 0; source < from_size; ++source) {
        const double weight = weights[x * from_size + source];
        if (weight == 0) continue;
        for (std::size_t k = 0; k < numbers; ++k) {
          half[(y * to_size + x) * numbers + k] +=
              weight * static_cast<double>(table[(y * from_size + source) * numbers + k]);
        }
      }
    }
  }
  std::vector<float> resized(to_size * to_size * numbers);
  std::vector<double> row(to_size * numbers);
  for (std::size_t y = 0; y < to_size; ++y) {
    std::fill(row.begin(), row.end(), 0.0);
    for (std::size_t source = 0; source < from_size; ++source) {
      const double weight = weights[y * from_size + source];
      if (weight == 0) continue;
      for (std::size_t k = 0; k < row.size(); ++k) row[k] += weight * half[source * row.size() + k];
    }
    for (std::size_t k = 0; k < row.size(); ++k) resized[y * row.size() + k] = static_cast<float>(row[k]);
  }
  return resized;
}

bool is_sine_cosine_table(std::span<const float> table, int width) {
  const auto numbers = static_cast<std::size_t>(width);
  if (numbers < 4 || numbers % 4 != 0 || table.size() < 2 * numbers) return false;
  // The class token's position is zero; at (0, 0) every sine is 0 and every cosine 1.
  for (std::size_t k = 0; k < numbers; ++k) {
    const float origin = (k / (numbers / 4)) % 2 == 0 ? 0.0F : 1.0F;
    if (table[k] != 0.0F || table[numbers + k] != origin) return false;
  }
  return true;
}

}  // namespace annulus
