// Which part of a fit this process does when several share it: a block of classes, and a slice of every batch.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "annulus/base/distributed/communicator.h"
#include "annulus/base/matrix.h"
#include "annulus/base/slice.h"
#include "annulus/learn/method/head.h"

namespace annulus {

// Processes form a grid: those of one column hold the same block of classes and each see a slice of the training
// examples of a batch; those of one row see the same training examples and each hold a block of classes.
class ParallelLayout {
 public:
  // `class_ranks` blocks of classes; it divides the size of the communicator (Error{kUsage} if not). 0: chosen by
  // `classes`.
  ParallelLayout(Communicator& communicator, std::size_t class_ranks, std::size_t classes);

  // The layout of a process that works alone: it holds all classes and sees whole batches.
  static const ParallelLayout& one_process();

  Communicator& everyone() const { return communicator_; }
  Communicator& same_block() const { return *same_block_; }  // members see different training examples
  Communicator& same_slice() const { return *same_slice_; }  // members hold different classes
  std::size_t class_ranks() const { return same_slice_->size(); }
  std::size_t data_ranks() const { return same_block_->size(); }

  Slice class_block(std::size_t classes) const { return slice_of(classes, class_ranks(), same_slice_->rank()); }
  Slice batch_slice(std::size_t examples) const { return slice_of(examples, data_ranks(), same_block_->rank()); }

 private:
  Communicator& communicator_;
  std::unique_ptr<Communicator> same_block_;
  std::unique_ptr<Communicator> same_slice_;
};

// The number of classes of a head of which this process holds `own`.
std::size_t all_classes(const ParallelLayout& layout, std::size_t own);

// Logits of raw features for all classes, of which `head` holds this process's block. Every process of a row of the
// grid gets them.
void shared_logits(const ParallelLayout& layout, const Head<float>& head, ConstMatrixView<float> features,
                   MatrixView<float> out, int threads);

// The whole head on the first process; the others keep nothing.
Head<float> collect_head(const ParallelLayout& layout, Head<float> head);

}  // namespace annulus
