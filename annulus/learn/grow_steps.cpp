// A start in closed form, a few warm steps, the companions anew.
#include "annulus/learn/grow_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/random.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/companion_sum.h"
#include "annulus/learn/prediction.h"
#include "annulus/learn/trainer.h"

namespace annulus {
namespace {

// docs/grow.md has the measurements: without steps new classes are too strong, and larger ones shake the old classes.
constexpr std::size_t kWarmSteps = 16;       // at least about so many
constexpr std::size_t kMostWarmRows = 8192;  // of an epoch; a model of more rows learns beside a sample of them
constexpr std::size_t kMostChanged = 128;    // rows of the changed classes where these learn alone
constexpr std::size_t kWarmBatch = 256;
constexpr std::size_t kSampledBatch = 128;  // where only these learn, half of it their rows
constexpr std::size_t kSampledGroup = 32;   // that share noise
constexpr std::size_t kWarmVirtual = 16;    // R
constexpr double kWarmRate = 0.1;           // of the learning rate that the model was trained with
constexpr double kSampledRate = 0.2;        // the same, where only the changed classes learn
constexpr std::size_t kSpreadRows = 512;    // fewer than in a fit: what they weigh is the companions beside the head
constexpr std::uint32_t kFirstRun = 2048;   // of warm trainings: past all runs of a fit
constexpr std::uint32_t kRuns = 2048;
constexpr const char* kCounts[] = {kClassesAdded, kClassesRemoved, kRowsAdded, kRowsRemoved};

bool is_baseline(const Model& model) {
  const auto method = model.training.find("method");
  return method != model.training.end() && method->second == "baseline";
}

std::size_t count_in_record(const Model& model, const char* key) {
  const auto found = model.training.find(key);
  if (found == model.training.end()) return 0;
  std::uint32_t count = 0;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), count);
  return count;
}

// What the weights of all classes are made of: so much of the mean of its rows, so much of its ridge regression, and
// something that is the same for all. A new class starts where that puts it.
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

// By least squares.
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

// Random numbers of a change are its own: they follow from the number of changes before it.
std::uint32_t changes_so_far(const Model& model) {
  std::uint32_t changes = 0;
  for (const char* key : kCounts) changes += static_cast<std::uint32_t>(count_in_record(model, key));
  return changes;
}

// A random order of at most kMostWarmRows rows, among them as many of the changed classes as there is room for.
std::vector<std::uint32_t> warm_order(const TrainingRows<float>& rows, const std::vector<bool>& changed,
                                      const RandomStream& stream, std::size_t epoch) {
  std::vector<std::uint32_t> order = random_permutation(stream, static_cast<std::uint32_t>(epoch), rows.rows());
  if (order.size() <= kMostWarmRows) return order;
  const auto is_new = [&](std::uint32_t row) { return changed[static_cast<std::size_t>(rows.labels[row])]; };
  auto others = static_cast<std::ptrdiff_t>(kMostWarmRows) - std::count_if(order.begin(), order.end(), is_new);
  std::erase_if(order, [&](std::uint32_t row) { return !is_new(row) && others-- <= 0; });
  if (order.size() > kMostWarmRows) order.resize(kMostWarmRows);
  return order;
}

// The rows of all steps, kSampledBatch for each: half of the changed classes and half of the others, each kind in an
// order of its own and from its start again where that ends. Weights make the halves count for what there is of each.
TrainingRows<float> sampled_steps(const TrainingRows<float>& rows, const std::vector<bool>& changed,
                                  const RandomStream& stream) {
  std::vector<std::uint32_t> ours;
  std::vector<std::uint32_t> others;
  for (const std::uint32_t row : random_permutation(stream, 0, rows.rows())) {
    (changed[static_cast<std::size_t>(rows.labels[row])] ? ours : others).push_back(row);
  }
  const auto share = [&](const std::vector<std::uint32_t>& kind) {
    return 2.0F * static_cast<float>(kind.size()) / static_cast<float>(rows.rows());
  };
  const std::size_t count = kWarmSteps * kSampledBatch;
  TrainingRows<float> sample{Matrix<float>(count, rows.dimension()), {}, rows.classes, rows.noise_scale};
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<std::uint32_t>& kind = i % 2 == 0 || others.empty() ? ours : others;
    const std::uint32_t row = kind[i / 2 % kind.size()];
    std::copy(rows.features.row(row).begin(), rows.features.row(row).end(), sample.features.row(i).begin());
    sample.labels.push_back(rows.labels[row]);
    sample.weights.push_back(share(kind));
  }
  return sample;
}

