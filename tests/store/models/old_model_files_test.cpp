// Files of earlier programs (tests/data/models, see its README.md): models predict what they did when they were
// written.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "annulus/eval/protocols/many_way.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/learn/update/class_update.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/store/models/fit_checkpoint_file.h"
#include "annulus/store/models/model_file.h"
#include "annulus/store/results/run_cache_file.h"
#include "annulus/task/few_shot_task.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

const std::filesystem::path& old_files() {
  static const std::filesystem::path folder = std::filesystem::path(ANNULUS_TEST_DATA) / "models";
  return folder;
}

Model old_model(const std::string& name) { return read_model(old_files() / (name + ".safetensors")); }

std::vector<nlohmann::json> old_predictions(const std::string& name) {
  std::ifstream file(old_files() / (name + ".predictions.jsonl"));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

Matrix<float> all_rows(const FeatureSet& set) {
  std::vector<std::uint32_t> rows(set.rows());
  for (std::uint32_t i = 0; i < set.rows(); ++i) rows[i] = i;
  Matrix<float> features(set.rows(), set.dimension());
  set.copy_rows(rows, features.view());
  return features;
}

Matrix<float> queries_of(const std::string& name) {
  const char* const file = name == "emoji" ? "emoji-queries.safetensors" : "queries.safetensors";
  return all_rows(read_features(old_files() / file));
}

void expect_old_predictions(const Model& model, const std::string& name) {
  const std::vector<nlohmann::json> expected = old_predictions(name);
  PredictorOptions options;
  options.top = 3;
  const Predictor predictor(model, options);
  const std::vector<Prediction> found = predictor.predict(queries_of(name).view());
  ASSERT_EQ(found.size(), expected.size());
  ASSERT_FALSE(found.empty());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(predictor.may_reject(), expected[i].contains("unknown"));
    EXPECT_EQ(found[i].rejected, expected[i].value("unknown", false));
    EXPECT_NEAR(found[i].unknown_score, expected[i].value("unknown_score", 0.0F), 1e-4);
    const auto& top = expected[i].at("top");
    ASSERT_EQ(found[i].top.size(), top.size());
    for (std::size_t j = 0; j < top.size(); ++j) {
      EXPECT_EQ(model.class_names[static_cast<std::size_t>(found[i].top[j].index)], top[j].at("label"));
      EXPECT_NEAR(found[i].top[j].probability, top[j].at("probability").get<float>(), 1e-5);
    }
  }
}

class OldModel : public testing::TestWithParam<const char*> {};

TEST_P(OldModel, PredictsWhatItDid) { expect_old_predictions(old_model(GetParam()), GetParam()); }

TEST_P(OldModel, PredictsTheSameOnceWrittenAnew) {
  const ScratchFolder folder;
  const Model model = old_model(GetParam());
  write_model(model, folder / "model");
  const Model again = read_model(folder / "model");
  EXPECT_EQ(again.training, model.training);
  EXPECT_EQ(again.provenance, model.provenance);
  EXPECT_EQ(again.temperature, model.temperature);
  expect_old_predictions(again, GetParam());
}

INSTANTIATE_TEST_SUITE_P(OfVersion1, OldModel,
                         testing::Values("default", "ibm2", "paper", "baseline", "stripped", "linear", "centred",
                                         "power", "grown", "emoji"),
                         [](const auto& name) { return std::string(name.param); });

