// Closed-form start of a new class, a few training steps, new ensemble heads.
#include "annulus/learn/update/update_steps.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/base/random.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/ensemble/ensemble_sum.h"
#include "annulus/learn/method/metric_space.h"
#include "annulus/learn/method/trainer.h"

namespace annulus {
namespace {

// docs/how-to/update-a-model.md has the measurements: without steps new classes are too strong, and larger ones shake
// the old classes.
constexpr std::size_t kWarmSteps = 16;            // at least about so many
constexpr std::size_t kMostWarmRows = 8192;       // of an epoch; a model of more rows learns beside a sample of them
constexpr std::size_t kMostChanged = 128;         // rows of the changed classes where these learn alone
constexpr std::size_t kTransformedPerTask = 256;  // rows
constexpr std::size_t kWarmBatch = 256;
constexpr std::size_t kSampledBatch = 128;  // when only the changed classes are trained: half are their examples
constexpr std::size_t kSampledGroup = 32;   // training examples that share noise
constexpr std::size_t kWarmVirtual = 16;    // R
constexpr double kWarmRate = 0.1;           // of the learning rate that the model was trained with
constexpr double kSampledRate = 0.2;        // the same, where only the changed classes learn
constexpr std::size_t kUpdateSpreadRows =
    512;                                   // fewer than in a fit: what they weigh is the ensemble heads beside the head
constexpr std::uint32_t kFirstRun = 2048;  // of warm trainings: past all runs of a fit
constexpr std::uint32_t kRuns = 2048;

// A model of the weights of all classes: a multiple of the prototype, a multiple of its ridge regression, and a shared
// part. A new class starts with the weights that it predicts.
struct WeightPattern {
  double along_mean = 0.0;
  double along_ridge = 0.0;
  std::vector<double> shared;
};

// The mean over the first `classes` rows.
std::vector<double> class_average(const Matrix<float>& rows, std::size_t classes) {
  std::vector<double> average(rows.cols(), 0.0);
  for (std::size_t c = 0; c < classes; ++c) {
    for (std::size_t j = 0; j < rows.cols(); ++j) average[j] += static_cast<double>(rows(c, j));
  }
  for (double& value : average) value /= static_cast<double>(classes);
  return average;
}

// Fitted by least squares.
WeightPattern weight_pattern(const Matrix<float>& weights, const Matrix<float>& means, const Matrix<float>& ridge) {
  const std::size_t classes = weights.rows();
  const std::vector<double> weight_average = class_average(weights, classes);
  const std::vector<double> mean_average = class_average(means, classes);
  const std::vector<double> ridge_average = class_average(ridge, classes);
  double mm = 0.0;
  double mr = 0.0;
  double rr = 0.0;
  double mw = 0.0;
  double rw = 0.0;
  for (std::size_t c = 0; c < classes; ++c) {
    for (std::size_t j = 0; j < weights.cols(); ++j) {
      const double w = static_cast<double>(weights(c, j)) - weight_average[j];
      const double m = static_cast<double>(means(c, j)) - mean_average[j];
      const double r = static_cast<double>(ridge(c, j)) - ridge_average[j];
      mm += m * m;
      mr += m * r;
      rr += r * r;
      mw += m * w;
      rw += r * w;
    }
  }
  WeightPattern pattern;
  const double determinant = mm * rr - mr * mr;
  if (determinant > 1e-6 * mm * rr) {
    pattern.along_mean = (mw * rr - rw * mr) / determinant;
    pattern.along_ridge = (rw * mm - mw * mr) / determinant;
  } else if (mm > 0.0) {
    pattern.along_mean = mw / mm;
  }
  for (std::size_t j = 0; j < weights.cols(); ++j) {
    pattern.shared.push_back(weight_average[j] - pattern.along_mean * mean_average[j] -
                             pattern.along_ridge * ridge_average[j]);
  }
  return pattern;
}

Matrix<float> with_row(const Matrix<float>& matrix) {
  Matrix<float> larger(matrix.rows() + 1, matrix.cols());
  std::copy_n(matrix.data(), matrix.rows() * matrix.cols(), larger.data());
  return larger;
}

float mean_of(const std::vector<float>& numbers) {
  double sum = 0.0;
  for (const float number : numbers) sum += static_cast<double>(number);
  return static_cast<float>(sum / static_cast<double>(numbers.size()));
}

// A random order of at most kMostWarmRows rows, among them as many of the changed classes as there is room for.
std::vector<std::uint32_t> warm_order(const TrainingExamples<float>& rows, const std::vector<bool>& changed,
                                      const RandomStream& stream, std::size_t epoch) {
  std::vector<std::uint32_t> order = random_permutation(stream, static_cast<std::uint32_t>(epoch), rows.rows());
  if (order.size() <= kMostWarmRows) return order;
  const auto is_new = [&](std::uint32_t row) { return changed[static_cast<std::size_t>(rows.labels[row])]; };
  auto others = static_cast<std::ptrdiff_t>(kMostWarmRows) - std::count_if(order.begin(), order.end(), is_new);
  std::erase_if(order, [&](std::uint32_t row) { return !is_new(row) && others-- <= 0; });
  if (order.size() > kMostWarmRows) order.resize(kMostWarmRows);
  return order;
}

// The examples of all steps, kSampledBatch for each: half of the changed classes and half of the others, each in its
// own random order, repeated if necessary. Weights restore the proportion of the two.
TrainingExamples<float> sampled_steps(const TrainingExamples<float>& rows, const std::vector<bool>& changed,
                                      const RandomStream& stream) {
  std::vector<std::uint32_t> ours;
  std::vector<std::uint32_t> others;
  for (const std::uint32_t row : random_permutation(stream, 0, rows.rows())) {
    (changed[static_cast<std::size_t>(rows.labels[row])] ? ours : others).push_back(row);
  }
  const auto fraction = [&](const std::vector<std::uint32_t>& kind) {
    return 2.0F * static_cast<float>(kind.size()) / static_cast<float>(rows.rows());
  };
  const std::size_t count = kWarmSteps * kSampledBatch;
  TrainingExamples<float> sample{Matrix<float>(count, rows.dimension()), {}, rows.classes, rows.noise_scale};
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<std::uint32_t>& kind = i % 2 == 0 || others.empty() ? ours : others;
    const std::uint32_t row = kind[i / 2 % kind.size()];
    std::copy(rows.features.row(row).begin(), rows.features.row(row).end(), sample.features.row(i).begin());
    sample.labels.push_back(rows.labels[row]);
    sample.weights.push_back(fraction(kind));
  }
  return sample;
}

void transform_in_tasks(const FeatureTransform& transform, MatrixView<float> rows, int threads) {
  parallel_for(threads, (rows.rows() + kTransformedPerTask - 1) / kTransformedPerTask, [&](std::size_t task) {
    const std::size_t first = task * kTransformedPerTask;
    transform_rows(transform, rows.rows_at(first, std::min(kTransformedPerTask, rows.rows() - first)));
  });
}

// Training steps that change only the changed classes. The other classes are trained already, and steps on a few of
// their examples would degrade them.
void train_changed(Head<float>& head, const TrainingExamples<float>& rows, const std::vector<bool>& changed,
                   TrainOptions options) {
  const TrainingExamples<float> sample =
      sampled_steps(rows, changed, {options.seed, RandomUse::kShuffle, start_stream(options)});
  // An epoch is one step, so that the learning rate decays from step to step; it is given for a batch of that size.
  options.batch = sample.rows();
  options.group = kSampledGroup;
  options.learning_rate *= kSampledRate * static_cast<double>(kWarmBatch) / static_cast<double>(sample.rows());
  options.epochs = kWarmSteps;
  TrainHooks<float> hooks;
  hooks.order = [&](std::size_t epoch) {
    std::vector<std::uint32_t> order(kSampledBatch);
    std::iota(order.begin(), order.end(), static_cast<std::uint32_t>(epoch * kSampledBatch));
    return order;
  };
  // From the first changed class to the last; those in between are trained too and restored afterwards.
  const auto first = static_cast<std::size_t>(std::find(changed.begin(), changed.end(), true) - changed.begin());
  const auto after = static_cast<std::size_t>(changed.rend() - std::find(changed.rbegin(), changed.rend(), true));
  options.learning = {first, after - first};
  std::vector<std::size_t> between;
  for (std::size_t c = first; c < after; ++c) {
    if (!changed[c]) between.push_back(c);
  }
  const std::vector<float>& numbers = head.kind == HeadKind::kCosine ? head.gain : head.bias;
  Matrix<float> directions(between.size(), head.dimension());
  std::vector<float> kept_numbers;
  for (std::size_t i = 0; i < between.size(); ++i) {
    std::copy_n(head.direction.row(between[i]).begin(), head.dimension(), directions.row(i).begin());
    kept_numbers.push_back(numbers[between[i]]);
  }
  train(head, sample, options, {}, hooks);
  for (std::size_t i = 0; i < between.size(); ++i) {
    std::copy_n(directions.row(i).begin(), head.dimension(), head.direction.row(between[i]).begin());
    (head.kind == HeadKind::kCosine ? head.gain : head.bias)[between[i]] = kept_numbers[i];
  }
}

}  // namespace

