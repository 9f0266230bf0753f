// Locks on numbers of a file and on files: one holder at a time.
#include "annulus/store/files/byte_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

TEST(ByteLock, ANumberHasOneHolderAndOthersAreFree) {
  const ScratchFolder folder;
  const auto path = folder.write("work", "");
  const int first = ::open(path.c_str(), O_RDWR);
  const int second = ::open(path.c_str(), O_RDWR);
  auto held = try_lock_number(first, 7, path);
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(try_lock_number(second, 7, path), nullptr);
  EXPECT_NE(try_lock_number(second, 8, path), nullptr);
  held.reset();
  EXPECT_NE(try_lock_number(second, 7, path), nullptr);
  ::close(first);
  ::close(second);
}

TEST(HeldFile, OneHoldsItAndTheLastRemovesIt) {
  const ScratchFolder folder;
  {
    const HeldFile first(folder / "lock");
    EXPECT_TRUE(first.held());
    const HeldFile second(folder / "lock");
    EXPECT_FALSE(second.held());
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "lock"));
}

TEST(NumberOfHex, ComesFromTheFirstDigits) {
  EXPECT_EQ(number_of_hex("abcdef0123456789ffff"), number_of_hex("abcdef0123456789"));
  EXPECT_NE(number_of_hex("abcdef0123456789"), number_of_hex("bbcdef0123456789"));
  EXPECT_NE(number_of_hex("0000000000000000"), 0U);
}

}  // namespace
}  // namespace annulus
