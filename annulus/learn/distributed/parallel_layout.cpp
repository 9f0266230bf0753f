// The grid of processes, and what they put together from their blocks of classes.
#include "annulus/learn/distributed/parallel_layout.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "annulus/base/distributed/single_process.h"
#include "annulus/base/error.h"
#include "annulus/learn/model/prepared_head.h"

namespace annulus {
namespace {

// Blocks of classes cost an exchange of two numbers a virtual example and each exponential twice; slices of batches an
// exchange of the whole gradient (docs/how-to/several-processes.md). Blocks are the better part wherever they are not
// tiny.
constexpr std::size_t kLeastBlock = 256;

std::size_t chosen_class_ranks(std::size_t ranks, std::size_t classes) {
  std::size_t chosen = 1;
  for (std::size_t blocks = 1; blocks <= ranks; ++blocks) {
    if (ranks % blocks == 0 && classes / blocks >= kLeastBlock) chosen = blocks;
  }
  return chosen;
}

}  // namespace

ParallelLayout::ParallelLayout(Communicator& communicator, std::size_t class_ranks, std::size_t classes)
    : communicator_(communicator) {
  const std::size_t blocks = class_ranks == 0 ? chosen_class_ranks(communicator.size(), classes) : class_ranks;
  // Calibration trains heads of half of the classes.
  if (communicator.size() % blocks != 0 || (blocks > 1 && 2 * blocks > classes)) {
    fail(ErrorKind::kUsage,
         "expected a number of class ranks that divides the {} processes and is at most half of the {} "
         "classes, found {}",
         communicator.size(), classes, blocks);
  }
  same_block_ = communicator.split(communicator.rank() % blocks);
  same_slice_ = communicator.split(communicator.rank() / blocks);
}

const ParallelLayout& ParallelLayout::one_process() {
  static SingleProcess alone;
  static const ParallelLayout layout(alone, 1, 0);
  return layout;
}

std::size_t all_classes(const ParallelLayout& layout, std::size_t own) {
  double sum = static_cast<double>(own);
  layout.same_slice().sum(std::span<double>(&sum, 1));
  return static_cast<std::size_t>(sum);
}

void shared_logits(const ParallelLayout& layout, const Head<float>& head, ConstMatrixView<float> features,
                   MatrixView<float> out, int threads) {
  if (layout.class_ranks() == 1) return predict_logits(head, features, out, threads);
  const Slice block = layout.class_block(out.cols());
  constexpr std::size_t kRows = 256;
  Matrix<float> own(std::min(kRows, features.rows()), block.count);
  Matrix<float> all(own.rows(), out.cols());
  for (std::size_t first = 0; first < features.rows(); first += kRows) {
    const std::size_t count = std::min(kRows, features.rows() - first);
    predict_logits(head, features.rows_at(first, count), own.view().rows_at(0, count), threads);
    const auto rows = all.view().rows_at(0, count);
    std::fill_n(rows.data(), count * out.cols(), 0.0F);
    for (std::size_t i = 0; i < count; ++i) {
      std::copy_n(own.row(i).begin(), block.count, rows.row(i).begin() + static_cast<std::ptrdiff_t>(block.first));
    }
    layout.same_slice().sum(std::span<float>(rows.data(), count * out.cols()));
    for (std::size_t i = 0; i < count; ++i) std::copy_n(rows.row(i).begin(), out.cols(), out.row(first + i).begin());
  }
}

Head<float> collect_head(const ParallelLayout& layout, Head<float> head) {
  if (layout.class_ranks() == 1) return head;
  Communicator& communicator = layout.same_slice();
  const std::size_t classes = all_classes(layout, head.classes());
  if (layout.same_block().rank() != 0) return {head.kind, {}, {}, {}, std::move(head.transform)};
  if (communicator.rank() != 0) {
    communicator.send(communicator.rank(), {head.direction.data(), head.classes() * head.dimension()});
    for (std::vector<float>* offsets : {&head.gain, &head.bias}) {
      if (!offsets->empty()) communicator.send(communicator.rank(), *offsets);
    }
    return {head.kind, {}, {}, {}, std::move(head.transform)};
  }
  Head<float> whole{head.kind, Matrix<float>(classes, head.dimension()), std::move(head.gain), std::move(head.bias),
                    std::move(head.transform)};
  std::copy_n(head.direction.data(), head.classes() * head.dimension(), whole.direction.data());
  for (std::vector<float>* offsets : {&whole.gain, &whole.bias}) {
    if (!offsets->empty()) offsets->resize(classes);
  }
  for (std::size_t rank = 1; rank < communicator.size(); ++rank) {
    const Slice block = slice_of(classes, communicator.size(), rank);
    communicator.send(rank, {whole.direction.row(block.first).data(), block.count * whole.dimension()});
    for (std::vector<float>* offsets : {&whole.gain, &whole.bias}) {
      if (!offsets->empty()) communicator.send(rank, std::span<float>(*offsets).subspan(block.first, block.count));
    }
  }
  return whole;
}

}  // namespace annulus
