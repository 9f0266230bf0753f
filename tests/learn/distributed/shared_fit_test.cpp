// Trainings and fits that several processes share, here threads, against those of one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "annulus/base/error.h"
#include "annulus/learn/distributed/parallel_layout.h"
#include "annulus/learn/method/trainer.h"
#include "annulus/learn/method/training_accuracy.h"
#include "annulus/learn/model/fit_model.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/learn/model/support_index.h"
#include "annulus/task/synthetic.h"
#include "tests/fixtures/accuracy.h"
#include "tests/fixtures/thread_communicator.h"

namespace annulus {
namespace {

// Processes of a grid: `blocks` of classes times `slices` of every batch.
struct Grid {
  std::size_t blocks;
  std::size_t slices;
};

constexpr Grid kGrids[] = {{1, 2}, {2, 1}, {2, 2}, {1, 3}, {3, 1}, {1, 4}};

constexpr SyntheticOptions kFewRows{.classes = 11, .train_rows = 4, .test_rows = 20, .dimension = 13, .noise = 0.8};

struct Case {
  HeadKind kind;
  double epsilon;
  NoiseSharing sharing;
  std::size_t group;
  bool antithetic;
  bool weighted;
};

class SharedTraining : public ::testing::TestWithParam<Case> {};

TrainingExamples<double> double_rows(bool weighted) {
  const FeatureSet set = make_synthetic(kFewRows);
  const LabelledExamples rows = gather(set, draw_split(set, {4, 1}).support);
  auto training =
      make_training_examples<double>(rows.features.view(), rows.labels, rows.classes, NoiseShape::kEllipsoidal);
  for (std::size_t i = 0; weighted && i < training.rows(); ++i) {
    training.weights.push_back(0.5 + static_cast<double>(i % 3) / 2.0);
  }
  return training;
}

// The rows that a process holds of those.
TrainingExamples<double> own_part(const TrainingExamples<double>& rows, Communicator& communicator) {
  TrainingExamples<double> part{
      {}, rows.labels, rows.classes, rows.noise_scale, rows.weights, Partition(communicator, rows.rows())};
  const Slice own = part.partition.own(rows.rows());
  part.features = Matrix<double>(own.count, rows.dimension());
  for (std::size_t i = 0; i < own.count; ++i) {
    const auto row = rows.features.row(own.first + i);
    std::copy(row.begin(), row.end(), part.features.row(i).begin());
  }
  return part;
}

// Double precision, so that all that differs is the order of sums.
TEST_P(SharedTraining, EqualsThatOfOneProcessButForRounding) {
  const Case& parameters = GetParam();
  const TrainingExamples<double> rows = double_rows(parameters.weighted);
  TrainOptions options;
  options.epochs = 3;
  options.batch = 14;  // 44 rows: the last batch has 2, fewer than there are slices
  options.learning_rate = 0.5;
  options.epsilon = parameters.epsilon;
  options.virtual_count = 5;
  options.sharing = parameters.sharing;
  options.group = parameters.group;
  options.antithetic = parameters.antithetic;
  options.seed = 7;
  options.threads = 1;
  const auto run = [&](const TrainingExamples<double>& given, const ParallelLayout* layout, double& accuracy,
                       std::vector<EpochRecord>& epochs) {
    TrainOptions own = options;
    own.layout = layout;
    auto head =
        initial_head<double>(parameters.kind, rows.classes, rows.dimension(), 1, 0, layout->class_block(rows.classes));
    TrainHooks<double> hooks;
    hooks.after_epoch = [&](const EpochRecord& record) {
      epochs.push_back(record);
      return false;
    };
    train(head, given, own, {}, hooks);
    accuracy = training_accuracy(head, given, own);
    return head;
  };
  double alone_accuracy = 0.0;
  std::vector<EpochRecord> alone_epochs;
  const auto alone = run(rows, &ParallelLayout::one_process(), alone_accuracy, alone_epochs);
  for (const Grid& grid : kGrids) {
    run_processes(grid.blocks * grid.slices, [&](Communicator& communicator) {
      const ParallelLayout layout(communicator, grid.blocks, rows.classes);
      double accuracy = 0.0;
      std::vector<EpochRecord> epochs;
      const auto head = run(own_part(rows, communicator), &layout, accuracy, epochs);
      const Slice block = layout.class_block(rows.classes);
      ASSERT_EQ(head.classes(), block.count);
      EXPECT_NEAR(accuracy, alone_accuracy, 1e-12);
      ASSERT_EQ(epochs.size(), alone_epochs.size());
      for (std::size_t i = 0; i < epochs.size(); ++i) {
        EXPECT_NEAR(epochs[i].loss, alone_epochs[i].loss, 1e-9);
        EXPECT_NEAR(epochs[i].accuracy, alone_epochs[i].accuracy, 1e-12);
      }
      for (std::size_t c = 0; c < block.count; ++c) {
        for (std::size_t j = 0; j < rows.dimension(); ++j) {
          ASSERT_NEAR(head.direction(c, j), alone.direction(block.first + c, j), 1e-7);
        }
        if (!head.gain.empty()) {
          ASSERT_NEAR(head.gain[c], alone.gain[block.first + c], 1e-7);
        }
        if (!head.bias.empty()) {
          ASSERT_NEAR(head.bias[c], alone.bias[block.first + c], 1e-7);
        }
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(AllEngines, SharedTraining,
                         ::testing::Values(Case{HeadKind::kCosine, 0.0, NoiseSharing::kIndependent, 0, false, false},
                                           Case{HeadKind::kLinear, 0.0, NoiseSharing::kIndependent, 0, false, true},
                                           Case{HeadKind::kCosine, 1.5, NoiseSharing::kIndependent, 0, false, false},
                                           Case{HeadKind::kCosine, 1.5, NoiseSharing::kShared, 0, true, false},
                                           Case{HeadKind::kCosine, 1.5, NoiseSharing::kGrouped, 4, false, false},
                                           Case{HeadKind::kCosine, 1.5, NoiseSharing::kGrouped, 5, true, true},
                                           Case{HeadKind::kLinear, 1.5, NoiseSharing::kGrouped, 6, false, false}));

Recipe quick_recipe() {
  Recipe recipe = recipe_named("default");
  set_virtual_count(recipe, 8);
  set_epochs(recipe, 20);
  set_batch(recipe, 16);
  set_threads(recipe, 1);
  recipe.search.probe.epochs = 4;
  recipe.search.least_steps = 12;
  recipe.search.tolerance = 0.2;
  return recipe;
}

void compare_models(const Model& model, const Model& alone, const FeatureSet& set, const Split& split) {
  EXPECT_NEAR(model.epsilon, alone.epsilon, 0.01 * alone.epsilon);
  EXPECT_NEAR(model.temperature, alone.temperature, 0.02 * alone.temperature);
  EXPECT_EQ(model.unknown.quantiles.size(), alone.unknown.quantiles.size());
  const LabelledExamples query = gather(set, split.query);
  EXPECT_NEAR(percent_right(model.head, query), percent_right(alone.head, query), 0.5);
  ASSERT_EQ(model.head.classes(), alone.head.classes());
  ASSERT_EQ(model.head.bias.size(), alone.head.bias.size());
  double squares = 0.0;
  double differences = 0.0;
  for (std::size_t i = 0; i < alone.head.classes() * alone.head.dimension(); ++i) {
    const auto value = static_cast<double>(alone.head.direction.data()[i]);
    squares += value * value;
    differences += std::pow(static_cast<double>(model.head.direction.data()[i]) - value, 2.0);
  }
  EXPECT_LT(std::sqrt(differences / squares), 0.01);
  ASSERT_EQ(model.support.features.rows(), alone.support.rows());
  for (std::size_t i = 0; i < alone.support.rows(); ++i) {
    EXPECT_EQ(model.support.labels[i], alone.support.labels[i]);
    EXPECT_TRUE(std::ranges::equal(model.support.features.row(i), alone.support.features.row(i)));
  }
  EXPECT_EQ(model.support.paths, alone.support.paths);
  ASSERT_TRUE(model.trained.has_value());
  EXPECT_EQ(model.trained->gain.size(), alone.trained->gain.size());
}

// Search, training, ensemble heads and calibration, as `annulus fit` has them.
TEST(SharedFit, GivesTheModelOfOneProcess) {
  const FeatureSet set = make_synthetic(kFewRows);
  const Split split = draw_split(set, {4, 1});
  const Model alone = fit_model(training_data(set, split.support), quick_recipe(), {}).model;
  EXPECT_GT(percent_right(alone.head, gather(set, split.query)), 40.0);
  for (const Grid& grid : kGrids) {
    run_processes(grid.blocks * grid.slices, [&](Communicator& communicator) {
      const ParallelLayout layout(communicator, grid.blocks, set.classes());
      Recipe recipe = quick_recipe();
      set_layout(recipe, &layout);
      TrainingData data = training_data(set, split.support, &communicator);
      EXPECT_EQ(data.rows.features.rows(),
                slice_of(split.support.size(), communicator.size(), communicator.rank()).count);
      const ModelFit fit = fit_model(std::move(data), recipe, {});
      EXPECT_NEAR(fit.fit.epsilon, alone.epsilon, 0.01 * alone.epsilon);
      if (communicator.rank() == 0) compare_models(fit.model, alone, set, split);
    });
  }
}

// The same set with its classes in the opposite order.
FeatureSet turned(const FeatureSet& set) {
  Matrix<float> features(set.rows(), set.dimension());
  set.copy_rows(0, features.view());
  FeatureSetParts parts = parts_of(std::move(features));
  const auto last = static_cast<std::int32_t>(set.classes()) - 1;
  for (const std::int32_t label : set.labels()) parts.labels.push_back(last - label);
  parts.class_names.assign(set.class_names().begin(), set.class_names().end());
  return FeatureSet(std::move(parts));
}

TEST(SharedFit, TheNamesOfClassesDecideNothing) {
  const FeatureSet set = make_synthetic(kFewRows);
  const FeatureSet renamed = turned(set);
  const Split split = draw_split(set, {4, 1});
  for (const std::size_t blocks : {1U, 2U}) {
    run_processes(2, [&](Communicator& communicator) {
      const ParallelLayout layout(communicator, blocks, set.classes());
      Recipe recipe = quick_recipe();
      set_layout(recipe, &layout);
      const ModelFit first = fit_model(training_data(set, split.support, &communicator), recipe, {});
      const ModelFit second = fit_model(training_data(renamed, split.support, &communicator), recipe, {});
      if (communicator.rank() != 0) return;
      EXPECT_EQ(second.model.temperature, first.model.temperature);
      EXPECT_EQ(second.model.unknown.quantiles, first.model.unknown.quantiles);
      const std::size_t classes = set.classes();
      ASSERT_EQ(second.model.head.classes(), classes);
      for (std::size_t c = 0; c < classes; ++c) {
        EXPECT_TRUE(
            std::ranges::equal(second.model.head.direction.row(classes - 1 - c), first.model.head.direction.row(c)));
        EXPECT_EQ(second.model.head.bias[classes - 1 - c], first.model.head.bias[c]);
      }
    });
  }
}

// With one example per class synthetic examples stand in for examples held out; with few dimensions, ridge regression
// solves by columns.
TEST(SharedFit, GivesTheModelOfOneProcessAlsoAtOneShot) {
  const FeatureSet set = make_synthetic(kFewRows);
  const Split split = draw_split(set, {1, 1});
  const Model alone = fit_model(training_data(set, split.support), quick_recipe(), {}).model;
  run_processes(2, [&](Communicator& communicator) {
    const ParallelLayout layout(communicator, 2, set.classes());
    Recipe recipe = quick_recipe();
    set_layout(recipe, &layout);
    const ModelFit fit = fit_model(training_data(set, split.support, &communicator), recipe, {});
    if (communicator.rank() == 0) compare_models(fit.model, alone, set, split);
  });
}

// More examples than an index takes: only those of the classes in question are compared with.
TEST(SharedFit, KnowsUnknownInputsAsOneProcessDoesAlsoWithManyRows) {
  const FeatureSet set =
      make_synthetic({.classes = 4200, .train_rows = 4, .test_rows = 1, .dimension = 4, .noise = 0.1});
  const Split split = draw_split(set, {4, 1});
  ASSERT_GT(split.support.size(), kMostIndexed);
  Recipe recipe = quick_recipe();
  recipe.epsilon = 0.5;
  set_virtual_count(recipe, 1);
  set_epochs(recipe, 1);
  set_batch(recipe, 2048);
  const Model alone = fit_model(training_data(set, split.support), recipe, {}).model;
  EXPECT_FALSE(alone.unknown.empty());
  run_processes(2, [&](Communicator& communicator) {
    const ParallelLayout layout(communicator, 2, set.classes());
    Recipe shared = recipe;
    set_layout(shared, &layout);
    const Model model = fit_model(training_data(set, split.support, &communicator), shared, {}).model;
    EXPECT_NEAR(model.temperature, alone.temperature, 0.02 * alone.temperature);
    ASSERT_EQ(model.unknown.axes.size(), alone.unknown.axes.size());
    ASSERT_EQ(model.unknown.quantiles.size(), alone.unknown.quantiles.size());
    const double range =
        static_cast<double>(alone.unknown.quantiles.back()) - static_cast<double>(alone.unknown.quantiles.front());
    for (std::size_t i = 0; i < alone.unknown.quantiles.size(); ++i) {
      EXPECT_NEAR(model.unknown.quantiles[i], alone.unknown.quantiles[i], 0.02 * range);
    }
  });
}

TEST(SharedFit, WhoWantsToStopStopsEveryone) {
  const FeatureSet set = make_synthetic(kFewRows);
  const Split split = draw_split(set, {4, 1});
  std::atomic<int> stopped = 0;
  run_processes(2, [&](Communicator& communicator) {
    const ParallelLayout layout(communicator, 1, set.classes());
    Recipe recipe = quick_recipe();
    set_layout(recipe, &layout);
    std::size_t calls = 0;
    const auto progress = [&](const Progress&) { return communicator.rank() == 0 || ++calls < 3; };
    try {
      fit_model(training_data(set, split.support, &communicator), recipe, {}, progress);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kCancelled) ++stopped;
    }
  });
  EXPECT_EQ(stopped.load(), 2);
}

}  // namespace
}  // namespace annulus
