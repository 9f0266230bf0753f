// Random heads and heads of prototypes.
#include "annulus/learn/method/first_head.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "annulus/kernels/rows.h"

namespace annulus {
namespace {

// Of a head trained on CUB with 5 shots they are 6.2; at a start of 4 heads of one shot were too sure of themselves.
constexpr double kStartGain = 2.0;
// Root mean square of a direction's numbers. Adam changes each of them by up to the learning rate, whatever its size:
// prototypes of length 1 would be forgotten within one step.
constexpr double kStartSize = 0.4;

// Scales the directions of a cosine head to kStartSize, those of a linear head to the same weights. A class whose
// examples cancel out takes its direction from `random`.
template <class T>
void scale_directions(Head<T>& head, const Head<T>& random) {
  for (std::size_t c = 0; c < head.classes(); ++c) {
    const auto row = head.direction.row(c);
    if (!(squared_length(std::span<const T>(row)) > T{0})) {
      std::copy(random.direction.row(c).begin(), random.direction.row(c).end(), row.begin());
    }
    const double length = std::sqrt(static_cast<double>(squared_length(std::span<const T>(row))));
    const double wanted = head.kind == HeadKind::kCosine ? kStartSize * std::sqrt(static_cast<double>(row.size()))
                                                         : kCosineScale * kStartGain;
    scale_row(row, static_cast<T>(wanted / length));
  }
}

}  // namespace

template <class T>
Head<T> prototype_head(const TrainingExamples<T>& examples, const ParallelLayout& layout) {
  const Slice block = layout.class_block(examples.classes);
  Head<T> prototypes{
      HeadKind::kCosine, Matrix<T>(block.count, examples.dimension()), std::vector<T>(block.count, T{1}), {}};
  for_each_row(examples.partition, examples.features.view(), examples.rows(),
               [&](std::size_t i, std::span<const T> features) {
                 const auto label = static_cast<std::size_t>(examples.labels[i]);
                 if (label < block.first || label >= block.first + block.count) return;
                 const auto sum = prototypes.direction.row(label - block.first);
                 if (examples.weights.empty()) return add_row(features, sum);
                 for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += examples.weights[i] * features[j];
               });
  return prototypes;
}

template <class T>
Head<T> first_head(const TrainingExamples<T>& examples, HeadKind kind, const TrainOptions& options) {
  const Slice block = options.layout->class_block(examples.classes);
  Head<T> random =
      initial_head<T>(kind, examples.classes, examples.dimension(), options.seed, start_stream(options), block);
  if (!options.from_prototypes) return random;
  Head<T> head = prototype_head(examples, *options.layout);
  head.kind = kind;
  scale_directions(head, random);
  head.gain.assign(kind == HeadKind::kCosine ? block.count : 0, static_cast<T>(kStartGain));
  head.bias.assign(kind == HeadKind::kCosine ? 0 : block.count, T{0});
  return head;
}

template Head<float> first_head(const TrainingExamples<float>&, HeadKind, const TrainOptions&);
template Head<double> first_head(const TrainingExamples<double>&, HeadKind, const TrainOptions&);
template Head<float> prototype_head(const TrainingExamples<float>&, const ParallelLayout&);
template Head<double> prototype_head(const TrainingExamples<double>&, const ParallelLayout&);

}  // namespace annulus