Head<float>& updated_head(Model& model) { return model.trained ? *model.trained : model.head; }

void check_updatable(const Model& model, const Recipe& recipe, ConstMatrixView<float> rows) {
  if (model.support.empty()) {
    fail(ErrorKind::kInput,
         "expected a model with its training examples, found one without: fit it again and keep them");
  }
  if (!model.trained && recipe.ensemble.any()) {
    fail(ErrorKind::kInput, "expected a model with its trained head, found one without: fit it again");
  }
  std::vector<bool> seen(model.head.classes(), false);
  for (const std::int32_t label : model.support.labels) seen[static_cast<std::size_t>(label)] = true;
  const auto missing = std::find(seen.begin(), seen.end(), false);
  if (missing != seen.end()) {
    fail(ErrorKind::kInput, "expected a model with training examples of every class, found none of \"{}\"",
         model.class_names[static_cast<std::size_t>(missing - seen.begin())]);
  }
  if (rows.rows() == 0) fail(ErrorKind::kInput, "expected examples to learn from, found none");
  if (rows.cols() != model.head.dimension()) {
    fail(ErrorKind::kInput, "expected features of dimension {}, as the model was trained on, found dimension {}",
         model.head.dimension(), rows.cols());
  }
}

void relearn_metric(Model& model, int threads) {
  if (!model.trained || model.trained->transform.metrics.empty() || !model.training.metric_examples) return;
  Head<float>& head = *model.trained;
  const FeatureTransform input{head.transform.power, {}, {}};
  LabelledExamples rows{model.support.features.clone(), model.support.labels, model.class_names.size()};
  transform_in_tasks(head.transform, rows.features.view(), threads);
  const double old_inverse_length = mean_inverse_length(rows.features.view(), {}, rows.features.rows());
  rows.features = model.support.features.clone();
  transform_in_tasks(input, rows.features.view(), threads);
  std::shared_ptr<const MetricPrior> prior;
  if (head.transform.metrics.size() > 1) {
    prior = std::make_shared<const MetricPrior>(MetricPrior{head.transform.metrics.front(), input.power, {}});
  }
  const MetricSpace space =
      enter_metric_space(rows, input, {true, model.training.metric_strength, std::move(prior)}, threads);
  if (!space.any()) return;
  // Scores w . A x become those of w' . B x with w' = B^-1 A w.
  Matrix<float> weights(head.classes(), head.dimension());
  effective_weights(head, weights.view());
  const std::vector<Metric>& old = head.transform.metrics;
  for (auto metric = old.rbegin(); metric != old.rend(); ++metric) apply_metric(*metric, weights.view(), threads);
  for (const Metric& metric : space.transform.metrics) apply_metric(inverse_of(metric), weights.view(), threads);
  const auto scale = static_cast<float>(old_inverse_length / space.mean_inverse_length);
  for (std::size_t c = 0; c < head.classes(); ++c) {
    const auto from = std::as_const(weights).row(c);
    const auto to = head.direction.row(c);
    const float length = std::max(std::sqrt(squared_length(from)), 1e-12F);
    // A cosine head keeps the length of its directions, which decides how fast they turn.
    float factor = scale;
    if (head.kind == HeadKind::kCosine) {
      factor = std::sqrt(squared_length(std::span<const float>(to))) / length;
      head.gain[c] = std::copysign(scale * length, head.gain[c]);
      if (head.gain[c] < 0.0F) factor = -factor;
    }
    std::copy(from.begin(), from.end(), to.begin());
    scale_row(to, factor);
  }
  head.transform = space.transform;
}

