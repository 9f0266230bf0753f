// Chunks of a gradient on their way between processes.
#include "annulus/learn/distributed/overlapped_reducer.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace annulus {

template <class T>
void OverlappedReducer<T>::prepare(StepGradient<T>& gradient) {
  // Enough chunks for several to be on their way at a time, not so small that they cost by their number.
  constexpr std::size_t kChunkNumbers = std::size_t{1} << 20;
  const std::size_t classes = gradient.weights.rows();
  const std::size_t dimension = gradient.weights.cols();
  gradient.chunk = std::max<std::size_t>(32, std::min(kChunkNumbers / dimension, classes / 4));
  gradient.ready = [this, &gradient, dimension](std::size_t first, std::size_t count) {
    const std::span<T> rows(gradient.weights.row(first).data(), count * dimension);
    chunks_.push_back({{first, count}, members_.start_sum(rows)});
  };
}

template <class T>
void OverlappedReducer<T>::reduce(StepGradient<T>& gradient, const typename GradientReducer<T>::Update& update) {
  if (!gradient.bias.empty()) members_.sum(std::span<T>(gradient.bias));
  for (Chunk& chunk : chunks_) {
    chunk.sum->wait();
    update(chunk.classes);
  }
  chunks_.clear();
}

template <class T>
std::unique_ptr<GradientReducer<T>> make_gradient_reducer(const ParallelLayout& layout) {
  if (layout.data_ranks() == 1) return std::make_unique<GradientReducer<T>>();
  return std::make_unique<OverlappedReducer<T>>(layout.same_block());
}

template class OverlappedReducer<float>;
template class OverlappedReducer<double>;
template std::unique_ptr<GradientReducer<float>> make_gradient_reducer(const ParallelLayout&);
template std::unique_ptr<GradientReducer<double>> make_gradient_reducer(const ParallelLayout&);

}  // namespace annulus
