// Adam fused with weight normalisation: one call updates a row of a head and computes its new effective weights.
#pragma once

#include <cstddef>

namespace annulus {

// The constants of one Adam step, with the bias corrections computed once.
template <class T>
struct AdamStep {
  T beta1, beta2;
  T rest1, rest2;  // 1 - beta, computed in double: in float 1 - 0.999 is wrong in the fifth digit
  T step_size;     // learning rate / (1 - beta1^t)
  T second_scale;  // 1 / sqrt(1 - beta2^t)
  T guard;         // added to the root of the second moment

  // Step number `step` counts from 1.
  static AdamStep at(double learning_rate, std::size_t step, double beta1 = 0.9, double beta2 = 0.999,
                     double guard = 1e-8);
};

// First and second moments of one row: `count` values each for the direction, and those of its gain or bias.
template <class T>
struct AdamMoments {
  T* first;
  T* second;
  T* first_offset;
  T* second_offset;
};

// Cosine head: direction v and gain g with w = g v / |v|. `weights` receives the updated w; `gradient` holds dL/dw on
// entry and dL/dv on return. Returns dL/dg.
template <class T>
T adam_weight_norm_row(const AdamStep<T>& step, std::size_t count, T* direction, T* gain, T* gradient,
                       const AdamMoments<T>& moments, T* weights);

// Linear head: weights and bias are updated directly.
template <class T>
void adam_plain_row(const AdamStep<T>& step, std::size_t count, T* weights, T* bias, const T* gradient, T bias_gradient,
                    const AdamMoments<T>& moments);

}  // namespace annulus
