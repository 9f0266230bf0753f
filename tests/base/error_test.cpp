// Errors: the message, the field it is about, and the same message in the words of a program.
#include "annulus/base/error.h"

#include <gtest/gtest.h>

namespace annulus {
namespace {

template <class Action>
Error thrown_by(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::kInternal, "nothing was thrown"};
}

TEST(Error, AMessageWithoutAFieldStaysAsItIs) {
  const Error error = thrown_by([] { fail(ErrorKind::kInput, "expected {} classes, found {}", 2, 1); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_EQ(error.field(), "");
  EXPECT_STREQ(error.what(), "expected 2 classes, found 1");
  EXPECT_EQ(error.message_with("--lr"), "expected 2 classes, found 1");
}

TEST(Error, AFieldIsSaidInTheWordsOfAProgram) {
  const Error error = thrown_by(
      [] { fail_field(ErrorKind::kUsage, "learning_rate", "expected {} to be at most {}, found {}", 10, 12.5); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(error.field(), "learning_rate");
  EXPECT_STREQ(error.what(), "expected learning_rate to be at most 10, found 12.5");
  EXPECT_EQ(error.message_with("--lr"), "expected --lr to be at most 10, found 12.5");
  EXPECT_EQ(error.message_with("learning_rate="), "expected learning_rate= to be at most 10, found 12.5");
}

TEST(Error, OnlyThePlaceOfTheFieldIsReplaced) {
  const Error error = thrown_by([] {
    fail_field(ErrorKind::kUsage, "head", "ahead of all: expected {} to be among {}, found \"{}\"", "linear", "head");
  });
  EXPECT_EQ(error.message_with("--head"), "ahead of all: expected --head to be among linear, found \"head\"");
}

}  // namespace
}  // namespace annulus
