// A row that moves by its radius along the worst direction stands on a boundary.
#include "annulus/learn/model/boundary_distance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "annulus/base/error.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/learn/model/support_index.h"

namespace annulus {
namespace {

Model sample(HeadKind kind) {
  Model model;
  model.head = initial_head<float>(kind, 3, 4, 7, 0);
  model.class_names = {"a", "b", "c"};
  model.support.features = Matrix<float>(4, 4);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      model.support.features(i, j) = 0.1F * static_cast<float>((3 * i + 5 * j + i * j) % 7 + 1);
    }
  }
  model.support.labels = {0, 1, 2, 2};
  return model;
}

TEST(BoundaryDistance, IsTheDistanceToTheNearestBoundaryInUnitsOfTheNoise) {
  for (const HeadKind kind : {HeadKind::kCosine, HeadKind::kLinear}) {
    for (const bool spherical : {false, true}) {
      Model model = sample(kind);
      if (spherical) model.training.noise_shape = NoiseShape::kSpherical;
      Matrix<float> row(1, 4);
      row(0, 0) = 0.5F;
      row(0, 1) = 0.5F;
      row(0, 2) = -0.5F;
      row(0, 3) = 0.5F;
      Matrix<float> logits(1, 3);
      predict_logits(model.head, row.view(), logits.view(), 1);
      const float radius = BoundaryDistance(model, SupportIndex(model.head.transform, model.support).rows())
                               .radii(logits.view(), 1)
                               .front();
      ASSERT_TRUE(std::isfinite(radius));
      ASSERT_GT(radius, 0.0F);
      // The spread of unit support examples in each dimension.
      std::vector<double> scale(4, 1.0);
      if (!spherical) {
        Matrix<double> unit(4, 4);
        for (std::size_t i = 0; i < 4; ++i) {
          double length = 0.0;
          for (std::size_t j = 0; j < 4; ++j) length += std::pow(model.support.features(i, j), 2);
          for (std::size_t j = 0; j < 4; ++j) unit(i, j) = model.support.features(i, j) / std::sqrt(length);
        }
        for (std::size_t j = 0; j < 4; ++j) {
          const double mean = (unit(0, j) + unit(1, j) + unit(2, j) + unit(3, j)) / 4.0;
          double squares = 0.0;
          for (std::size_t i = 0; i < 4; ++i) squares += std::pow(unit(i, j) - mean, 2);
          scale[j] = std::sqrt(squares / 3.0);
        }
      }
      // By hand: move by r along the worst direction for each class; the smallest r at which logits barrier.
      Matrix<float> weights(3, 4);
      effective_weights(model.head, weights.view());
      const double factor = kind == HeadKind::kCosine ? kCosineScale : 1.0;
      std::size_t top = 0;
      for (std::size_t c = 1; c < 3; ++c) top = logits(0, c) > logits(0, top) ? c : top;
      double least = 1e9;
      for (std::size_t c = 0; c < 3; ++c) {
        if (c == top) continue;
        double slope = 0.0;
        for (std::size_t j = 0; j < 4; ++j) {
          slope += std::pow(factor * scale[j] * static_cast<double>(weights(top, j) - weights(c, j)), 2);
        }
        least = std::min(least, static_cast<double>(logits(0, top) - logits(0, c)) / std::sqrt(slope));
      }
      EXPECT_NEAR(radius, least, 1e-4 * least);
    }
  }
}

TEST(BoundaryDistance, NeedsTrainingExamples) {
  Model model = sample(HeadKind::kCosine);
  model.support = {};
  EXPECT_THROW(BoundaryDistance(model, {}), Error);
}

}  // namespace
}  // namespace annulus
