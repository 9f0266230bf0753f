// Generates prototypes and examples around them.
#include "annulus/task/synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/base/random.h"
#include "annulus/kernels/gaussian.h"

namespace annulus {
namespace {

constexpr std::uint32_t kMeanStream = 0;
constexpr std::uint32_t kRowStream = 1;
constexpr double kMostNumbers = 1e9;

void check(const SyntheticOptions& options) {
  if (options.classes < 2 || options.train_rows == 0 || options.dimension == 0) {
    fail(ErrorKind::kUsage,
         "expected at least 2 classes, 1 training example per class and 1 dimension, found {} classes, {} examples and "
         "{} "
         "dimensions",
         options.classes, options.train_rows, options.dimension);
  }
  const double numbers = static_cast<double>(options.classes) * static_cast<double>(options.dimension) *
                         (static_cast<double>(options.train_rows) + static_cast<double>(options.test_rows));
  if (numbers > kMostNumbers) {
    fail(ErrorKind::kUsage, "expected at most {:.0e} generated values, but the options ask for {:.2e}", kMostNumbers,
         numbers);
  }
}

// Digits of the largest class index, so that names sort like indices.
std::size_t name_digits(std::size_t classes) { return std::max<std::size_t>(3, std::to_string(classes - 1).size()); }

// Standard deviations whose squares fall off as (1 + j)^-decay and sum to spread^2.
std::vector<float> spectrum(std::size_t dimension, double decay, double spread) {
  std::vector<double> variances(dimension);
  double sum = 0.0;
  for (std::size_t j = 0; j < dimension; ++j) {
    variances[j] = std::pow(1.0 + static_cast<double>(j), -decay);
    sum += variances[j];
  }
  std::vector<float> deviations(dimension);
  for (std::size_t j = 0; j < dimension; ++j)
    deviations[j] = static_cast<float>(spread * std::sqrt(variances[j] / sum));
  return deviations;
}

}  // namespace

FeatureSet make_synthetic(const SyntheticOptions& options) {
  check(options);
  const std::vector<float> mean_scale = spectrum(options.dimension, options.mean_decay, 1.0);
  const std::vector<float> noise_scale = spectrum(options.dimension, options.noise_decay, options.noise);
  Matrix<float> means(options.classes, options.dimension);
  fill_gaussian({options.seed, RandomUse::kSynthetic, kMeanStream}, 0, {means.data(), means.rows() * means.cols()});

  const std::size_t rows_a_class = options.train_rows + options.test_rows;
  Matrix<float> features(options.classes * rows_a_class, options.dimension);
  const RandomStream stream{options.seed, RandomUse::kSynthetic, kRowStream};
  parallel_for(0, options.classes, [&](std::size_t c) {
    const std::span<const float> mean = std::as_const(means).row(c);
    for (std::size_t i = c * rows_a_class; i < (c + 1) * rows_a_class; ++i) {
      const std::span<float> row = features.row(i);
      fill_gaussian(stream, i * options.dimension, row);
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = mean_scale[j] * mean[j] + noise_scale[j] * row[j];
    }
  });

  FeatureSetParts parts = parts_of(std::move(features));
  for (std::size_t c = 0; c < options.classes; ++c) {
    parts.class_names.push_back(fmt::format("class-{:0{}}", c, name_digits(options.classes)));
    parts.labels.insert(parts.labels.end(), rows_a_class, static_cast<std::int32_t>(c));
    parts.is_train.insert(parts.is_train.end(), options.train_rows, 1);
    parts.is_train.insert(parts.is_train.end(), options.test_rows, 0);
  }
  parts.provenance = {{"generator", "annulus synthetic"}, {"seed", std::to_string(options.seed)}};
  parts.source = fmt::format("synthetic features of seed {}", options.seed);
  return FeatureSet(std::move(parts));
}

}  // namespace annulus
