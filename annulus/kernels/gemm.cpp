// Products are divided into tiles of the result; each tile is one single-threaded call.
#include "annulus/kernels/gemm.h"

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cassert>
#include <csignal>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/kernels/narrow_gemm.h"

namespace annulus {
namespace {

// oneDNN uses OpenMP, whose thread count is set per thread: it is set to 1 once for each of our threads, so that oneDNN
// stays on the calling thread. The function is looked up by name, so that the build does not need OpenMP.
void keep_onednn_on_this_thread() {
  thread_local const bool done = [] {
    using SetThreads = void (*)(int);
    if (void* symbol = dlsym(RTLD_DEFAULT, "omp_set_num_threads")) {
      reinterpret_cast<SetThreads>(symbol)(1);
    }
    return true;
  }();
  (void)done;
}

// oneDNN, up to 3.11 at least, computes products with the stack pointer in its work space on the heap (its issue 4845):
// the frame of a signal that arrives then, such as Ctrl-C, would overwrite it. Signals are blocked until the product is
// done; those of faults cannot be, and need not be.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t signals;
    sigfillset(&signals);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&signals, fault);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  sigset_t before_{};
};

struct Size {
  std::size_t rows;
  std::size_t cols;
};

bool flips(Transpose transpose) { return transpose == Transpose::kYes; }

// The inner dimension of a product.
template <class T>
std::size_t inner_size(const GemmCall<T>& call) {
  const std::size_t inner = flips(call.transpose_a) ? call.a.rows() : call.a.cols();
  assert((flips(call.transpose_a) ? call.a.cols() : call.a.rows()) == call.c.rows());
  assert((flips(call.transpose_b) ? call.b.rows() : call.b.cols()) == call.c.cols());
  assert((flips(call.transpose_b) ? call.b.cols() : call.b.rows()) == inner);
  return inner;
}

std::size_t pieces(std::size_t length, std::size_t piece) { return (length + piece - 1) / piece; }

// The variants of narrow_gemm.h, by which side is short.
enum class Shape : std::uint8_t { kGeneral, kFewColumns, kFewRows, kFewSums };

Shape shape_of(const GemmCall<float>& call) {
  if (call.beta != 0.0F) return Shape::kGeneral;
  if (!flips(call.transpose_a) && flips(call.transpose_b)) {
    if (call.c.cols() <= kNarrow) return Shape::kFewColumns;
    if (call.c.rows() <= kNarrow) return Shape::kFewRows;
  }
  if (flips(call.transpose_a) && !flips(call.transpose_b) && call.c.rows() <= kNarrow) return Shape::kFewSums;
  return Shape::kGeneral;
}

// The tile size at which oneDNN was measured to be fastest for a kind of product, halved until there are tiles for a
// few threads. It depends on the problem alone, so that results do not depend on the number of threads.
Size tile_size(const GemmCall<float>& call) {
  constexpr std::size_t kFewestTiles = 4;
  constexpr std::size_t kSmallest = 64;
  switch (shape_of(call)) {
    case Shape::kFewColumns:
      return {kSmallest, call.c.cols()};
    case Shape::kFewRows:
      return {call.c.rows(), kSmallest};
    case Shape::kFewSums:
      return {call.c.rows(), 1024};
    case Shape::kGeneral:
      break;
  }
  Size tile = flips(call.transpose_a) ? Size{512, 1024} : Size{512, 128};
  while (pieces(call.c.rows(), tile.rows) * pieces(call.c.cols(), tile.cols) < kFewestTiles) {
    tile = {std::min(tile.rows, call.c.rows()), std::min(tile.cols, call.c.cols())};
    std::size_t& longer = tile.rows > tile.cols ? tile.rows : tile.cols;
    if (longer <= kSmallest) break;
    longer = (longer + 1) / 2;
  }
  return tile;
}

Size tile_size(const GemmCall<double>& call) { return {16, call.c.cols()}; }

struct Tile {
  std::size_t row;
  std::size_t col;
  Size size;
};

ConstMatrixView<float> columns_at(ConstMatrixView<float> matrix, std::size_t first, std::size_t count) {
  return {matrix.data() + first, matrix.rows(), count, matrix.stride()};
}

