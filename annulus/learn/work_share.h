// Which part of a fit this process does when several share it: a block of classes, and a slice of every batch.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "annulus/base/matrix.h"
#include "annulus/base/slice.h"
#include "annulus/base/team.h"
#include "annulus/learn/head.h"

namespace annulus {

// Processes form a grid: those of one column hold the same block of classes and each see a slice of the originals of a
// batch; those of one row see the same originals and each hold a block of classes.
class WorkShare {
 public:
  // `class_ranks` blocks of classes; it divides the size of the team (Error{kUsage} if not). 0: chosen by `classes`.
  WorkShare(Team& team, std::size_t class_ranks, std::size_t classes);

  Team& everyone() const { return team_; }
  Team& same_block() const { return *same_block_; }  // members see different originals
  Team& same_slice() const { return *same_slice_; }  // members hold different classes
  std::size_t class_ranks() const { return same_slice_->size(); }
  std::size_t data_ranks() const { return same_block_->size(); }

  Slice class_block(std::size_t classes) const { return slice_of(classes, class_ranks(), same_slice_->rank()); }
  Slice batch_slice(std::size_t originals) const { return slice_of(originals, data_ranks(), same_block_->rank()); }

 private:
  Team& team_;
  std::unique_ptr<Team> same_block_;
  std::unique_ptr<Team> same_slice_;
};

// The classes of a head that this process holds; all of them where nobody shares.
inline Slice class_block(const WorkShare* share, std::size_t classes) {
  return share == nullptr ? Slice{0, classes} : share->class_block(classes);
}

// The number of classes of a head of which this process holds `own`.
std::size_t all_classes(const WorkShare* share, std::size_t own);

// Logits of raw rows for all classes, of which `head` holds this process's block. Every process of a row of the grid
// gets them.
void shared_logits(const WorkShare* share, const Head<float>& head, ConstMatrixView<float> features,
                   MatrixView<float> out, int threads);

// The whole head on the first process; the others keep nothing.
Head<float> collect_head(const WorkShare* share, Head<float> head);

}  // namespace annulus
