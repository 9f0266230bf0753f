// Matrices in nameless files: the same numbers, no memory of the process's own, nothing left behind.
#include "annulus/store/files/paged_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <utility>

#include "annulus/base/matrix.h"

namespace annulus {
namespace {

constexpr std::size_t kRows = 1024;
constexpr std::size_t kCols = 4096;  // 16 MiB

// Matrices of a mebibyte go to a folder, as long as this lives.
class Paged {
 public:
  explicit Paged(std::string folder) : folder_(std::move(folder)) {
    page_large_matrices(std::size_t{1} << 20U, folder_);
  }
  ~Paged() {
    page_large_matrices(std::numeric_limits<std::size_t>::max(), {});
    std::filesystem::remove_all(folder_);
  }
  Paged(const Paged&) = delete;
  Paged& operator=(const Paged&) = delete;

 private:
  std::string folder_;
};

std::string scratch_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "annulus-paged-XXXXXX").string();
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  return name;
}

// Whether an address lies in a mapping of a file that is written back to it, and so is no memory of the process's own.
bool in_a_file(const void* address) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    std::istringstream words(line);
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    char dash = 0;
    std::string rights;
    words >> std::hex >> first >> dash >> last >> rights;
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    if (first <= wanted && wanted < last) return rights == "rw-s";
  }
  return false;
}

void fill(Matrix<float>& matrix) {
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    for (std::size_t j = 0; j < matrix.cols(); ++j) matrix(i, j) = static_cast<float>(i * matrix.cols() + j);
  }
}

TEST(PagedMemory, KeepsItsValuesInAFile) {
  const Paged paged(scratch_folder());
  Matrix<float> large(kRows, kCols);
  EXPECT_EQ(large(kRows - 1, kCols - 1), 0.0F);
  fill(large);
  EXPECT_TRUE(in_a_file(large.data()));
  const Matrix<float> copy = large.clone();
  large = Matrix<float>(2, 2);  // the mapping goes, the heap comes
  EXPECT_EQ(copy(kRows - 1, kCols - 1), static_cast<float>(kRows * kCols - 1));
  EXPECT_EQ(large(1, 1), 0.0F);
}

TEST(PagedMemory, SmallMatricesStayInMemory) {
  const Paged paged(scratch_folder());
  const Matrix<float> small(255, 1024);
  EXPECT_FALSE(in_a_file(small.data()));
}

TEST(PagedMemory, LeavesNoFileBehind) {
  const std::string folder = scratch_folder();
  const Paged paged(folder);
  const Matrix<float> large(kRows, kCols);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(PagedMemory, WithoutAPlaceMemoryIsTaken) {
  const Paged paged("/proc/no-such-folder");
  Matrix<float> large(kRows, kCols);
  fill(large);
  EXPECT_EQ(large(1, 1), static_cast<float>(kCols + 1));
  EXPECT_FALSE(in_a_file(large.data()));
}

TEST(PagedMemory, KnowsWhatIsFree) {
  EXPECT_GT(free_memory(), std::size_t{1} << 20U);
  EXPECT_LT(free_memory(), std::size_t{1} << 50U);
  // A limit on data that leaves 64 MiB of it.
  constexpr std::size_t kLeft = std::size_t{64} << 20U;
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "VmData:") continue;
  std::size_t used = 0;
  ASSERT_TRUE(status >> used);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &before), 0);
  rlimit bound = before;
  bound.rlim_cur = 1024 * used + kLeft;
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &bound), 0);
  const std::size_t left = free_memory();
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &before), 0);
  EXPECT_LE(left, kLeft);
}

TEST(PagedMemory, KeepsTheFirstRows) {
  Matrix<float> rows(3, 2);
  fill(rows);
  rows.keep_first(2);
  EXPECT_EQ(rows.rows(), 2U);
  EXPECT_EQ(rows(1, 1), 3.0F);
  EXPECT_EQ(rows.clone().rows(), 2U);
}

TEST(PagedMemory, KnowsFoldersThatAreMemory) {
  EXPECT_FALSE(lies_in_memory("/proc"));
  EXPECT_FALSE(lies_in_memory("/no-such-folder"));
  if (!std::filesystem::is_directory("/dev/shm")) GTEST_SKIP() << "no folder here is known to be memory";
  EXPECT_TRUE(lies_in_memory("/dev/shm"));
}

}  // namespace
}  // namespace annulus
