// Every method that predicts rows one by one, on rows whose answers are known, and its independence of threads.
#include "annulus/learn/baselines/method.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/learn/calibration/calibration.h"
#include "annulus/learn/model/prepared_head.h"
#include "tests/fixtures/method_tasks.h"

namespace annulus {
namespace {

std::vector<Method> inductive_methods() {
  std::vector<Method> list;
  for (const Method& method : methods()) {
    if (!method.transductive()) list.push_back(method);
  }
  return list;
}

TEST(Methods, TransductiveOnesAreMarked) {
  std::vector<std::string> marked;
  for (const Method& method : methods()) {
    EXPECT_EQ(method.fit == nullptr, method.transductive()) << method.name;
    EXPECT_EQ(is_transductive(method.name), method.transductive()) << method.name;
    const std::string label = method_label(method.name);
    EXPECT_EQ(label == method.name, !method.transductive());
    if (method.transductive()) marked.push_back(label);
  }
  EXPECT_EQ(marked, (std::vector<std::string>{"bd-cspn (transductive)", "laplacian-shot (transductive)",
                                              "tim (transductive)", "alpha-tim (transductive)", "pt-map (transductive)",
                                              "transductive-finetune (transductive)"}));
  EXPECT_EQ(method_label("of another program"), "of another program");
  EXPECT_FALSE(is_transductive("of another program"));
}

TEST(Methods, EveryOneLearnsOverlappingClassesFarBetterThanChance) {
  const Overlapping task = overlapping_classes();
  for (const Method& method : inductive_methods()) {
    const Classes named = answers(std::string(method.name), task.support, task.queries.view());
    ASSERT_EQ(named.size(), task.queries.rows());
    std::size_t correct = 0;
    for (std::size_t i = 0; i < named.size(); ++i) {
      if (named[i] == task.truth[i]) ++correct;
    }
    EXPECT_GT(3 * correct, named.size()) << method.name;  // chance is one in twelve
  }
}

// Alone, among other threads that fit as well, and with threads of its own: the same answers.
TEST(Methods, ThreadsDoNotMatter) {
  const Overlapping task = overlapping_classes();
  Recipe recipe = quick_recipe();
  for (const Method& method : inductive_methods()) {
    set_threads(recipe, 1);
    const Classes alone = method.fit(task.support, {recipe, &base_of(24)}, {}).predict(task.queries.view());
    std::vector<Classes> together(4);
    parallel_for(3, together.size(), [&](std::size_t i) {
      together[i] = method.fit(task.support, {recipe, &base_of(24)}, {}).predict(task.queries.view());
    });
    for (const Classes& named : together) EXPECT_EQ(named, alone) << method.name;
    set_threads(recipe, 3);
    EXPECT_EQ(method.fit(task.support, {recipe, &base_of(24)}, {}).predict(task.queries.view()), alone) << method.name;
  }
}

TEST(Methods, APredictionDoesNotDependOnTheOtherRows) {
  const Overlapping task = overlapping_classes();
  const Recipe recipe = quick_recipe();
  for (const Method& method : inductive_methods()) {
    const FittedMethod fitted = method.fit(task.support, {recipe, &base_of(24)}, {});
    const Classes together = fitted.predict(task.queries.view());
    if (fitted.predict_and_score) {
      Matrix<float> scores(task.queries.rows(), task.support.classes);
      EXPECT_EQ(fitted.predict_and_score(task.queries.view(), scores.view()), together) << method.name;
    }
    for (const std::size_t i : {std::size_t{0}, std::size_t{17}, task.queries.rows() - 1}) {
      EXPECT_EQ(fitted.predict(task.queries.view().rows_at(i, 1)), Classes{together[i]}) << method.name;
    }
  }
}

// With equal rows in two classes there is nothing to learn between them, and still an answer.
TEST(Methods, EqualExamplesAreAccepted) {
  const LabelledExamples support{at_degrees({0, 0, 0, 0, 90, 90}), {0, 0, 1, 1, 2, 2}, 3};
  for (const Method& method : inductive_methods()) {
    const Classes named = answers(std::string(method.name), support, at_degrees({85, 5}).view());
    EXPECT_EQ(named[0], 2) << method.name;
    EXPECT_LT(named[1], 2) << method.name;
  }
}

// One class against another, where some libraries keep a single vector of weights.
TEST(Methods, TwoClassesAreEnough) {
  const LabelledExamples support{at_degrees({10, -10, 100, 80}), {1, 1, 0, 0}, 2};
  for (const Method& method : inductive_methods()) {
    EXPECT_EQ(answers(std::string(method.name), support, at_degrees({20, 70}).view()), (Classes{1, 0})) << method.name;
  }
}

TEST(Methods, PrintNothing) {
  const Overlapping task = overlapping_classes();
  for (const Method& method : inductive_methods()) {
    testing::internal::CaptureStdout();
    answers(std::string(method.name), task.support, task.queries.view());
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << method.name;
  }
}

TEST(Methods, StopWhenProgressSaysSo) {
  const Overlapping task = overlapping_classes();
  const Recipe recipe = quick_recipe();
  for (const Method& method : inductive_methods()) {
    EXPECT_THROW(method.fit(task.support, {recipe, &base_of(24)}, [](const Progress&) { return false; }), Error)
        << method.name;
  }
}

}  // namespace
}  // namespace annulus