// Steps after which only the changed classes are other than before. Trained as far as those are, the other classes
// would be shaken by steps that see only a few of their rows.
void train_changed(Head<float>& head, const TrainingRows<float>& rows, const std::vector<bool>& changed,
                   TrainOptions options) {
  const TrainingRows<float> sample =
      sampled_steps(rows, changed, {options.seed, RandomUse::kShuffle, start_stream(options)});
  // An epoch is one step, so that the rate falls from each to the next; it is stated for a batch of that size.
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
  // From the first of them to the last; what lies between learns with them and is put back.
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

Head<float>& growing_head(Model& model) { return model.trained ? *model.trained : model.head; }

void check_growable(const Model& model, const Recipe& recipe, ConstMatrixView<float> rows) {
  if (model.support.empty()) {
    fail(ErrorKind::kInput, "expected a model with its training rows, found one without: fit it again without --strip");
  }
  if (!model.trained && recipe.companions.any() && !is_baseline(model)) {
    fail(ErrorKind::kInput, "expected a model with its trained head, found one without: fit it again");
  }
  std::vector<bool> seen(model.head.classes(), false);
  for (const std::int32_t label : model.support.labels) seen[static_cast<std::size_t>(label)] = true;
  const auto missing = std::find(seen.begin(), seen.end(), false);
  if (missing != seen.end()) {
    fail(ErrorKind::kInput, "expected a model with training rows of every class, found none of \"{}\"",
         model.class_names[static_cast<std::size_t>(missing - seen.begin())]);
  }
  if (rows.rows() == 0) fail(ErrorKind::kInput, "expected rows to learn from, found none");
  if (rows.cols() != model.head.dimension()) {
    fail(ErrorKind::kInput, "expected features of dimension {}, as the model was trained on, found dimension {}",
         model.head.dimension(), rows.cols());
  }
}

Matrix<float> conditioned_rows(const Model& model, int threads) {
  Matrix<float> rows = model.support.features.clone();
  prepare_rows(model.head.conditioning, rows.view(), 0, threads);
  return rows;
}

TrainingRows<float> training_rows(const Model& model, NoiseShape shape, int threads) {
  return training_rows(model, conditioned_rows(model, threads), shape);
}

TrainingRows<float> training_rows(const Model& model, Matrix<float> conditioned, NoiseShape shape) {
  return make_training_rows<float>(std::move(conditioned), model.support.labels, model.class_names.size(), shape);
}

void count_change(Model& model, const char* key, std::size_t more) {
  model.training[key] = fmt::format("{}", count_in_record(model, key) + more);
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

void warm_train(Model& model, const TrainingRows<float>& rows, const std::vector<bool>& changed, const Recipe& recipe,
                const GrowOptions& grow) {
  TrainOptions options = is_baseline(model) ? recipe.baseline : recipe.final_training;
  options.epsilon = is_baseline(model) ? 0.0 : model.epsilon;
  options.virtual_count = kWarmVirtual;
  options.sharing = NoiseSharing::kGrouped;
  options.run = kFirstRun + changes_so_far(model) % kRuns;
  options.threads = grow.threads;
  const auto changed_rows = std::count_if(rows.labels.begin(), rows.labels.end(),
                                          [&](std::int32_t label) { return changed[static_cast<std::size_t>(label)]; });
  const double work =
      static_cast<double>(rows.rows()) * static_cast<double>(rows.classes) * static_cast<double>(rows.dimension());
  if (work > grow.most_work && static_cast<std::size_t>(changed_rows) <= kMostChanged) {
    return train_changed(growing_head(model), rows, changed, options);
  }
  options.batch = kWarmBatch;
  options.learning_rate *= kWarmRate;
  const std::size_t steps = steps_an_epoch(std::min(rows.rows(), kMostWarmRows), options);
  options.epochs = std::max<std::size_t>(1, (kWarmSteps + steps / 2) / steps);
  const RandomStream shuffle{options.seed, RandomUse::kShuffle, start_stream(options)};
  TrainHooks<float> hooks;
  hooks.order = [&](std::size_t epoch) { return warm_order(rows, changed, shuffle, epoch); };
  train(growing_head(model), rows, options, {}, hooks);
}

void add_companions(Model& model, const TrainingRows<float>& rows, const Matrix<float>& ridge, const Recipe& recipe,
                    const GrowOptions& options) {
  if (!model.trained) return;
  Conditioning conditioning = std::move(model.head.conditioning);
  model.head = sum_with_ridge(*model.trained, rows, recipe.companions, ridge, kSpreadRows, options.threads);
  model.head.conditioning = std::move(conditioning);
}

}  // namespace annulus
