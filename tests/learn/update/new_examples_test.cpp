// Which rows of a set are the examples of a class.
#include "annulus/learn/update/new_examples.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

// Six rows, of which the first number tells the row. Row 4, an ash, is a test example.
FeatureSet six_rows(std::vector<std::int32_t> labels, std::vector<std::string> names) {
  Matrix<float> features(6, 2);
  for (std::size_t i = 0; i < features.rows(); ++i) features(i, 0) = static_cast<float>(i + 1);
  FeatureSetParts parts = parts_of(std::move(features));
  parts.labels = std::move(labels);
  parts.class_names = std::move(names);
  if (!parts.labels.empty()) parts.is_train = {1, 1, 1, 1, 0, 1};
  for (int i = 1; i <= 6; ++i) parts.paths.push_back(std::to_string(i) + ".png");
  parts.source = "six rows";
  return FeatureSet(std::move(parts));
}

FeatureSet two_classes() { return six_rows({0, 1, 0, 1, 0, 1}, {"ash", "birch"}); }

std::vector<float> numbers_of(const NewExamples& examples) {
  std::vector<float> numbers;
  for (std::size_t i = 0; i < examples.features.rows(); ++i) {
    numbers.push_back(examples.features(i, 0));
    EXPECT_EQ(examples.paths[i], std::to_string(static_cast<int>(numbers.back())) + ".png");
  }
  return numbers;
}

TEST(NewExamples, OfALabelledSetAreThoseOfTheClassWithoutTestExamples) {
  EXPECT_EQ(numbers_of(examples_of_class(two_classes(), {"ash"})), (std::vector<float>{1, 3}));
  EXPECT_EQ(numbers_of(examples_of_class(two_classes(), {"elm", "birch"})), (std::vector<float>{2, 4, 6}));
  const FeatureSet one = six_rows({0, 0, 0, 0, 0, 0}, {"photos"});
  EXPECT_EQ(numbers_of(examples_of_class(one, {"elm"})), (std::vector<float>{1, 2, 3, 4, 6}));
}

TEST(NewExamples, AreAllWhereLabelsSayNothing) {
  const std::vector<float> all{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(numbers_of(examples_of_class(six_rows({}, {}), {"elm"})), all);
  EXPECT_EQ(numbers_of(examples_of_class(two_classes(), {"elm", {}, true})), all);
}

TEST(NewExamples, ThatAreNotThereAreAnError) {
  expect_error(ErrorKind::kInput, "found 2 classes without it: choose one with class",
               [] { examples_of_class(two_classes(), {"elm"}); });
  expect_error(ErrorKind::kInput, "the class \"oak\", found 2 classes without it", [] {
    examples_of_class(two_classes(), {"elm", "oak"});
  });
  expect_error(ErrorKind::kUsage, "expected a labelled feature file for class, found six rows", [] {
    examples_of_class(six_rows({}, {}), {"elm", "ash"});
  });
  const FeatureSet no_birch = six_rows({0, 0, 0, 0, 1, 0}, {"ash", "birch"});
  expect_error(ErrorKind::kInput, "expected examples to learn from", [&] { examples_of_class(no_birch, {"birch"}); });
}

}  // namespace
}  // namespace annulus
