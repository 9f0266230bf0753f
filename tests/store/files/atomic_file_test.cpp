// Files appear whole or not at all, and mapped files are what was written.
#include "annulus/store/files/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <string>

#include "annulus/store/files/mapped_file.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

TEST(AtomicFile, ReplacesOnlyByCommit) {
  const ScratchFolder folder;
  folder.write("a", "old");
  {
    AtomicFile file(folder / "a");
    file.write("ne");
    file.write("w");
    EXPECT_EQ(content_of(folder / "a"), "old");
    file.commit();
  }
  EXPECT_EQ(content_of(folder / "a"), "new");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(AtomicFile, LeavesNothingBehindWithoutCommit) {
  const ScratchFolder folder;
  {
    AtomicFile file(folder / "a");
    file.write("half");
    EXPECT_EQ(folder.files(), 1U);
  }
  EXPECT_EQ(folder.files(), 0U);
}

TEST(AtomicFile, KeepsLinks) {
  const ScratchFolder folder;
  folder.write("real", "old");
  std::filesystem::create_symlink("real", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(content_of(folder / "real"), "new");
}

TEST(AtomicFile, KeepsTheRightsOfTheFileItReplaces) {
  const ScratchFolder folder;
  for (const mode_t mode : {0600U, 0640U, 0444U, 0755U}) {
    const std::string file = (folder / "a").string();
    folder.write("a", "old");
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    const bool other_owner = ::geteuid() == 0 && ::chown(file.c_str(), 12, 34) == 0;
    {
      AtomicFile fresh(file);
      // Nobody else reads the new content before it is in place.
      struct stat before {};
      ASSERT_EQ(::stat(fresh.temporary_path().c_str(), &before), 0);
      EXPECT_EQ(before.st_mode & 0077U, 0U);
      fresh.write("new");
      fresh.commit();
    }
    struct stat status {};
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, mode);
    if (other_owner) {
      EXPECT_EQ(status.st_uid, 12U);
      EXPECT_EQ(status.st_gid, 34U);
    }
    EXPECT_EQ(content_of(file), "new");
    std::filesystem::remove(file);
  }
}

TEST(AtomicFile, WhatKilledProcessesLeftIsRemovedAndNothingElse) {
  const ScratchFolder folder;
  constexpr int kNoProcess = 99'999'999;  // above the largest number that the system gives
  const auto name = [](const char* target, int process) { return fmt::format(".{}.{}.0.tmp", target, process); };
  folder.write(name("a", kNoProcess), "left");
  folder.write(name("another.name", kNoProcess), "left");
  folder.write(name("a", ::getpid()), "ours");
  folder.write(".a.tmp", "somebody's");
  folder.write(".a.12x.0.tmp", "somebody's");
  folder.write(fmt::format("a.{}.0.tmp", kNoProcess), "no hidden file");
  folder.write(name("locked", kNoProcess), "of a process elsewhere");
  const int locked = ::open((folder / name("locked", kNoProcess)).c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(locked, LOCK_EX | LOCK_NB), 0);
  write_file(folder / "a", "new");
  ::close(locked);
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) left.insert(entry.path().filename());
  EXPECT_EQ(left, (std::set<std::string>{"a", name("a", ::getpid()), ".a.tmp", ".a.12x.0.tmp",
                                         fmt::format("a.{}.0.tmp", kNoProcess), name("locked", kNoProcess)}));
}

TEST(AtomicFile, BytesMayBeWrittenOver) {
  const ScratchFolder folder;
  AtomicFile file(folder / "a");
  file.write("0123456789");
  file.overwrite(3, "xyz");
  file.write("ab");
  file.commit();
  EXPECT_EQ(content_of(folder / "a"), "012xyz6789ab");
}

TEST(AtomicFile, SaysWhyNot) {
  const ScratchFolder folder;
  expect_error(ErrorKind::kIo, "missing/a: cannot be created", [&] { AtomicFile(folder / "missing/a"); });
  expect_error(ErrorKind::kIo, "found a folder", [&] { AtomicFile(folder.path()); });
  expect_error(ErrorKind::kIo, "found a folder or a device", [] { AtomicFile("/dev/null"); });
}

TEST(MappedFile, ShowsTheBytes) {
  const ScratchFolder folder;
  EXPECT_EQ(as_text(map_file(folder.write("a", "some bytes")).bytes), "some bytes");
  EXPECT_TRUE(map_file(folder.write("empty", "")).bytes.empty());
  expect_error(ErrorKind::kIo, "cannot be opened", [&] { map_file(folder / "b"); });
  expect_error(ErrorKind::kIo, "found a device or pipe", [] { map_file("/dev/null"); });
}

TEST(MappedFile, DoesNotWaitForAPipe) {
  const ScratchFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_error(ErrorKind::kIo, "found a device or pipe", [&] { map_file(folder / "pipe"); });
}

TEST(MappedFile, OutlivesItsReplacement) {
  const ScratchFolder folder;
  const FileBytes old = map_file(folder.write("a", "old"));
  write_file(folder / "a", "brand new");
  EXPECT_EQ(as_text(old.bytes), "old");
}

}  // namespace
}  // namespace annulus
