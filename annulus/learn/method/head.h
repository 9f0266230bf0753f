// Classification heads: the cosine head with weight norm (default) and the plain linear head with bias.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/slice.h"
#include "annulus/learn/transform/feature_transform.h"

namespace annulus {

enum class HeadKind : std::uint8_t {
  kCosine,  // logit_j = scale * w_j . x / (|x| + 1e-5), w_j = gain_j * direction_j / |direction_j|
  kLinear,  // logit_j = w_j . x + bias_j, w_j = direction_j
};

inline constexpr double kCosineScale = 10.0;
inline constexpr double kNormGuard = 1e-5;  // added to |x| before it divides

std::string_view to_string(HeadKind kind);
HeadKind head_kind_from(std::string_view name);  // throws Error{kUsage}

// The learned numbers of a head; the trainer changes them in place. T is float for use, double for proofs.
template <class T>
struct Head {
  HeadKind kind = HeadKind::kCosine;
  Matrix<T> direction;           // classes x dimension
  std::vector<T> gain;           // cosine: one a class; linear: empty
  std::vector<T> bias;           // linear: one a class; cosine: empty
  FeatureTransform transform{};  // from raw features to the rows it was trained on, before they are scaled to length 1

  std::size_t classes() const { return direction.rows(); }
  std::size_t dimension() const { return direction.cols(); }
  Head clone() const { return {kind, direction.clone(), gain, bias, transform}; }
};

// A fresh head: directions (and biases) uniform in (-1/sqrt(d), 1/sqrt(d)), gains the lengths of the directions; a pure
// function of (seed, stream).
template <class T>
Head<T> initial_head(HeadKind kind, std::size_t classes, std::size_t dimension, std::uint64_t seed,
                     std::uint32_t stream);
// A block of its classes.
template <class T>
Head<T> initial_head(HeadKind kind, std::size_t classes, std::size_t dimension, std::uint64_t seed,
                     std::uint32_t stream, Slice block);

// The effective weights w_j (classes x dimension).
template <class T>
void effective_weights(const Head<T>& head, MatrixView<T> weights);

// out(i, j) = logit of class j for rows(i): rows are used as given, so normalise them first where training did.
template <class T>
void compute_logits(const Head<T>& head, ConstMatrixView<T> rows, MatrixView<T> out, int threads = 0);

}  // namespace annulus
