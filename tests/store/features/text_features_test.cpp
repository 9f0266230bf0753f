// CSV and LIBSVM text, and the rules that turn labels into classes.
#include <gtest/gtest.h>

#include "annulus/store/features/feature_file.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/sample_features.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

TEST(TextFeatures, AreKnownByName) {
  const ScratchFolder folder;
  EXPECT_EQ(read_features(folder.write("a.csv", "1,2,0\n3,4,1\n")).dimension(), 2U);
  for (const char* const name : {"a.svm", "a.libsvm", "a.TXT"}) {
    EXPECT_EQ(read_features(folder.write(name, "1 1:1 3:1\n2 1:1\n")).dimension(), 3U);
  }
}

}  // namespace
}  // namespace annulus