UpdateExamples update_examples_of(const Model& model, NoiseShape shape, int threads) {
  const FeatureTransform& transform = model.trained ? model.trained->transform : model.head.transform;
  Matrix<float> rows = model.support.features.clone();
  transform_in_tasks(transform, rows.view(), threads);
  UpdateExamples examples;
  if (!transform.metrics.empty()) examples.mean_inverse_length = mean_inverse_length(rows.view(), {}, rows.rows());
  examples.training =
      make_training_examples<float>(std::move(rows), model.support.labels, model.class_names.size(), shape);
  return examples;
}

void append_class(Head<float>& head, const Matrix<float>& means, const Matrix<float>& ridge) {
  Matrix<float> weights(head.classes(), head.dimension());
  effective_weights(head, weights.view());
  const WeightPattern pattern = weight_pattern(weights, means, ridge);
  const std::size_t added = head.classes();
  head.direction = with_row(head.direction);
  const auto row = head.direction.row(added);
  for (std::size_t j = 0; j < row.size(); ++j) {
    row[j] = static_cast<float>(pattern.along_mean * static_cast<double>(means(added, j)) +
                                pattern.along_ridge * static_cast<double>(ridge(added, j)) + pattern.shared[j]);
  }
  if (head.kind == HeadKind::kLinear) {
    head.bias.push_back(mean_of(head.bias));
    return;
  }
  const float length = std::max(std::sqrt(squared_length(std::span<const float>(row))), 1e-6F);
  double others = 0.0;
  for (std::size_t c = 0; c < added; ++c) {
    others += static_cast<double>(std::sqrt(squared_length(std::as_const(head.direction).row(c))));
  }
  head.gain.push_back(length);
  const double wanted = others / static_cast<double>(added);
  scale_row(row, static_cast<float>(wanted) / length);
}

