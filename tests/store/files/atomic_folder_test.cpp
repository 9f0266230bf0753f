// A folder is there whole or not at all, in place of an empty one or of another.
#include "annulus/store/files/atomic_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "annulus/store/files/atomic_file.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

TEST(AtomicFolder, AppearsWithAllItsFiles) {
  const ScratchFolder scratch;
  {
    AtomicFolder folder(scratch / "page/");
    write_file(folder.path() / "a", "1");
    write_file(folder.path() / "b", "2");
    EXPECT_FALSE(std::filesystem::exists(scratch / "page"));
    folder.commit();
  }
  EXPECT_EQ(content_of(scratch / "page/a") + content_of(scratch / "page/b"), "12");
  EXPECT_EQ(scratch.files(), 1U);
}

TEST(AtomicFolder, LeavesNothingWithoutCommit) {
  const ScratchFolder scratch;
  {
    const AtomicFolder folder(scratch / "page");
    write_file(folder.path() / "a", "1");
  }
  EXPECT_EQ(scratch.files(), 0U);
}

TEST(AtomicFolder, ReplacesAnEmptyFolderAnotherOneAndALink) {
  const ScratchFolder scratch;
  std::filesystem::create_directory(scratch / "page");
  std::filesystem::create_directory_symlink("page", scratch / "link");
  for (const char* content : {"first", "second", "third"}) {
    AtomicFolder folder(scratch / (content == std::string("third") ? "link" : "page"));
    write_file(folder.path() / content, content);
    folder.commit();
  }
  EXPECT_EQ(content_of(scratch / "page/third"), "third");
  EXPECT_FALSE(std::filesystem::exists(scratch / "page/second"));
  EXPECT_TRUE(std::filesystem::is_symlink(scratch / "link"));
  EXPECT_EQ(scratch.files(), 2U);
}

TEST(AtomicFolder, RemovesWhatAKilledProcessLeft) {
  const ScratchFolder scratch;
  const pid_t child = ::fork();
  if (child == 0) {
    const AtomicFolder folder(scratch / "page");
    write_file(folder.path() / "a", "1");
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(scratch.files(), 1U);
  // One of another name stays: somebody else may know what it is.
  std::filesystem::create_directory(scratch / ".other.1.0.tmp");
  const AtomicFolder folder(scratch / "page");
  EXPECT_EQ(scratch.files(), 2U);
}

TEST(AtomicFolder, SaysWhatIsInTheWay) {
  const ScratchFolder scratch;
  scratch.write("file", "");
  expect_error(ErrorKind::kIo, "expected the name of a folder", [&] { const AtomicFolder folder(scratch / "file"); });
  expect_error(ErrorKind::kIo, "cannot be created", [&] { const AtomicFolder folder(scratch / "none/page"); });
}

}  // namespace
}  // namespace annulus
