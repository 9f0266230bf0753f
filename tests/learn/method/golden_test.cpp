// Replays recorded trainings step by step: float64 within 1e-10, float32 losses within 1e-5.
#include "tests/fixtures/golden.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "annulus/learn/method/factored_gradient.h"
#include "annulus/learn/method/trainer.h"
#include "annulus/learn/method/training_accuracy.h"

namespace annulus {
namespace {

template <class T>
struct Replay {
  Golden golden;
  TrainingExamples<T> rows;
  Head<T> head;
  TrainOptions options;
  TrainHooks<T> hooks;

  explicit Replay(const std::string& name) : golden(name) {
    const std::size_t dimension = golden["s"].size();
    const std::size_t count = golden["labels"].size();
    const std::size_t classes = golden.count("N");
    rows = {Matrix<T>(count, dimension), {}, classes, {}};
    for (std::size_t i = 0; i < count * dimension; ++i) rows.features.data()[i] = static_cast<T>(golden["features"][i]);
    for (const double label : golden["labels"]) rows.labels.push_back(static_cast<std::int32_t>(label));
    for (const double scale : golden["s"]) rows.noise_scale.push_back(static_cast<T>(scale));
    head = {HeadKind::kCosine, Matrix<T>(classes, dimension), {}, {}};
    for (std::size_t i = 0; i < classes * dimension; ++i) head.direction.data()[i] = static_cast<T>(golden["v0"][i]);
    for (const double gain : golden["g0"]) head.gain.push_back(static_cast<T>(gain));
    options.epochs = golden.count("epochs");
    options.batch = golden.count("bs");
    options.learning_rate = golden.number("lr");
    options.epsilon = golden.number("eps");
    options.virtual_count = golden.count("R");
    // The fixture's learning rates are for its own batch of training examples: at most all of them.
    hooks.order = [this, count](std::size_t epoch) {
      std::vector<std::uint32_t> order(count);
      for (std::size_t i = 0; i < count; ++i) order[i] = static_cast<std::uint32_t>(golden["perms"][epoch * count + i]);
      return order;
    };
    hooks.noise = [this, dimension](std::size_t, std::size_t, MatrixView<T> out) {
      for (std::size_t i = 0; i < out.rows(); ++i) {
        for (std::size_t j = 0; j < dimension; ++j) out(i, j) = static_cast<T>(golden["noise_concat"].at(used++));
      }
    };
  }

  std::size_t used = 0;  // noise numbers taken so far
};

template <class T>
double largest_difference(std::span<const T> found, const std::vector<double>& expected, std::size_t first) {
  double largest = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(found[i]) - expected.at(first + i)));
  }
  return largest;
}

// gtest allows letters, digits and underscores in a test's name.
std::string test_name(const ::testing::TestParamInfo<const char*>& parameter) {
  std::string name = parameter.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

class GoldenFloat64 : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenFloat64, EveryStepWithin1em10) {
  Replay<double> replay(GetParam());
  const Golden& golden = replay.golden;
  constexpr double kTolerance = 1e-10;
  const std::size_t weights = replay.head.classes() * replay.head.dimension();
  const std::size_t classes = replay.head.classes();
  std::size_t steps = 0;
  replay.hooks.after_step = [&](const StepRecord<double>& record) {
    const std::span<const double> gradient(record.direction_gradient.data(), weights);
    const std::span<const double> direction(record.head->direction.data(), weights);
    EXPECT_NEAR(record.loss, golden["losses"].at(steps), kTolerance);
    EXPECT_NEAR(record.learning_rate, golden["lrs"].at(steps), 1e-14);
    EXPECT_LT(largest_difference(gradient, golden["grad_v_steps"], steps * weights), kTolerance);
    EXPECT_LT(largest_difference(record.offset_gradient, golden["grad_g_steps"], steps * classes), kTolerance);
    EXPECT_LT(largest_difference(direction, golden["v_steps"], steps * weights), kTolerance);
    EXPECT_LT(largest_difference(std::span<const double>(record.head->gain), golden["g_steps"], steps * classes),
              kTolerance);
    ++steps;
  };
  train(replay.head, replay.rows, replay.options, {}, replay.hooks);
  EXPECT_EQ(steps, golden["losses"].size());