void keep_classes(Head<float>& head, std::span<const std::size_t> kept) {
  Matrix<float> direction(kept.size(), head.dimension());
  std::vector<float> numbers;
  std::vector<float>& per_class = head.kind == HeadKind::kCosine ? head.gain : head.bias;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto row = std::as_const(head.direction).row(kept[i]);
    std::copy(row.begin(), row.end(), direction.row(i).begin());
    numbers.push_back(per_class[kept[i]]);
  }
  head.direction = std::move(direction);
  per_class = std::move(numbers);
}

void warm_train(Model& model, const TrainingExamples<float>& rows, const std::vector<bool>& changed,
                const Recipe& recipe, const UpdateOptions& update) {
  TrainOptions options = recipe.virtual_examples ? recipe.final_training : recipe.baseline;
  options.epsilon = recipe.virtual_examples ? model.epsilon : 0.0;
  options.virtual_count = kWarmVirtual;
  options.sharing = NoiseSharing::kGrouped;
  // Random numbers of a change are its own: they follow from the number of changes before it.
  options.run = kFirstRun + static_cast<std::uint32_t>(model.training.updates.all() % kRuns);
  options.threads = update.threads;
  const auto changed_rows = std::count_if(rows.labels.begin(), rows.labels.end(),
                                          [&](std::int32_t label) { return changed[static_cast<std::size_t>(label)]; });
  const double work =
      static_cast<double>(rows.rows()) * static_cast<double>(rows.classes) * static_cast<double>(rows.dimension());
  if (work > update.most_work && static_cast<std::size_t>(changed_rows) <= kMostChanged) {
    return train_changed(updated_head(model), rows, changed, options);
  }
  options.batch = kWarmBatch;
  options.learning_rate *= kWarmRate;
  const std::size_t steps = steps_an_epoch(std::min(rows.rows(), kMostWarmRows), options);
  options.epochs = std::max<std::size_t>(1, (kWarmSteps + steps / 2) / steps);
  const RandomStream shuffle{options.seed, RandomUse::kShuffle, start_stream(options)};
  TrainHooks<float> hooks;
  hooks.order = [&](std::size_t epoch) { return warm_order(rows, changed, shuffle, epoch); };
  train(updated_head(model), rows, options, {}, hooks);
}

void add_ensemble_heads(Model& model, const UpdateExamples& examples, const Matrix<float>& ridge, const Recipe& recipe,
                        const UpdateOptions& options) {
  if (!model.trained) return;
  FeatureTransform transform = std::move(model.head.transform);
  const FeatureTransform& space = model.trained->transform;
  model.head =
      sum_with_ridge(*model.trained, examples.training, recipe.ensemble, ridge, kUpdateSpreadRows, options.threads);
  if (!space.metrics.empty()) {
    model.head = leave_metric_space(model.head, space, examples.mean_inverse_length, options.threads);
  }
  model.head.transform = std::move(transform);
}

}  // namespace annulus