INSTANTIATE_TEST_SUITE_P(OfVersion2, OldModel, testing::Values("metric", "one-shot", "unlabelled", "updated"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

TEST(OldModels, EveryModelOfTheFolderIsTested) {
  std::size_t models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(old_files())) {
    if (entry.path().string().ends_with(".predictions.jsonl")) ++models;
  }
  EXPECT_EQ(models, 14U);
}

TEST(OldModels, RecordsAreTyped) {
  const TrainingRecord record = old_model("grown").training;
  EXPECT_EQ(record.version, "0.1.0");
  EXPECT_EQ(record.recipe, "default");
  EXPECT_EQ(record.transform, TransformKind::kAuto);
  EXPECT_EQ(record.ensemble_ridge_weight, 0.7);
  EXPECT_EQ(record.ensemble_ridge_penalty, 0.5);
  EXPECT_EQ(record.ensemble_prototype_shots, 20.0);
  EXPECT_EQ(record.search.highest, 10.0);
  EXPECT_EQ(record.seed, 1U);
  EXPECT_EQ(record.shots, "3");
  EXPECT_EQ(record.examples, 24U);
  EXPECT_EQ(record.held_out.examples, 24U);
  EXPECT_EQ(record.updates.classes_added, 1U);
  EXPECT_EQ(record.updates.classes_removed, 1U);
  EXPECT_TRUE(record.notes.empty());
  EXPECT_EQ(old_model("baseline").training.recipe, "baseline");
  EXPECT_EQ(old_model("baseline").training.virtual_examples, false);
  EXPECT_EQ(old_model("metric").training.from_prototypes, true);
  EXPECT_EQ(old_model("metric").training.metric_examples, 24U);
  EXPECT_EQ(old_model("unlabelled").provenance.at("unlabelled_examples"), "320");
  EXPECT_EQ(old_model("updated").training.updates.all(), 2U);
}

// What version 2 has and version 1 has not.
TEST(OldModels, HaveTheMetricTheyWereTrainedIn) {
  const Model metric = old_model("metric");
  ASSERT_TRUE(metric.trained);
  ASSERT_EQ(metric.trained->transform.metrics.size(), 1U);
  EXPECT_EQ(metric.trained->transform.metrics.front().rank(), 16U);
  EXPECT_EQ(metric.trained->transform.centre.size(), 16U);
  ASSERT_TRUE(old_model("one-shot").trained);
  EXPECT_TRUE(old_model("one-shot").trained->transform.metrics.empty());
  EXPECT_FALSE(metric.unknown.caught.empty());
  EXPECT_TRUE(old_model("default").unknown.caught.empty());
}

// What the earlier program made of `default` by removing a class and adding it again, today's makes of it as well.
TEST(OldModels, CanBeUpdated) {
  const FeatureSet features = read_features(old_files() / "features.safetensors");
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < features.rows(); ++i) {
    if (features.is_train()[i] != 0 && features.labels()[i] == 3) rows.push_back(i);
  }
  ASSERT_EQ(features.class_names()[3], "class-003");
  const std::vector<std::string> removed{"class-003"};
  const auto replaced = [&](Model model) {
    model = remove_classes(std::move(model), removed).model;
    return add_class(std::move(model), {gather(features, rows).features, {}}, "class-003").model;
  };
  const Model updated = replaced(old_model("default"));
  EXPECT_EQ(updated.training, old_model("grown").training);
  expect_old_predictions(updated, "grown");
  const Model again = replaced(old_model("grown"));
  EXPECT_EQ(again.training.updates.classes_added, 2U);
  EXPECT_EQ(again.training.updates.classes_removed, 2U);
  EXPECT_EQ(again.head.classes(), 8U);
  for (const char* const name : {"ibm2", "paper", "baseline", "linear", "centred", "power", "metric", "one-shot"}) {
    EXPECT_EQ(replaced(old_model(name)).training.updates.all(), 2U) << name;
  }
  expect_error(ErrorKind::kInput, "expected a model with its training examples", [&] {
    add_class(old_model("stripped"), {gather(features, rows).features, {}}, "new");
  });
}

// The file is read, but names of options in its keys are others than today's: runs are computed again beside it.
TEST(OldRunCache, IsReadAndItsRunsAreComputedAgain) {
  const ScratchFolder folder;
  std::filesystem::copy_file(old_files() / "finished.txt", folder / "runs.txt");
  RunCacheFile file(folder / "runs.txt");
  ASSERT_EQ(file.size(), 4U);
  const FeatureSet features = read_features(old_files() / "features.safetensors");
  ManyWayOptions options;
  options.shots = {1};
  options.split_count = 2;
  options.methods = {"ncm", "baseline"};
  options.recipe = recipe_named("ibm2");
  options.data_name = content_checksum(features);
  const ManyWayReport expected = evaluate_many_way(features, options);
  options.cached_runs = file.runs();
  const ManyWayReport found = evaluate_many_way(features, options);
  EXPECT_EQ(file.size(), 8U);
  EXPECT_EQ(found.results[0].accuracy_mean, expected.results[0].accuracy_mean);
  // The first run of the old file: ncm, one shot, seed 0.
  EXPECT_EQ(found.results[0].runs[0].accuracy, 45.625);
  EXPECT_EQ(found.results[1].runs[0].accuracy, 38.75);
}

TEST(OldCheckpoint, IsRejected) {
  const ScratchFolder folder;
  for (const char* const part : {"", ".head-0", ".head-2", ".state-0", ".state-1"}) {
    std::filesystem::copy_file(old_files() / (std::string("started.log") + part),
                               folder / (std::string("started.log") + part));
  }
  expect_error(ErrorKind::kFormat, "found that of another version; remove it or name another file", [&] {
    FitCheckpointFile(folder / "started.log", "key", {0.0, nullptr, true});
  });
}

}  // namespace
}  // namespace annulus