  TrainHooks<double> test_noise;
  test_noise.noise = [&](std::size_t, std::size_t first, MatrixView<double> out) {
    for (std::size_t i = 0; i < out.rows() * out.cols(); ++i) {
      out.data()[i] = golden["test_noise"].at(first * out.cols() + i);
    }
  };
  TrainOptions all_at_once = replay.options;
  all_at_once.batch = replay.rows.rows();
  EXPECT_NEAR(training_accuracy(replay.head, replay.rows, all_at_once, {}, test_noise), golden.number("virtual_acc"),
              1e-12);

  Matrix<double> logits(replay.rows.rows(), classes);
  compute_logits(replay.head, std::as_const(replay.rows.features).view(), logits.view());
  EXPECT_LT(
      largest_difference(std::span<const double>(logits.data(), logits.rows() * classes), golden["clean_logits"], 0),
      1e-9);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, GoldenFloat64,
                         ::testing::Values("small_f64_lr0.005_eps0", "small_f64_lr1_eps1.5_R4",
                                           "batched_f64_lr1_eps2_R3_bs8"),
                         test_name);

class GoldenFloat32 : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenFloat32, LossesWithin1em5) {
  Replay<float> replay(GetParam());
  std::size_t steps = 0;
  replay.hooks.after_step = [&](const StepRecord<float>& record) {
    EXPECT_NEAR(record.loss, replay.golden["losses"].at(steps), 1e-5) << "step " << steps;
    ++steps;
  };
  train(replay.head, replay.rows, replay.options, {}, replay.hooks);
  EXPECT_EQ(steps, replay.golden["losses"].size());
}

INSTANTIATE_TEST_SUITE_P(Fixtures, GoldenFloat32,
                         ::testing::Values("small_f32_lr1_eps1.5_R4", "med_f32_N50_d128_k5_R2"), test_name);

TEST(GoldenSchedule, CosineDecayAnEpoch) {
  const Golden golden("cosine_lr");
  for (const std::size_t epochs : {20U, 50U, 60U, 100U, 200U}) {
    const auto& factors = golden["T" + std::to_string(epochs)];
    TrainOptions options;
    options.epochs = epochs;
    options.learning_rate = 1.0;
    for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
      EXPECT_NEAR(decayed_learning_rate(options, epoch), factors.at(epoch), 1e-14);
    }
  }
}

TEST(GoldenFactored, LossAndGradientWithExactNorms) {
  const Golden golden("factored_f64");
  const std::size_t dimension = golden["s"].size();
  const std::size_t examples = golden["labels"].size();
  const std::size_t classes = golden["W"].size() / dimension;
  const std::size_t noise_rows = golden["D"].size() / dimension;
  std::vector<std::int32_t> labels;
  for (const double label : golden["labels"]) labels.push_back(static_cast<std::int32_t>(label));
  NoiseOptions<double> options;
  options.epsilon = golden.number("eps");
  options.virtual_count = noise_rows;
  options.scale = golden["s"];
  options.label_smoothing = 0.1;
  options.numbers = [&](std::size_t, std::size_t, MatrixView<double> out) {
    ASSERT_EQ(out.rows(), noise_rows);
    std::copy(golden["D"].begin(), golden["D"].end(), out.data());
  };
  FactoredGradient<double> engine(options);
  StepGradient<double> gradient{Matrix<double>(classes, dimension), {}};
  const StepSums sums = engine.loss_gradient(
      {HeadKind::kCosine, ConstMatrixView<double>(golden["W"].data(), classes, dimension), {}},
      {ConstMatrixView<double>(golden["features"].data(), examples, dimension), labels, 0}, gradient);
  EXPECT_NEAR(sums.loss, golden.number("sharedX_loss"), 1e-10);
  const std::span<const double> found(gradient.weights.data(), classes * dimension);
  EXPECT_LT(largest_difference(found, golden["sharedX_grad"], 0), 1e-10);
}

}  // namespace
}  // namespace annulus
