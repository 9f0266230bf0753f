// Means, lengths and concatenation.
#include "annulus/pipeline/joined_row.h"

#include <algorithm>
#include <cmath>

#include "annulus/vision/backbone/image_feature.h"

namespace annulus {
namespace {

void scale_to_one(std::span<float> row) {
  double squares = 0.0;
  for (const float value : row) squares += static_cast<double>(value) * static_cast<double>(value);
  const auto scale = static_cast<float>(1.0 / std::sqrt(squares));
  for (float& value : row) value *= scale;
}

}  // namespace

void join_row(std::span<const std::size_t> dimensions, std::span<const std::size_t> views, const std::string& source,
              const ViewFeatures& features, std::span<float> out) {
  std::size_t first = 0;
  for (std::size_t part = 0; part < dimensions.size(); ++part) {
    const std::span<float> own = out.subspan(first, dimensions[part]);
    first += own.size();
    std::fill(own.begin(), own.end(), 0.0F);
    for (const std::size_t view : views) {
      const std::span<const float> row = features(part, view);
      std::transform(own.begin(), own.end(), row.begin(), own.begin(), std::plus<>());
    }
    for (float& value : own) value /= static_cast<float>(views.size());
    check_feature_row(own, source);
    if (dimensions.size() > 1) scale_to_one(own);
  }
}

}  // namespace annulus
