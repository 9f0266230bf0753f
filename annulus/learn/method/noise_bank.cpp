// A map of noise rows behind a lock that readers share.
#include "annulus/learn/method/noise_bank.h"

#include <mutex>
#include <utility>

#include "annulus/kernels/gaussian.h"

namespace annulus {

ConstMatrixView<float> NoiseBank::rows(const RandomStream& stream, std::size_t step, std::size_t count,
                                       std::size_t dimension) {
  const Key key{stream.seed, stream.use, stream.stream, step, count, dimension};
  const std::size_t size = count * dimension * sizeof(float);
  {
    const std::shared_lock lock(mutex_);
    const auto found = kept_.find(key);
    if (found != kept_.end()) return found->second.view();
    if (bytes_ + size > most_bytes_) return {};
  }
  Matrix<float> made(count, dimension);
  for (std::size_t r = 0; r < count; ++r) fill_gaussian(stream, noise_row_start(step, r, dimension), made.row(r));
  const std::unique_lock lock(mutex_);
  // Another thread may have been faster; its rows are the same.
  const auto [place, added] = kept_.try_emplace(key, std::move(made));
  if (added) bytes_ += size;
  return std::as_const(place->second).view();
}

}  // namespace annulus
