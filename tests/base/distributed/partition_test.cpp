// Rows that several processes hold together, here threads.
#include "annulus/base/distributed/partition.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/fixtures/thread_communicator.h"

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

TEST(Partition, WithoutACommunicatorEveryRowIsHere) {
  const Partition none;
  EXPECT_EQ(none.communicator(), nullptr);
  EXPECT_EQ(none.own(7).first, 0U);
  EXPECT_EQ(none.own(7).count, 7U);
  const Matrix<float> rows = rows_of({0, 5});
  Matrix<float> out(2, kColumns);
  fetch_rows(none, rows.view(), std::span<const std::uint32_t>(std::vector<std::uint32_t>{4, 1}), out.view());
  EXPECT_EQ(out(0, 2), number_at(4, 2));
  EXPECT_EQ(out(1, 0), number_at(1, 0));
}

TEST(Partition, RunsCoverAllRowsOnce) {
  run_processes(3, [](Communicator& communicator) {
    const Partition partition(communicator, 10);
    std::size_t next = 0;
    for (std::size_t rank = 0; rank < communicator.size(); ++rank) {
      EXPECT_EQ(partition.part(rank).first, next);
      next += partition.part(rank).count;
    }
    EXPECT_EQ(next, 10U);
    EXPECT_EQ(partition.own(10).first, partition.part(communicator.rank()).first);
  });
}

TEST(Partition, ChosenRowsStayWhereTheyAre) {
  run_processes(3, [](Communicator& communicator) {
    const Partition partition(communicator, 9);  // 0 to 2, 3 to 5, 6 to 8
    const Partition some = partition.of(std::vector<std::size_t>{1, 2, 7, 8});
    EXPECT_EQ(some.part(0).count, 2U);
    EXPECT_EQ(some.part(1).count, 0U);
    EXPECT_EQ(some.part(2).first, 2U);
    EXPECT_EQ(some.part(2).count, 2U);
  });
}

TEST(Partition, RowsOfOthersCanBeHad) {
  for (const std::size_t members : {1U, 2U, 5U}) {
    run_processes(members, [](Communicator& communicator) {
      const Partition partition(communicator, kRows);
      const Matrix<float> own = rows_of(partition.own(kRows));
      const std::vector<std::uint32_t> chosen{2499, 0, 1250, 0, 7};
      Matrix<float> out(chosen.size(), kColumns);
      fetch_rows(partition, own.view(), std::span<const std::uint32_t>(chosen), out.view());
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        for (std::size_t j = 0; j < kColumns; ++j) EXPECT_EQ(out(i, j), number_at(chosen[i], j));
      }
      std::size_t seen = 0;
      for_each_row(partition, own.view(), kRows, [&](std::size_t i, std::span<const float> row) {
        EXPECT_EQ(i, seen++);
        ASSERT_EQ(row.size(), kColumns);
        EXPECT_EQ(row[1], number_at(i, 1));
      });
      EXPECT_EQ(seen, kRows);
    });
  }
}

TEST(Partition, MoreProcessesThanRows) {
  run_processes(4, [](Communicator& communicator) {
    const Partition partition(communicator, 2);
    const Matrix<float> own = rows_of(partition.own(2));
    std::size_t seen = 0;
    for_each_row(partition, own.view(), 2, [&](std::size_t i, std::span<const float> row) {
      EXPECT_EQ(row[0], number_at(i, 0));
      ++seen;
    });
    EXPECT_EQ(seen, 2U);
  });
}

}  // namespace
}  // namespace annulus
