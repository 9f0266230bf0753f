// Few classes: the noise logits are transposed once, then every vector operation handles a vector of noise rows.
#include "annulus/kernels/few_classes_softmax.h"

#include <algorithm>
#include <cassert>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "annulus/kernels/few_classes_softmax.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
// keep the order: this needs highway.h
#include "annulus/kernels/exponential-inl.h"

#ifndef ANNULUS_KERNELS_FEW_CLASSES_PADDING
#define ANNULUS_KERNELS_FEW_CLASSES_PADDING
namespace annulus {

// Noise rows in scratch, rounded up to whole vectors of any instruction set.
inline std::size_t padded_rows(std::size_t noise_rows) { return (noise_rows + 15) / 16 * 16; }

}  // namespace annulus
#endif

HWY_BEFORE_NAMESPACE();
namespace annulus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, 16>;
using Vec = hn::Vec<Tag>;

// One training example against all noise rows.
struct ClassifiedExample {
  const float* logits;  // of its classes
  float* gradient;      // of its classes
  const float* scales;  // of its noise rows
  std::size_t label;
};

struct Sides {
  const float* noise;  // classes x padded noise rows
  float* gradient;     // the same shape
  std::size_t padded;
  std::size_t noise_rows;
  std::size_t classes;
};

HWY_INLINE LossSums example_gradient(const ClassifiedExample& example, const Sides& sides, float smoothing,
                                     float gradient_scale) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto classes = static_cast<float>(sides.classes);
  Vec class_sums[kFewClasses];
  for (std::size_t j = 0; j < sides.classes; ++j) class_sums[j] = hn::Zero(d);
  Vec scale_sum = hn::Zero(d);
  Vec loss = hn::Zero(d);
  std::size_t correct = 0;
  for (std::size_t r = 0; r < sides.noise_rows; r += lanes) {
    const std::size_t count = std::min(lanes, sides.noise_rows - r);
    // Lanes beyond the last noise row have scale 0: they add nothing to any gradient.
    const Vec scale = count == lanes ? hn::LoadU(d, example.scales + r) : load_first(d, example.scales + r, count);
    Vec logits[kFewClasses];
    Vec largest = hn::Set(d, -1e30F);
    Vec plain = hn::Zero(d);
    for (std::size_t j = 0; j < sides.classes; ++j) {
      logits[j] = hn::Add(hn::Set(d, example.logits[j]), hn::LoadU(d, sides.noise + j * sides.padded + r));
      largest = hn::Max(largest, logits[j]);
      plain = hn::Add(plain, logits[j]);
    }
    const Vec label_logit = hn::Add(hn::Set(d, example.logits[example.label]),
                                    hn::LoadU(d, sides.noise + example.label * sides.padded + r));
    correct += hn::CountTrue(d, hn::And(hn::Ge(label_logit, largest), hn::FirstN(d, count)));
    const Vec factor = hn::Mul(scale, hn::Set(d, kUnit<float>));
    Vec sum = hn::Zero(d);
    for (std::size_t j = 0; j < sides.classes; ++j) {
      logits[j] = exponential(d, hn::Mul(hn::Sub(logits[j], largest), factor));
      sum = hn::Add(sum, logits[j]);
    }
    const Vec weight = hn::Div(hn::Mul(scale, hn::Set(d, gradient_scale)), sum);
    for (std::size_t j = 0; j < sides.classes; ++j) {
      const Vec value = hn::Mul(logits[j], weight);
      float* noise = sides.gradient + j * sides.padded + r;
      hn::StoreU(hn::Add(hn::LoadU(d, noise), value), d, noise);
      class_sums[j] = hn::Add(class_sums[j], value);
    }
    float* label_noise = sides.gradient + example.label * sides.padded + r;
    const Vec target = hn::Mul(scale, hn::Set(d, gradient_scale * (1.0F - smoothing)));
    hn::StoreU(hn::Sub(hn::LoadU(d, label_noise), target), d, label_noise);
    scale_sum = hn::Add(scale_sum, scale);
    // largest + log(sum) - (1 - smoothing) label - smoothing mean, the logits scaled
    Vec rest = hn::Sub(largest, hn::Mul(hn::Set(d, 1.0F - smoothing), label_logit));
    rest = hn::Sub(rest, hn::Mul(hn::Set(d, smoothing / classes), plain));
    const Vec row_loss = hn::MulAdd(rest, scale, hn::Log(d, sum));
    loss = hn::Add(loss, count == lanes ? row_loss : hn::IfThenElseZero(hn::FirstN(d, count), row_loss));
  }
  const float scales = hn::GetLane(hn::SumOfLanes(d, scale_sum));
  for (std::size_t j = 0; j < sides.classes; ++j) {
    example.gradient[j] +=
        hn::GetLane(hn::SumOfLanes(d, class_sums[j])) - gradient_scale * smoothing * scales / classes;
  }
  example.gradient[example.label] -= gradient_scale * (1.0F - smoothing) * scales;
  return {static_cast<double>(hn::GetLane(hn::SumOfLanes(d, loss))), correct};
}

LossSums gradient(const VirtualLogits<float>& logits, float smoothing, float gradient_scale,
                  MatrixView<float> example_gradients, MatrixView<float> noise_gradient, float* scratch) {
  const std::size_t classes = logits.example.cols();
  const std::size_t noise_rows = logits.noise.rows();
  const std::size_t padded = padded_rows(noise_rows);
  float* noise = scratch;
  float* turned_gradient = scratch + classes * padded;
  for (std::size_t j = 0; j < classes; ++j) {
    for (std::size_t r = 0; r < noise_rows; ++r) noise[j * padded + r] = logits.noise(r, j);
    std::fill(noise + j * padded + noise_rows, noise + (j + 1) * padded, 0.0F);
  }
  std::fill(turned_gradient, turned_gradient + classes * padded, 0.0F);
  const Sides sides{noise, turned_gradient, padded, noise_rows, classes};
  LossSums sums;
  for (std::size_t i = 0; i < logits.example.rows(); ++i) {
    sums += example_gradient({logits.example.row(i).data(), example_gradients.row(i).data(), logits.scale.row(i).data(),
                              static_cast<std::size_t>(logits.labels[i])},
                             sides, smoothing, gradient_scale);
  }
  for (std::size_t r = 0; r < noise_rows; ++r) {
    float scales = 0.0F;
    for (std::size_t i = 0; i < logits.example.rows(); ++i) scales += logits.scale(i, r);
    const float even = gradient_scale * smoothing * scales / static_cast<float>(classes);
    for (std::size_t j = 0; j < classes; ++j) noise_gradient(r, j) += turned_gradient[j * padded + r] - even;
  }
  return sums;
}

}  // namespace annulus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace annulus {

HWY_EXPORT(gradient);

std::size_t few_classes_scratch(std::size_t classes, std::size_t noise_rows) {
  return 2 * classes * padded_rows(noise_rows);
}

LossSums few_classes_gradient(const VirtualLogits<float>& logits, float smoothing, float gradient_scale,
                              MatrixView<float> example_gradient, MatrixView<float> noise_gradient,
                              std::span<float> scratch) {
  assert(logits.example.cols() <= kFewClasses);
  assert(scratch.size() >= few_classes_scratch(logits.example.cols(), logits.noise.rows()));
  return HWY_DYNAMIC_DISPATCH(gradient)(logits, smoothing, gradient_scale, example_gradient, noise_gradient,
                                        scratch.data());
}

}  // namespace annulus
#endif
