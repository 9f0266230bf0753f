// Each block of products is used twice: for its rows and for its columns.
#include "annulus/eval/audit/neighbours.h"

#include <algorithm>

#include "annulus/base/parallel.h"
#include "annulus/kernels/gemm.h"

namespace annulus {
namespace {

constexpr std::size_t kBlock = 1024;
constexpr std::size_t kPerTask = 64;

void insert(Neighbours& neighbours, std::size_t row, float cosine, std::size_t other) {
  const auto cosines = neighbours.cosine.row(row);
  const auto rows = neighbours.row.row(row);
  std::size_t place = cosines.size();
  while (place > 0 && (rows[place - 1] == Neighbours::kNoRow || cosines[place - 1] < cosine)) --place;
  for (std::size_t k = cosines.size(); k-- > place + 1;) {
    cosines[k] = cosines[k - 1];
    rows[k] = rows[k - 1];
  }
  cosines[place] = cosine;
  rows[place] = static_cast<std::uint32_t>(other);
}

bool is_near(const Neighbours& neighbours, std::size_t row, float cosine) {
  const std::size_t last = neighbours.cosine.cols() - 1;
  return neighbours.row(row, last) == Neighbours::kNoRow || cosine > neighbours.cosine(row, last);
}

template <class Body>
void in_strips(int threads, std::size_t count, const Body& body) {
  parallel_for(threads, (count + kPerTask - 1) / kPerTask,
               [&](std::size_t task) { body(task * kPerTask, std::min(count, (task + 1) * kPerTask)); });
}

void use_block(Neighbours& neighbours, ConstMatrixView<float> block, std::size_t first_row, std::size_t first_column,
               std::span<const std::int32_t> groups, int threads) {
  const auto together = [&](std::size_t i, std::size_t j) {
    return !groups.empty() && groups[first_row + i] == groups[first_column + j];
  };
  in_strips(threads, block.rows(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto cosines = block.row(i);
      for (std::size_t j = 0; j < cosines.size(); ++j) {
        if (first_row + i == first_column + j || !is_near(neighbours, first_row + i, cosines[j])) continue;
        if (together(i, j)) continue;
        insert(neighbours, first_row + i, cosines[j], first_column + j);
      }
    }
  });
  if (first_row == first_column) return;
  in_strips(threads, block.cols(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = 0; i < block.rows(); ++i) {
      for (std::size_t j = begin; j < end; ++j) {
        if (is_near(neighbours, first_column + j, block(i, j)) && !together(i, j)) {
          insert(neighbours, first_column + j, block(i, j), first_row + i);
        }
      }
    }
  });
}

}  // namespace

Neighbours nearest_rows(ConstMatrixView<float> rows, std::size_t count, int threads, const ProgressCallback& progress,
                        std::span<const std::int32_t> groups) {
  Neighbours neighbours{Matrix<float>(rows.rows(), count), Matrix<std::uint32_t>(rows.rows(), count)};
  std::fill_n(neighbours.row.data(), rows.rows() * count, Neighbours::kNoRow);
  if (count == 0) return neighbours;
  const std::size_t blocks = (rows.rows() + kBlock - 1) / kBlock;
  const auto size_of = [&](std::size_t block) { return std::min(kBlock, rows.rows() - block * kBlock); };
  Matrix<float> buffer;
  std::size_t done = 0;
  for (std::size_t a = 0; a < blocks; ++a) {
    for (std::size_t b = a; b < blocks; ++b) {
      report(progress, {"compare examples", done++, blocks * (blocks + 1) / 2, {}});
      const MatrixView<float> block = reuse(buffer, size_of(a), size_of(b));
      gemm(Transpose::kNo, Transpose::kYes, 1.0F, rows.rows_at(a * kBlock, size_of(a)),
           rows.rows_at(b * kBlock, size_of(b)), 0.0F, block, threads);
      use_block(neighbours, block, a * kBlock, b * kBlock, groups, threads);
    }
  }
  return neighbours;
}

}  // namespace annulus
