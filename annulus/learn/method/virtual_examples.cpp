// Normalised training examples and the shape of the noise around them.
#include "annulus/learn/method/virtual_examples.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/kernels/rows.h"

namespace annulus {

std::string_view to_string(NoiseShape shape) { return shape == NoiseShape::kEllipsoidal ? "ellipsoidal" : "spherical"; }

std::string_view to_string(NoiseSharing sharing) {
  switch (sharing) {
    case NoiseSharing::kIndependent:
      return "independent";
    case NoiseSharing::kShared:
      return "shared";
    case NoiseSharing::kGrouped:
      break;
  }
  return "grouped";
}

NoiseShape noise_shape_from(std::string_view name) {
  if (name == "ellipsoidal") return NoiseShape::kEllipsoidal;
  if (name == "spherical") return NoiseShape::kSpherical;
  fail(ErrorKind::kUsage, "expected a noise shape of ellipsoidal or spherical, found \"{}\"", name);
}

NoiseSharing noise_sharing_from(std::string_view name) {
  for (const auto sharing : {NoiseSharing::kIndependent, NoiseSharing::kShared, NoiseSharing::kGrouped}) {
    if (name == to_string(sharing)) return sharing;
  }
  fail(ErrorKind::kUsage, "expected noise to be independent, shared or grouped, found \"{}\"", name);
}

namespace {

// Weights with a mean of 1; none where there are none.
template <class T>
std::vector<T> mean_one(std::span<const float> weights, std::size_t rows) {
  if (!weights.empty() && weights.size() != rows) {
    fail(ErrorKind::kInput, "expected a weight for each of the {} training examples, found {}", rows, weights.size());
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0.0F) || !std::isfinite(weights[i])) {
      fail(ErrorKind::kInput, "expected finite weights above 0, found {} at training example {}", weights[i], i);
    }
    sum += static_cast<double>(weights[i]);
  }
  std::vector<T> scaled;
  scaled.reserve(weights.size());
  for (const float weight : weights) {
    scaled.push_back(static_cast<T>(static_cast<double>(weight) * static_cast<double>(rows) / sum));
  }
  return scaled;
}

// s of section 4.2 of the paper: the sample standard deviation (n - 1) of each column over all classes, in double
// whatever T is. Weights have a mean of 1.
template <class T>
std::vector<T> column_deviations(const TrainingExamples<T>& training) {
  const Matrix<T>& features = training.features;
  const std::size_t rows = training.rows();
  const std::size_t first = training.partition.own(rows).first;
  const std::size_t cols = features.cols();
  std::vector<double> mean(cols, 0.0);
  std::vector<double> squares(cols, 0.0);
  const auto weight = [&](std::size_t i) {
    return training.weights.empty() ? 1.0 : static_cast<double>(training.weights[first + i]);
  };
  for (std::size_t i = 0; i < features.rows(); ++i) {
    for (std::size_t j = 0; j < cols; ++j) mean[j] += weight(i) * static_cast<double>(features(i, j));
  }
  training.partition.sum(mean);
  for (double& value : mean) value /= static_cast<double>(rows);
  for (std::size_t i = 0; i < features.rows(); ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      const double difference = static_cast<double>(features(i, j)) - mean[j];
      squares[j] += weight(i) * difference * difference;
    }
  }
  training.partition.sum(squares);
  std::vector<T> deviations(cols);
  for (std::size_t j = 0; j < cols; ++j) {
    deviations[j] = static_cast<T>(std::sqrt(squares[j] / static_cast<double>(rows - 1)));
  }
  return deviations;
}

}  // namespace

template <class T>
TrainingExamples<T> make_training_examples(Matrix<T> features, std::vector<std::int32_t> labels, std::size_t classes,
                                           NoiseShape shape, std::span<const float> weights, Partition partition) {
  if (classes < 2) fail(ErrorKind::kInput, "expected at least two classes to tell apart, found {}", classes);
  const Slice own = partition.own(labels.size());
  if (features.rows() != own.count) {
    fail(ErrorKind::kInput, "expected one label for each of the {} training examples, found {}", features.rows(),
         own.count);
  }
  TrainingExamples<T> rows{std::move(features), std::move(labels), classes, {}, {}, std::move(partition)};
  rows.weights = mean_one<T>(weights, rows.rows());
  std::vector<bool> seen(classes, false);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const std::int32_t label = rows.labels[i];
    if (label < 0 || static_cast<std::size_t>(label) >= classes) {
      fail(ErrorKind::kInput, "expected labels from 0 to {}, found {} at training example {}", classes - 1, label, i);
    }
    seen[static_cast<std::size_t>(label)] = true;
  }
  for (std::size_t i = 0; i < own.count; ++i) {
    const auto row = rows.features.row(i);
    const T length = std::sqrt(squared_length(std::span<const T>(row)));
    if (!(length > T{0}) || !std::isfinite(length)) {
      fail(ErrorKind::kInput, "expected a training example with a length to normalise, found length {} at row {}",
           length, own.first + i);
    }
    for (T& value : row) value /= length;
  }
  for (std::size_t c = 0; c < classes; ++c) {
    if (!seen[c]) fail(ErrorKind::kInput, "expected at least one example of every class, found none of class {}", c);
  }
  rows.noise_scale = shape == NoiseShape::kSpherical ? std::vector<T>(rows.dimension(), T{1}) : column_deviations(rows);
  return rows;
}

template <class T>
TrainingExamples<T> make_training_examples(ConstMatrixView<float> features, std::span<const std::int32_t> labels,
                                           std::size_t classes, NoiseShape shape) {
  Matrix<T> copy(features.rows(), features.cols());
  for (std::size_t i = 0; i < features.rows(); ++i) {
    const auto row = features.row(i);
    std::copy(row.begin(), row.end(), copy.row(i).begin());
  }
  return make_training_examples(std::move(copy), std::vector<std::int32_t>(labels.begin(), labels.end()), classes,
                                shape);
}

template TrainingExamples<float> make_training_examples(Matrix<float>, std::vector<std::int32_t>, std::size_t,
                                                        NoiseShape, std::span<const float>, Partition);
template TrainingExamples<double> make_training_examples(Matrix<double>, std::vector<std::int32_t>, std::size_t,
                                                         NoiseShape, std::span<const float>, Partition);
template TrainingExamples<float> make_training_examples(ConstMatrixView<float>, std::span<const std::int32_t>,
                                                        std::size_t, NoiseShape);
template TrainingExamples<double> make_training_examples(ConstMatrixView<float>, std::span<const std::int32_t>,
                                                         std::size_t, NoiseShape);

}  // namespace annulus
