// Rows that several processes hold together, a contiguous part each, and how one gets at those of the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "annulus/base/distributed/communicator.h"
#include "annulus/base/matrix.h"
#include "annulus/base/slice.h"

namespace annulus {

// Which rows are where. Every member of the communicator knows it and makes the same calls.
class Partition {
 public:
  Partition() = default;  // not partitioned: all rows are here
  // Parts of nearly equal size.
  Partition(Communicator& communicator, std::size_t rows) : communicator_(&communicator) {
    for (std::size_t rank = 0; rank < communicator.size(); ++rank) {
      const Slice part = slice_of(rows, communicator.size(), rank);
      ends_.push_back(part.first + part.count);
    }
  }

  Communicator* communicator() const { return communicator_; }  // null: not partitioned
  Slice part(std::size_t rank) const {
    const std::size_t first = rank == 0 ? 0 : ends_[rank - 1];
    return {first, ends_[rank] - first};
  }
  // The part that is here, of `rows` in all.
  Slice own(std::size_t rows) const { return communicator_ == nullptr ? Slice{0, rows} : part(communicator_->rank()); }

  // The partition of some of the rows, in ascending order, each of which stays where it is.
  Partition of(std::span<const std::size_t> chosen) const {
    Partition result = *this;
    for (std::size_t& end : result.ends_) {
      end = static_cast<std::size_t>(std::lower_bound(chosen.begin(), chosen.end(), end) - chosen.begin());
    }
    return result;
  }

  // Sums over the members; does nothing where rows are not partitioned.
  void sum(std::span<double> numbers) const {
    if (communicator_ != nullptr) communicator_->sum(numbers);
  }

 private:
  Communicator* communicator_ = nullptr;
  std::vector<std::size_t> ends_;  // of the parts, one per member
};

// Begins to put the chosen rows into `out` on every member, of which `own` holds those that are here. `out` has no gaps
// between its rows and is left alone until the sum is waited for; null where rows are not partitioned.
template <class T, class Number>
std::unique_ptr<Communicator::Pending> start_fetch(const Partition& partition, ConstMatrixView<T> own,
                                                   std::span<const Number> chosen, MatrixView<T> out) {
  // A row is a sum in which all members but one have zeros.
  const Slice here = partition.own(own.rows());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::size_t place = static_cast<std::size_t>(chosen[i]) - here.first;  // huge for those before it
    if (place < here.count) {
      std::copy(own.row(place).begin(), own.row(place).end(), out.row(i).begin());
    } else {
      std::fill(out.row(i).begin(), out.row(i).end(), T{0});
    }
  }
  if (partition.communicator() == nullptr) return nullptr;
  return partition.communicator()->start_sum(std::span<T>(out.data(), chosen.size() * out.cols()));
}

template <class T, class Number>
void fetch_rows(const Partition& partition, ConstMatrixView<T> own, std::span<const Number> chosen, MatrixView<T> out) {
  if (const auto pending = start_fetch(partition, own, chosen, out)) pending->wait();
}

// Calls use(number, row) for each of all `rows` rows in order, on every member.
template <class T, class Use>
void for_each_row(const Partition& partition, ConstMatrixView<T> own, std::size_t rows, const Use& use) {
  if (partition.communicator() == nullptr) {
    for (std::size_t i = 0; i < rows; ++i) use(i, own.row(i));
    return;
  }
  constexpr std::size_t kTogether = 1024;
  Matrix<T> block(std::min(kTogether, rows), own.cols());
  std::vector<std::size_t> chosen;
  for (std::size_t first = 0; first < rows; first += kTogether) {
    chosen.clear();
    for (std::size_t i = first; i < std::min(first + kTogether, rows); ++i) chosen.push_back(i);
    fetch_rows(partition, own, std::span<const std::size_t>(chosen), block.view());
    for (std::size_t i = 0; i < chosen.size(); ++i) use(chosen[i], std::as_const(block).row(i));
  }
}

}  // namespace annulus