void multiply_tile(const GemmCall<float>& call, const Tile& tile) {
  const MatrixView<float> out(&call.c(tile.row, tile.col), tile.size.rows, tile.size.cols, call.c.stride());
  switch (shape_of(call)) {
    case Shape::kFewColumns:
      return narrow_products(call.alpha, call.a.rows_at(tile.row, tile.size.rows), call.b, out);
    case Shape::kFewRows:
      return narrow_products_transposed(call.alpha, call.b.rows_at(tile.col, tile.size.cols), call.a, out);
    case Shape::kFewSums:
      return narrow_sums(call.alpha, call.a, columns_at(call.b, tile.col, tile.size.cols), out);
    case Shape::kGeneral:
      break;
  }
  keep_onednn_on_this_thread();
  const SignalsWait until_done;
  const bool flip_a = flips(call.transpose_a);
  const bool flip_b = flips(call.transpose_b);
  const float* a = call.a.data() + (flip_a ? tile.row : tile.row * call.a.stride());
  const float* b = call.b.data() + (flip_b ? tile.col * call.b.stride() : tile.col);
  const auto size = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
  const dnnl_status_t status = dnnl_sgemm(
      flip_a ? 'T' : 'N', flip_b ? 'T' : 'N', size(tile.size.rows), size(tile.size.cols), size(inner_size(call)),
      call.alpha, a, size(call.a.stride()), b, size(call.b.stride()), call.beta, out.data(), size(out.stride()));
  if (status != dnnl_success) {
    fail(ErrorKind::kInternal, "oneDNN could not multiply a {} x {} tile: status {}", tile.size.rows, tile.size.cols,
         static_cast<int>(status));
  }
}

void multiply_tile(const GemmCall<double>& call, const Tile& tile) {
  const bool flip_a = flips(call.transpose_a);
  const bool flip_b = flips(call.transpose_b);
  const std::size_t inner = inner_size(call);
  std::vector<double> sums(tile.size.cols);
  for (std::size_t i = tile.row; i < tile.row + tile.size.rows; ++i) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t k = 0; k < inner; ++k) {
      const double factor = flip_a ? call.a(k, i) : call.a(i, k);
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += factor * (flip_b ? call.b(j, k) : call.b(k, j));
    }
    for (std::size_t j = 0; j < sums.size(); ++j) {
      call.c(i, j) = call.alpha * sums[j] + (call.beta == 0.0 ? 0.0 : call.beta * call.c(i, j));
    }
  }
}

template <class T>
void multiply_all(std::span<const GemmCall<T>> calls, int threads) {
  const auto tiles_of = [](const GemmCall<T>& call) {
    const Size tile = tile_size(call);
    return pieces(call.c.rows(), tile.rows) * pieces(call.c.cols(), tile.cols);
  };
  std::size_t total = 0;
  for (const GemmCall<T>& call : calls) total += tiles_of(call);
  parallel_for(threads, total, [&](std::size_t task) {
    auto call = calls.begin();
    for (std::size_t tiles = tiles_of(*call); task >= tiles; tiles = tiles_of(*call)) {
      task -= tiles;
      ++call;
    }
    const Size size = tile_size(*call);
    const std::size_t across = pieces(call->c.cols(), size.cols);
    const std::size_t row = task / across * size.rows;
    const std::size_t col = task % across * size.cols;
    multiply_tile(*call,
                  {row, col, {std::min(size.rows, call->c.rows() - row), std::min(size.cols, call->c.cols() - col)}});
  });
}

}  // namespace

void gemm(std::span<const GemmCall<float>> calls, int threads) { multiply_all(calls, threads); }

void gemm(std::span<const GemmCall<double>> calls, int threads) { multiply_all(calls, threads); }

void gemm(Transpose transpose_a, Transpose transpose_b, float alpha, ConstMatrixView<float> a, ConstMatrixView<float> b,
          float beta, MatrixView<float> c, int threads) {
  const GemmCall<float> call{transpose_a, transpose_b, alpha, a, b, beta, c};
  multiply_all(std::span<const GemmCall<float>>(&call, 1), threads);
}

void gemm(Transpose transpose_a, Transpose transpose_b, double alpha, ConstMatrixView<double> a,
          ConstMatrixView<double> b, double beta, MatrixView<double> c, int threads) {
  const GemmCall<double> call{transpose_a, transpose_b, alpha, a, b, beta, c};
  multiply_all(std::span<const GemmCall<double>>(&call, 1), threads);
}

}  // namespace annulus
