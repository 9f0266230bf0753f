// Trainings and fits that several processes share, here threads, against those of one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "annulus/base/error.h"
#include "annulus/learn/fit_model.h"
#include "annulus/learn/prediction.h"
#include "annulus/learn/support_index.h"
#include "annulus/learn/trainer.h"
#include "annulus/learn/training_order.h"
#include "annulus/learn/work_share.h"
#include "annulus/task/synthetic.h"
#include "tests/learn/accuracy.h"
#include "tests/learn/thread_team.h"

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

TrainingRows<double> double_rows(bool weighted) {
  const FeatureSet set = make_synthetic(kFewRows);
  const LabelledRows rows = gather(set, draw_split(set, {4, 1}).support);
  auto training = make_training_rows<double>(rows.features.view(), rows.labels, rows.classes, NoiseShape::kEllipsoidal);
  for (std::size_t i = 0; weighted && i < training.rows(); ++i) {
    training.weights.push_back(0.5 + static_cast<double>(i % 3) / 2.0);
  }
  return training;
}

// The rows that a process holds of those.
TrainingRows<double> own_part(const TrainingRows<double>& rows, Team& team) {
  TrainingRows<double> part{{}, rows.labels, rows.classes, rows.noise_scale, rows.weights, RowCut(team, rows.rows())};
  const Slice own = part.cut.own(rows.rows());
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
  const TrainingRows<double> rows = double_rows(parameters.weighted);
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
  const auto run = [&](const TrainingRows<double>& given, const WorkShare* share, double& accuracy,
                       std::vector<EpochRecord>& epochs) {
    TrainOptions own = options;
    own.share = share;
    auto head =
        initial_head<double>(parameters.kind, rows.classes, rows.dimension(), 1, 0, class_block(share, rows.classes));
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
  const auto alone = run(rows, nullptr, alone_accuracy, alone_epochs);
  for (const Grid& grid : kGrids) {
    run_team(grid.blocks * grid.slices, [&](Team& team) {
      const WorkShare share(team, grid.blocks, rows.classes);
      double accuracy = 0.0;
      std::vector<EpochRecord> epochs;
      const auto head = run(own_part(rows, team), &share, accuracy, epochs);
      const Slice block = share.class_block(rows.classes);
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
  const LabelledRows query = gather(set, split.query);
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

// Search, training, companions and calibration, as `annulus fit` has them.
TEST(SharedFit, GivesTheModelOfOneProcess) {
  const FeatureSet set = make_synthetic(kFewRows);
  const Split split = draw_split(set, {4, 1});
  const Model alone = fit_model(training_data(set, split.support), quick_recipe(), {}).model;
  EXPECT_GT(percent_right(alone.head, gather(set, split.query)), 50.0);
  for (const Grid& grid : kGrids) {
    run_team(grid.blocks * grid.slices, [&](Team& team) {
      const WorkShare share(team, grid.blocks, set.classes());
      Recipe recipe = quick_recipe();
      set_share(recipe, &share);
      TrainingData data = training_data(set, split.support, &team);
      EXPECT_EQ(data.rows.features.rows(), slice_of(split.support.size(), team.size(), team.rank()).count);
      const ModelFit fit = fit_model(std::move(data), recipe, {});
      EXPECT_NEAR(fit.fit.epsilon, alone.epsilon, 0.01 * alone.epsilon);
      if (team.rank() == 0) compare_models(fit.model, alone, set, split);
    });
  }
}

// Each process has its run of the rows in the order in which one process has them all, whatever the order of the set.
TEST(SharedFit, RowsAreCutInTheOrderOfOneProcess) {
  const FeatureSet set = make_synthetic(kFewRows);
  std::vector<std::uint32_t> rows = draw_split(set, {4, 1}).support;
  std::reverse(rows.begin(), rows.end());
  TrainingData alone = training_data(set, rows);
  settle_rows(alone);
  for (const std::size_t members : {1U, 2U, 3U, 5U, 50U}) {
    run_team(members, [&](Team& team) {
      const TrainingData data = training_data(set, rows, &team);
      EXPECT_EQ(data.rows.labels, alone.rows.labels);
      EXPECT_EQ(data.paths, alone.paths);
      const Slice own = data.rows.cut.own(rows.size());
      ASSERT_EQ(data.rows.features.rows(), own.count);
      for (std::size_t i = 0; i < own.count; ++i) {
        EXPECT_TRUE(std::ranges::equal(data.rows.features.row(i), alone.rows.features.row(own.first + i)));
      }
    });
  }
}

// With one row a class replicas stand in for rows held out; with few numbers a row, ridge regression solves by columns.
TEST(SharedFit, GivesTheModelOfOneProcessAlsoAtOneRow) {
  const FeatureSet set = make_synthetic(kFewRows);
  const Split split = draw_split(set, {1, 1});
  const Model alone = fit_model(training_data(set, split.support), quick_recipe(), {}).model;
  run_team(2, [&](Team& team) {
    const WorkShare share(team, 2, set.classes());
    Recipe recipe = quick_recipe();
    set_share(recipe, &share);
    const ModelFit fit = fit_model(training_data(set, split.support, &team), recipe, {});
    if (team.rank() == 0) compare_models(fit.model, alone, set, split);
  });
}

// More rows than an index takes: only those of the classes that were asked about or named are compared with.
TEST(SharedFit, KnowsStrangersAsOneProcessDoesAlsoWithManyRows) {
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
  run_team(2, [&](Team& team) {
    const WorkShare share(team, 2, set.classes());
    Recipe shared = recipe;
    set_share(shared, &share);
    const Model model = fit_model(training_data(set, split.support, &team), shared, {}).model;
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
  run_team(2, [&](Team& team) {
    const WorkShare share(team, 1, set.classes());
    Recipe recipe = quick_recipe();
    set_share(recipe, &share);
    std::size_t calls = 0;
    const auto progress = [&](const Progress&) { return team.rank() == 0 || ++calls < 3; };
    try {
      fit_model(training_data(set, split.support, &team), recipe, {}, progress);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kCancelled) ++stopped;
    }
  });
  EXPECT_EQ(stopped.load(), 2);
}

TEST(WorkShare, CutsClassesOnlyWhereBlocksAreNotTiny) {
  const auto blocks = [](std::size_t ranks, std::size_t classes) {
    std::size_t found = 0;
    run_team(ranks, [&](Team& team) {
      const WorkShare share(team, 0, classes);
      if (team.rank() == 0) found = share.class_ranks();
    });
    return found;
  };
  EXPECT_EQ(blocks(4, 200), 1U);
  EXPECT_EQ(blocks(4, 600), 2U);
  EXPECT_EQ(blocks(4, 21000), 4U);
  EXPECT_EQ(blocks(6, 1000), 3U);
  EXPECT_THROW(run_team(4, [](Team& team) { WorkShare(team, 3, 100); }), Error);
  // Calibration trains heads of half of the classes, and each block needs one of them.
  EXPECT_THROW(run_team(4, [](Team& team) { WorkShare(team, 4, 7); }), Error);
  EXPECT_NO_THROW(run_team(4, [](Team& team) { WorkShare(team, 4, 8); }));
}

}  // namespace
}  // namespace annulus
