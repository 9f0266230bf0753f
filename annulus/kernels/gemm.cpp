// Products cut into tiles of the result; each tile is one single-threaded call.
#include "annulus/kernels/gemm.h"

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cassert>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"

namespace annulus {
namespace {

// oneDNN threads by OpenMP, whose setting is a thread's own: tell the runtime that oneDNN loaded, once for each of our
// threads, to stay on the calling thread. Found by name, so that the build needs no OpenMP of its own.
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

struct Product {
  std::size_t rows;  // of the result
  std::size_t cols;
  std::size_t inner;  // summed over
};

template <class T>
Product check_shapes(Transpose transpose_a, Transpose transpose_b, ConstMatrixView<T> a,
                     [[maybe_unused]] ConstMatrixView<T> b, MatrixView<T> c) {
  const bool flip_a = transpose_a == Transpose::kYes;
  [[maybe_unused]] const bool flip_b = transpose_b == Transpose::kYes;
  const Product product{c.rows(), c.cols(), flip_a ? a.rows() : a.cols()};
  assert((flip_a ? a.cols() : a.rows()) == product.rows);
  assert((flip_b ? b.rows() : b.cols()) == product.cols);
  assert((flip_b ? b.cols() : b.rows()) == product.inner);
  return product;
}

struct Tile {
  std::size_t rows;
  std::size_t cols;
};

// The tile size at which oneDNN was measured to be fastest for a kind of product, halved until there is work for a few
// threads. It depends on the problem alone, so that results do not depend on the number of threads.
Tile tile_for(const Product& product, Tile tile) {
  constexpr std::size_t kFewestTiles = 4;
  constexpr std::size_t kSmallest = 64;
  const auto pieces = [](std::size_t length, std::size_t piece) { return (length + piece - 1) / piece; };
  while (pieces(product.rows, tile.rows) * pieces(product.cols, tile.cols) < kFewestTiles) {
    tile = {std::min(tile.rows, product.rows), std::min(tile.cols, product.cols)};
    std::size_t& longer = tile.rows > tile.cols ? tile.rows : tile.cols;
    if (longer <= kSmallest) break;
    longer = (longer + 1) / 2;
  }
  return tile;
}

// Calls body(first_row, rows, first_col, cols) for every tile of the result.
template <class Body>
void for_tiles(const Product& product, std::size_t tile_rows, std::size_t tile_cols, int threads, const Body& body) {
  const std::size_t down = (product.rows + tile_rows - 1) / tile_rows;
  const std::size_t across = (product.cols + tile_cols - 1) / tile_cols;
  parallel_for(threads, down * across, [&](std::size_t tile) {
    const std::size_t row = tile / across * tile_rows;
    const std::size_t col = tile % across * tile_cols;
    body(row, std::min(tile_rows, product.rows - row), col, std::min(tile_cols, product.cols - col));
  });
}

}  // namespace

void gemm(Transpose transpose_a, Transpose transpose_b, float alpha, ConstMatrixView<float> a, ConstMatrixView<float> b,
          float beta, MatrixView<float> c, int threads) {
  const Product product = check_shapes(transpose_a, transpose_b, a, b, c);
  const bool flip_a = transpose_a == Transpose::kYes;
  const bool flip_b = transpose_b == Transpose::kYes;
  const Tile tile = flip_a ? tile_for(product, {512, 1024}) : tile_for(product, {128, 512});
  for_tiles(product, tile.rows, tile.cols, threads,
            [&](std::size_t row, std::size_t rows, std::size_t col, std::size_t cols) {
              keep_onednn_on_this_thread();
              const float* tile_a = a.data() + (flip_a ? row : row * a.stride());
              const float* tile_b = b.data() + (flip_b ? col * b.stride() : col);
              const auto size = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
              const dnnl_status_t status =
                  dnnl_sgemm(flip_a ? 'T' : 'N', flip_b ? 'T' : 'N', size(rows), size(cols), size(product.inner), alpha,
                             tile_a, size(a.stride()), tile_b, size(b.stride()), beta, &c(row, col), size(c.stride()));
              if (status != dnnl_success) {
                fail(ErrorKind::kInternal, "oneDNN could not multiply a {} x {} tile: status {}", rows, cols,
                     static_cast<int>(status));
              }
            });
}

void gemm(Transpose transpose_a, Transpose transpose_b, double alpha, ConstMatrixView<double> a,
          ConstMatrixView<double> b, double beta, MatrixView<double> c, int threads) {
  const Product product = check_shapes(transpose_a, transpose_b, a, b, c);
  const bool flip_a = transpose_a == Transpose::kYes;
  const bool flip_b = transpose_b == Transpose::kYes;
  for_tiles(product, 16, product.cols, threads, [&](std::size_t row, std::size_t rows, std::size_t, std::size_t cols) {
    std::vector<double> sums(cols);
    for (std::size_t i = row; i < row + rows; ++i) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::size_t k = 0; k < product.inner; ++k) {
        const double factor = flip_a ? a(k, i) : a(i, k);
        for (std::size_t j = 0; j < cols; ++j) sums[j] += factor * (flip_b ? b(j, k) : b(k, j));
      }
      for (std::size_t j = 0; j < cols; ++j) c(i, j) = alpha * sums[j] + (beta == 0.0 ? 0.0 : beta * c(i, j));
    }
  });
}

}  // namespace annulus
