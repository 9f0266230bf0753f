// Fits, updates, undo, cancellation and the file of the studio's model.
#include "studio_engine/model_trainer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "annulus/base/error.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/made_snapshot.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus::studio {
namespace {

const PhotosOfClasses kThree = {
    {"cat", {0, 1, 2, 3, 4}}, {"dog", {100, 101, 102, 103, 104}}, {"owl", {200, 201, 202, 203, 204}}};

std::string label_of(const TrainedModel& model, int number) {
  const TrainingSnapshot asked = made_snapshot("", {{"asked", {number}}});
  const auto prediction = model.predictor->predict(asked.data.rows.features.view()).front();
  return model.model.class_names[static_cast<std::size_t>(prediction.top.front().index)];
}

TEST(ModelTrainer, FitsThenUpdatesThenGoesBack) {
  const ScratchFolder folder;
  ModelTrainer trainer(folder / "model.safetensors", 1);
  EXPECT_EQ(trainer.model(), nullptr);
  EXPECT_FALSE(trainer.can_update());
  EXPECT_FALSE(trainer.update(made_snapshot("a", kThree)));
  trainer.fit(made_snapshot("a", kThree), {});
  const auto fitted = trainer.model();
  ASSERT_NE(fitted, nullptr);
  EXPECT_EQ(fitted->content, "a");
  EXPECT_EQ(fitted->number, 1U);
  EXPECT_FALSE(fitted->incremental);
  EXPECT_EQ(fitted->held_out, 15U);
  EXPECT_GE(fitted->held_out_correct, 14U);
  EXPECT_EQ(label_of(*fitted, 150), "dog");
  EXPECT_TRUE(std::filesystem::exists(folder / "model.safetensors"));

  PhotosOfClasses more = kThree;
  more["yak"] = {300, 301};
  ASSERT_TRUE(trainer.can_update());
  ASSERT_TRUE(trainer.update(made_snapshot("b", more)));
  const auto updated = trainer.model();
  EXPECT_EQ(updated->content, "b");
  EXPECT_EQ(updated->number, 2U);
  EXPECT_TRUE(updated->incremental);
  EXPECT_EQ(updated->held_out, fitted->held_out);
  EXPECT_EQ(label_of(*updated, 350), "yak");
  EXPECT_EQ(label_of(*updated, 250), "owl");

  EXPECT_FALSE(trainer.restore_fit("b"));
  EXPECT_TRUE(trainer.restore_fit("a"));
  EXPECT_EQ(trainer.model(), fitted);
}

TEST(ModelTrainer, AClassThatIsRenamedKeepsItsPhotos) {
  const ScratchFolder folder;
  ModelTrainer trainer(folder / "model.safetensors", 1);
  trainer.fit(made_snapshot("a", kThree), {});
  PhotosOfClasses renamed = kThree;
  auto node = renamed.extract("cat");
  node.key() = "lynx";
  renamed.insert(std::move(node));
  // All five photos of a class would be too much of a change.
  ASSERT_TRUE(trainer.update(made_snapshot("b", renamed)));
  const auto& names = trainer.model()->model.class_names;
  EXPECT_TRUE(std::find(names.begin(), names.end(), "lynx") != names.end());
  EXPECT_TRUE(std::find(names.begin(), names.end(), "cat") == names.end());
  EXPECT_EQ(label_of(*trainer.model(), 50), "lynx");

  // While there is still a class of the old name, photos were moved: too many here.
  PhotosOfClasses moved = renamed;
  moved["fox"] = moved["lynx"];
  moved["lynx"] = {};
  EXPECT_FALSE(trainer.update(made_snapshot("c", moved)));
  EXPECT_EQ(trainer.model()->content, "b");
}

TEST(ModelTrainer, LoadsTheModelOfTheLastFit) {
  const ScratchFolder folder;
  const auto file = folder / "model.safetensors";
  std::size_t correct = 0;
  {
    ModelTrainer trainer(file, 1);
    EXPECT_FALSE(trainer.load());
    trainer.fit(made_snapshot("a", kThree), {});
    correct = trainer.model()->held_out_correct;
  }
  ModelTrainer trainer(file, 1);
  ASSERT_TRUE(trainer.load());
  EXPECT_EQ(trainer.model()->content, "a");
  EXPECT_EQ(trainer.model()->held_out, 15U);
  EXPECT_EQ(trainer.model()->held_out_correct, correct);
  EXPECT_FALSE(trainer.model()->incremental);
  EXPECT_TRUE(trainer.can_update());
  EXPECT_TRUE(trainer.restore_fit("a"));
  const std::string whole = content_of(file);
  folder.write("model.safetensors", whole.substr(0, whole.size() / 2));
  ModelTrainer third(file, 1);
  EXPECT_FALSE(third.load());
  EXPECT_EQ(third.model(), nullptr);
}

TEST(ModelTrainer, AFitThatIsCancelledLeavesNothing) {
  const ScratchFolder folder;
  ModelTrainer trainer(folder / "model.safetensors", 1);
  int calls = 0;
  expect_error(ErrorKind::kCancelled, "stopped",
               [&] { trainer.fit(made_snapshot("a", kThree), [&](const Progress&) { return ++calls < 3; }); });
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(trainer.model(), nullptr);
  EXPECT_FALSE(std::filesystem::exists(folder / "model.safetensors"));
}

}  // namespace
}  // namespace annulus::studio
