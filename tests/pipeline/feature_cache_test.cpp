// Rows come back by content; torn and damaged records count as missing; threads and processes share one cache.
#include "annulus/pipeline/feature_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

constexpr std::size_t kDimension = 6;

Digest digest(std::size_t number) {
  const std::string text = "image " + std::to_string(number);
  return sha256_digest(std::as_bytes(std::span(text)));
}

std::vector<float> row(std::size_t number) {
  std::vector<float> values(kDimension);
  for (std::size_t i = 0; i < kDimension; ++i) values[i] = static_cast<float>(number * 10 + i);
  return values;
}

class FeatureCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("annulus_cache_" + std::to_string(::getpid()) + "_" +
                                                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file(const std::string& extension) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() == extension) return entry.path();
    }
    return {};
  }
  // Holds the right row, and says so after reading it.
  static bool holds(const FeatureCache& cache, std::size_t number) {
    const auto position = cache.find(digest(number));
    std::vector<float> found(kDimension);
    return position && cache.read(*position, found) && found == row(number);
  }

  std::filesystem::path folder_;
};

TEST_F(FeatureCacheTest, RowsAreMappedBeyondTheLifeOfTheCache) {
  CachedRows mapped;
  {
    FeatureCache cache(folder_, "maker", kDimension);
    EXPECT_EQ(cache.map_rows().rows.rows(), 0U);
    for (std::size_t i = 0; i < 50; ++i) cache.append(digest(i), row(i));
    mapped = cache.map_rows();
    // Rows that come later are not seen and do no harm.
    for (std::size_t i = 50; i < 3000; ++i) cache.append(digest(i), row(i));
  }
  std::filesystem::remove_all(folder_);
  ASSERT_EQ(mapped.rows.rows(), 50U);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(std::vector<float>(mapped.rows.row(i).begin(), mapped.rows.row(i).end()), row(i)) << i;
  }
}

TEST_F(FeatureCacheTest, RowsThatGotLostAreAnError) {
  FeatureCache cache(folder_, "maker", kDimension);
  for (std::size_t i = 0; i < 5; ++i) cache.append(digest(i), row(i));
  std::filesystem::resize_file(file(".rows"), 4 * kDimension * sizeof(float));
  EXPECT_THROW(cache.map_rows(), Error);
}

TEST_F(FeatureCacheTest, RowsComeBackAfterReopening) {
  {
    FeatureCache cache(folder_, "maker", kDimension);
    EXPECT_FALSE(cache.find(digest(0)));
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(cache.append(digest(i), row(i)), i);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_TRUE(holds(cache, i));
  }
  const FeatureCache again(folder_, "maker", kDimension);
  EXPECT_EQ(again.rows(), 100U);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_TRUE(holds(again, i)) << i;
  EXPECT_FALSE(again.find(digest(100)));
  const FeatureCache other(folder_, "another maker", kDimension);
  EXPECT_EQ(other.rows(), 0U);
}

TEST_F(FeatureCacheTest, TruncatedAnywhereItKeepsWholeRecordsAndContinues) {
  { FeatureCache(folder_, "maker", kDimension).append(digest(0), row(0)); }
  { FeatureCache(folder_, "maker", kDimension).append(digest(1), row(1)); }
  const auto keys = file(".keys");
  const auto rows = file(".rows");
  const auto whole = std::filesystem::file_size(keys);
  for (std::uintmax_t cut = 0; cut < whole; ++cut) {
    std::filesystem::resize_file(keys, cut);
    FeatureCache cache(folder_, "maker", kDimension);
    const std::size_t kept = cut < 64 ? 0 : static_cast<std::size_t>((cut - 64) / 40);
    EXPECT_EQ(cache.rows(), kept) << cut;
    for (std::size_t i = 0; i < kept; ++i) EXPECT_TRUE(holds(cache, i));
    for (std::size_t i = kept; i < 2; ++i) cache.append(digest(i), row(i));
    for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(holds(cache, i)) << cut;
    EXPECT_EQ(std::filesystem::file_size(keys), whole);
  }
  // The rows themselves lost: the keys are there, their rows count as missing, and can be stored again.
  std::filesystem::resize_file(rows, kDimension * sizeof(float) + 3);
  FeatureCache cache(folder_, "maker", kDimension);
  EXPECT_TRUE(holds(cache, 0));
  EXPECT_FALSE(holds(cache, 1));
  cache.append(digest(1), row(1));
  EXPECT_TRUE(holds(cache, 1));
  EXPECT_TRUE(holds(FeatureCache(folder_, "maker", kDimension), 1));
}

TEST_F(FeatureCacheTest, EveryFlippedByteOfARecordIsNoticed) {
  { FeatureCache(folder_, "maker", kDimension).append(digest(0), row(0)); }
  for (const char* extension : {".keys", ".rows"}) {
    const auto path = file(extension);
    const std::size_t first = std::string(extension) == ".keys" ? 64 : 0;
    for (std::size_t place = first; place < std::filesystem::file_size(path); ++place) {
      std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekg(static_cast<std::streamoff>(place));
      const char old = static_cast<char>(stream.get());
      stream.seekp(static_cast<std::streamoff>(place));
      stream.put(static_cast<char>(old ^ 1));
      stream.flush();
      EXPECT_FALSE(holds(FeatureCache(folder_, "maker", kDimension), 0)) << extension << " " << place;
      stream.seekp(static_cast<std::streamoff>(place));
      stream.put(old);
    }
  }
  EXPECT_TRUE(holds(FeatureCache(folder_, "maker", kDimension), 0));
}

