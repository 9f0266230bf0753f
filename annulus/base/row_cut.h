// Rows that several processes hold together, a run of them each, and how one gets at those of the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/slice.h"
#include "annulus/base/team.h"

namespace annulus {

// Which rows are where. Every member of the team knows it and makes the same calls.
class RowCut {
 public:
  RowCut() = default;  // no cut: all rows are here
  // Runs of nearly equal size.
  RowCut(Team& team, std::size_t rows) : team_(&team) {
    for (std::size_t rank = 0; rank < team.size(); ++rank) {
      const Slice run = slice_of(rows, team.size(), rank);
      ends_.push_back(run.first + run.count);
    }
  }

  Team* team() const { return team_; }  // null: no cut
  Slice run(std::size_t rank) const {
    const std::size_t first = rank == 0 ? 0 : ends_[rank - 1];
    return {first, ends_[rank] - first};
  }
  // The run that is here, of `rows` in all.
  Slice own(std::size_t rows) const { return team_ == nullptr ? Slice{0, rows} : run(team_->rank()); }

  // The cut of some of the rows, in ascending order, each of which stays where it is.
  RowCut of(std::span<const std::size_t> chosen) const {
    RowCut result = *this;
    for (std::size_t& end : result.ends_) {
      end = static_cast<std::size_t>(std::lower_bound(chosen.begin(), chosen.end(), end) - chosen.begin());
    }
    return result;
  }

  // Sums over the members; nothing is done without a cut.
  void sum(std::span<double> numbers) const {
    if (team_ != nullptr) team_->sum(numbers);
  }

 private:
  Team* team_ = nullptr;
  std::vector<std::size_t> ends_;  // of the runs, one a member
};

// Begins to put the chosen rows into `out` on every member, of which `own` holds those that are here. `out` has no gaps
// between its rows and is left alone until the sum is waited for; there is none without a cut.
template <class T, class Number>
std::unique_ptr<Team::Pending> start_fetch(const RowCut& cut, ConstMatrixView<T> own, std::span<const Number> chosen,
                                           MatrixView<T> out) {
  // A row is a sum in which all members but one have zeros.
  const Slice here = cut.own(own.rows());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::size_t place = static_cast<std::size_t>(chosen[i]) - here.first;  // huge for those before it
    if (place < here.count) {
      std::copy(own.row(place).begin(), own.row(place).end(), out.row(i).begin());
    } else {
      std::fill(out.row(i).begin(), out.row(i).end(), T{0});
    }
  }
  if (cut.team() == nullptr) return nullptr;
  return cut.team()->start_sum(std::span<T>(out.data(), chosen.size() * out.cols()));
}

template <class T, class Number>
void fetch_rows(const RowCut& cut, ConstMatrixView<T> own, std::span<const Number> chosen, MatrixView<T> out) {
  if (const auto pending = start_fetch(cut, own, chosen, out)) pending->wait();
}

// Calls use(number, row) for each of all `rows` rows in order, on every member.
template <class T, class Use>
void for_each_row(const RowCut& cut, ConstMatrixView<T> own, std::size_t rows, const Use& use) {
  if (cut.team() == nullptr) {
    for (std::size_t i = 0; i < rows; ++i) use(i, own.row(i));
    return;
  }
  constexpr std::size_t kTogether = 1024;
  Matrix<T> block(std::min(kTogether, rows), own.cols());
  std::vector<std::size_t> chosen;
  for (std::size_t first = 0; first < rows; first += kTogether) {
    chosen.clear();
    for (std::size_t i = first; i < std::min(first + kTogether, rows); ++i) chosen.push_back(i);
    fetch_rows(cut, own, std::span<const std::size_t>(chosen), block.view());
    for (std::size_t i = 0; i < chosen.size(); ++i) use(chosen[i], std::as_const(block).row(i));
  }
}

}  // namespace annulus
