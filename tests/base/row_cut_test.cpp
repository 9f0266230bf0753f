// Rows that several processes hold together, here threads.
#include "annulus/base/row_cut.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/learn/thread_team.h"

namespace annulus {
namespace {

constexpr std::size_t kRows = 2500;  // more than are streamed at a time
constexpr std::size_t kColumns = 3;

float number_at(std::size_t row, std::size_t column) { return static_cast<float>(10 * row + column) - 7.5F; }

Matrix<float> rows_of(Slice run) {
  Matrix<float> rows(run.count, kColumns);
  for (std::size_t i = 0; i < run.count; ++i) {
    for (std::size_t j = 0; j < kColumns; ++j) rows(i, j) = number_at(run.first + i, j);
  }
  return rows;
}

TEST(RowCut, WithoutATeamEveryRowIsHere) {
  const RowCut none;
  EXPECT_EQ(none.team(), nullptr);
  EXPECT_EQ(none.own(7).first, 0U);
  EXPECT_EQ(none.own(7).count, 7U);
  const Matrix<float> rows = rows_of({0, 5});
  Matrix<float> out(2, kColumns);
  fetch_rows(none, rows.view(), std::span<const std::uint32_t>(std::vector<std::uint32_t>{4, 1}), out.view());
  EXPECT_EQ(out(0, 2), number_at(4, 2));
  EXPECT_EQ(out(1, 0), number_at(1, 0));
}

TEST(RowCut, RunsCoverAllRowsOnce) {
  run_team(3, [](Team& team) {
    const RowCut cut(team, 10);
    std::size_t next = 0;
    for (std::size_t rank = 0; rank < team.size(); ++rank) {
      EXPECT_EQ(cut.run(rank).first, next);
      next += cut.run(rank).count;
    }
    EXPECT_EQ(next, 10U);
    EXPECT_EQ(cut.own(10).first, cut.run(team.rank()).first);
  });
}

TEST(RowCut, ChosenRowsStayWhereTheyAre) {
  run_team(3, [](Team& team) {
    const RowCut cut(team, 9);  // 0 to 2, 3 to 5, 6 to 8
    const RowCut some = cut.of(std::vector<std::size_t>{1, 2, 7, 8});
    EXPECT_EQ(some.run(0).count, 2U);
    EXPECT_EQ(some.run(1).count, 0U);
    EXPECT_EQ(some.run(2).first, 2U);
    EXPECT_EQ(some.run(2).count, 2U);
  });
}

TEST(RowCut, RowsOfOthersCanBeHad) {
  for (const std::size_t members : {1U, 2U, 5U}) {
    run_team(members, [](Team& team) {
      const RowCut cut(team, kRows);
      const Matrix<float> own = rows_of(cut.own(kRows));
      const std::vector<std::uint32_t> chosen{2499, 0, 1250, 0, 7};
      Matrix<float> out(chosen.size(), kColumns);
      fetch_rows(cut, own.view(), std::span<const std::uint32_t>(chosen), out.view());
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        for (std::size_t j = 0; j < kColumns; ++j) EXPECT_EQ(out(i, j), number_at(chosen[i], j));
      }
      std::size_t seen = 0;
      for_each_row(cut, own.view(), kRows, [&](std::size_t i, std::span<const float> row) {
        EXPECT_EQ(i, seen++);
        ASSERT_EQ(row.size(), kColumns);
        EXPECT_EQ(row[1], number_at(i, 1));
      });
      EXPECT_EQ(seen, kRows);
    });
  }
}

TEST(RowCut, MoreProcessesThanRows) {
  run_team(4, [](Team& team) {
    const RowCut cut(team, 2);
    const Matrix<float> own = rows_of(cut.own(2));
    std::size_t seen = 0;
    for_each_row(cut, own.view(), 2, [&](std::size_t i, std::span<const float> row) {
      EXPECT_EQ(row[0], number_at(i, 0));
      ++seen;
    });
    EXPECT_EQ(seen, 2U);
  });
}

}  // namespace
}  // namespace annulus
