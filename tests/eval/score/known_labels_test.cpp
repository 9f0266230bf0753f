// Labels are matched by name; what cannot be scored is said.
#include "annulus/eval/score/known_labels.h"

#include <gtest/gtest.h>

#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

const std::vector<std::string> kModel{"ash", "birch"};

TEST(KnownLabels, AreMatchedByNameAndTrainingExamplesAreNotScored) {
  const std::vector<std::int32_t> labels{0, 1, 2, 2};
  const std::vector<std::string> names{"birch", "elm", "ash"};
  const std::vector<std::uint8_t> is_train{0, 0, 0, 1};
  const KnownLabels known(labels, names, is_train, kModel);
  EXPECT_EQ(known.of(0), 1);
  EXPECT_EQ(known.of(1), kUnknownClass);
  EXPECT_EQ(known.of(2), 0);
  EXPECT_FALSE(known.of(3).has_value());
  EXPECT_TRUE(known.is_training(3));
  EXPECT_NO_THROW(known.check("set"));
}

TEST(KnownLabels, SayWhatIsMissing) {
  expect_error(ErrorKind::kInput, "set: expected labelled examples", [] {
    const KnownLabels none({}, {}, {}, kModel);
    EXPECT_FALSE(none.of(0).has_value());
    none.check("set");
  });
  const std::vector<std::int32_t> labels{0, 1};
  const std::vector<std::uint8_t> all_train{1, 1};
  expect_error(ErrorKind::kInput, "2 that are all marked as training examples",
               [&] { KnownLabels(labels, kModel, all_train, kModel).check("set"); });
  const std::vector<std::string> others{"elm", "fir"};
  expect_error(ErrorKind::kInput, "(ash, birch), found none of them among the labels (elm, fir)",
               [&] { KnownLabels(labels, others, {}, kModel).check("set"); });
  // The only known class has training examples alone.
  const std::vector<std::string> half{"elm", "ash"};
  const std::vector<std::uint8_t> second_train{0, 1};
  expect_error(ErrorKind::kInput, "found none of them",
               [&] { KnownLabels(labels, half, second_train, kModel).check("set"); });
}

}  // namespace
}  // namespace annulus