TEST_F(FeatureCacheTest, AForeignFileIsRejected) {
  { FeatureCache(folder_, "maker", kDimension).append(digest(0), row(0)); }
  EXPECT_THROW(FeatureCache(folder_, "maker", kDimension + 1), Error);
  std::ofstream(file(".keys")) << std::string(200, 'x');
  EXPECT_THROW(FeatureCache(folder_, "maker", kDimension), Error);
}

TEST_F(FeatureCacheTest, ThreadsMayShareIt) {
  FeatureCache cache(folder_, "maker", kDimension);
  std::atomic<int> wrong{0};
  parallel_for(4, 400, [&](std::size_t task) {
    const std::size_t number = task % 100;  // every row is stored by four tasks
    if (!cache.find(digest(number))) cache.append(digest(number), row(number));
    if (!holds(cache, number)) wrong.fetch_add(1);
  });
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(FeatureCache(folder_, "maker", kDimension).rows(), 100U);
}

// Processes that are killed at any moment, several at once, never damage what others stored.
TEST_F(FeatureCacheTest, KilledProcessesLoseAtMostTheirLastRow) {
  constexpr std::size_t kRows = 300;
  FeatureCache watcher(folder_, "maker", kDimension);
  for (int round = 0; round < 12; ++round) {
    std::vector<pid_t> children;
    for (int child = 0; child < 2; ++child) {
      const pid_t pid = fork();
      if (pid == 0) {
        FeatureCache own(folder_, "maker", kDimension);
        for (std::size_t i = 0; i < kRows; ++i) {
          const std::size_t number = child == 0 ? i : kRows - 1 - i;
          if (!own.find(digest(number))) own.append(digest(number), row(number));
          usleep(20);
        }
        _exit(0);
      }
      children.push_back(pid);
    }
    usleep(static_cast<useconds_t>(500 * (round + 1)));
    for (const pid_t pid : children) kill(pid, SIGKILL);
    for (const pid_t pid : children) waitpid(pid, nullptr, 0);
    const FeatureCache cache(folder_, "maker", kDimension);
    std::size_t held = 0;
    for (std::size_t i = 0; i < kRows; ++i) {
      if (!cache.find(digest(i))) continue;
      ++held;
      ASSERT_TRUE(holds(cache, i)) << "round " << round << ", row " << i;
    }
    ASSERT_EQ(held, cache.rows());
  }
  for (std::size_t i = 0; i < kRows; ++i) watcher.append(digest(i), row(i));
  for (std::size_t i = 0; i < kRows; ++i) EXPECT_TRUE(holds(watcher, i));
}

// Puts the variable back that names the user's cache.
class UserCacheTest : public ::testing::Test {
 protected:
  UserCacheTest() {
    if (const char* value = std::getenv("ANNULUS_CACHE")) before_ = value;
  }
  ~UserCacheTest() override {
    if (before_) {
      ::setenv("ANNULUS_CACHE", before_->c_str(), 1);
    } else {
      ::unsetenv("ANNULUS_CACHE");
    }
  }
  static void use(const std::filesystem::path& folder) { ::setenv("ANNULUS_CACHE", folder.c_str(), 1); }

  ScratchFolder scratch_;

 private:
  std::optional<std::string> before_;
};

TEST_F(UserCacheTest, IsUsedWhereItCanBeWritten) {
  use(scratch_ / "cache");
  std::string warning;
  open_feature_cache({}, "maker", 4, warning);
  EXPECT_TRUE(warning.empty()) << warning;
  EXPECT_FALSE(std::filesystem::is_empty(scratch_ / "cache/features"));
}

TEST_F(UserCacheTest, ThatCannotBeWrittenIsReplacedForThisTimeWithAWarning) {
  use(scratch_.write("file", "no folder") / "cache");
  std::string warning;
  const auto cache = open_feature_cache({}, "maker", 2, warning);
  EXPECT_NE(warning.find("features are not kept for the next time: could not make the cache folder"), std::string::npos)
      << warning;
  const std::vector<float> values{1.0F, 2.0F};
  const std::uint64_t position = cache->append(digest(1), values);
  EXPECT_EQ(cache->find(digest(1)), position);
  const CachedRows rows = cache->map_rows();
  ASSERT_EQ(rows.rows.rows(), 1U);
  EXPECT_EQ(rows.rows.row(0)[1], 2.0F);
}

TEST_F(UserCacheTest, AFolderThatWasAskedForAndCannotBeWrittenIsAnError) {
  std::string warning;
  const std::filesystem::path folder = scratch_.write("file", "no folder") / "cache";
  EXPECT_THROW(open_feature_cache(folder, "maker", 2, warning), Error);
}

}  // namespace
}  // namespace annulus
