// Whole files and their metadata.
#include "annulus/store/files/whole_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "annulus/base/error.h"
#include "annulus/store/files/atomic_file.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

TEST(WholeFile, ReadsBytesAndSeesReplacement) {
  const ScratchFolder scratch;
  const std::filesystem::path path = scratch / "file";
  write_file(path, "first");
  const WholeFile first = read_whole_file(path, 100);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(first.bytes.data()), first.bytes.size()), "first");
  EXPECT_EQ(first.identity, identity_of(path));
  write_file(path, "other");
  EXPECT_NE(first.identity, identity_of(path));
  EXPECT_THROW(read_whole_file(path, 4), Error);
  std::filesystem::remove(path);
  EXPECT_THROW(read_whole_file(path, 100), Error);
  EXPECT_THROW(identity_of(path), Error);
  EXPECT_THROW(read_whole_file(std::filesystem::temp_directory_path(), 100), Error);
}

// Opening one waits for a writer unless it is opened otherwise.
TEST(WholeFile, ANamedPipeIsNoFileAndIsNotWaitedFor) {
  const ScratchFolder scratch;
  const std::filesystem::path path = scratch / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(read_whole_file(path, 100), Error);
}

}  // namespace
}  // namespace annulus
