// Appends and removes classes: a start in closed form, a few warm steps, and the companions anew.
#include "annulus/learn/grow.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/base/random.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/companions.h"
#include "annulus/learn/prediction.h"
#include "annulus/learn/recipe.h"
#include "annulus/learn/recipe_record.h"
#include "annulus/learn/trainer.h"

namespace annulus {
namespace {

// Chosen on one draw of two feature sets (docs/grow.md): without steps new classes are too strong, and three times the
// rate shakes the old ones.
constexpr std::size_t kWarmSteps = 16;       // at least about so many
constexpr std::size_t kMostWarmRows = 8192;  // of an epoch; a model of more rows learns beside a sample of them
constexpr std::size_t kWarmBatch = 256;
constexpr std::size_t kWarmVirtual = 16;   // R
constexpr double kWarmRate = 0.1;          // of the learning rate that the model was trained with
constexpr std::uint32_t kFirstRun = 2048;  // of warm trainings: past all runs of a fit
constexpr std::uint32_t kRuns = 2048;
// Entries of the training record.
constexpr const char* kClassesAdded = "grown_classes_added";
constexpr const char* kClassesRemoved = "grown_classes_removed";
constexpr const char* kRowsAdded = "grown_rows_added";  // to classes that were there
constexpr const char* kCounts[] = {kClassesAdded, kClassesRemoved, kRowsAdded};

// The trained head: what grows.
Head<float>& growing_head(Model& model) { return model.trained ? *model.trained : model.head; }

std::optional<std::size_t> find_class(const Model& model, const std::string& name) {
  const auto found = std::find(model.class_names.begin(), model.class_names.end(), name);
  if (found == model.class_names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - model.class_names.begin());
}

bool is_baseline(const Model& model) {
  const auto method = model.training.find("method");
  return method != model.training.end() && method->second == "baseline";
}

void check_growable(const Model& model, const Recipe& recipe, const NewRows& rows) {
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
  if (rows.features.rows() == 0) fail(ErrorKind::kInput, "expected rows to learn from, found none");
  if (rows.features.cols() != model.head.dimension()) {
    fail(ErrorKind::kInput, "expected features of dimension {}, as the model was trained on, found dimension {}",
         model.head.dimension(), rows.features.cols());
  }
}

TrainingRows<float> training_rows(const Model& model, NoiseShape shape) {
  Matrix<float> features = model.support.features.clone();
  prepare_rows(model.head.conditioning, features.view());
  return make_training_rows<float>(std::move(features), model.support.labels, model.class_names.size(), shape);
}

std::size_t count_in_record(const Model& model, const char* key) {
  const auto found = model.training.find(key);
  if (found == model.training.end()) return 0;
  std::uint32_t count = 0;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), count);
  return count;
}

void count_change(Model& model, const char* key, std::size_t more) {
  model.training[key] = fmt::format("{}", count_in_record(model, key) + more);
}

// The share of each class's weights that points along the mean of its rows, and what is the same in all of them: a new
// class starts where they would put it.
struct WeightPattern {
  double along = 0.0;
  std::vector<double> shared;
};

WeightPattern weight_pattern(const Matrix<float>& weights, const Matrix<float>& means) {
  WeightPattern pattern;
  const auto classes = static_cast<double>(weights.rows());
  for (std::size_t c = 0; c < weights.rows(); ++c) {
    for (std::size_t j = 0; j < weights.cols(); ++j) {
      pattern.along += static_cast<double>(weights(c, j)) * static_cast<double>(means(c, j)) / classes;
    }
  }
  pattern.shared.assign(weights.cols(), 0.0);
  for (std::size_t c = 0; c < weights.rows(); ++c) {
    for (std::size_t j = 0; j < weights.cols(); ++j) {
      pattern.shared[j] +=
          (static_cast<double>(weights(c, j)) - pattern.along * static_cast<double>(means(c, j))) / classes;
    }
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

// Appends the last class of `means` to a head of the others.
void append_class(Head<float>& head, const Matrix<float>& means) {
  Matrix<float> weights(head.classes(), head.dimension());
  effective_weights(head, weights.view());
  const WeightPattern pattern = weight_pattern(weights, means);
  const std::size_t added = head.classes();
  head.direction = with_row(head.direction);
  const auto row = head.direction.row(added);
  for (std::size_t j = 0; j < row.size(); ++j) {
    row[j] = static_cast<float>(pattern.along * static_cast<double>(means(added, j)) + pattern.shared[j]);
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

// Random numbers of a change are its own: they follow from the number of changes before it.
std::uint32_t changes_so_far(const Model& model) {
  std::uint32_t changes = 0;
  for (const char* key : kCounts) changes += static_cast<std::uint32_t>(count_in_record(model, key));
  return changes;
}

// A random order of at most kMostWarmRows rows, among them all of class `label`.
std::vector<std::uint32_t> warm_order(const TrainingRows<float>& rows, std::size_t label, const RandomStream& stream,
                                      std::size_t epoch) {
  std::vector<std::uint32_t> order = random_permutation(stream, static_cast<std::uint32_t>(epoch), rows.rows());
  if (order.size() <= kMostWarmRows) return order;
  const auto is_new = [&](std::uint32_t row) { return static_cast<std::size_t>(rows.labels[row]) == label; };
  auto others = static_cast<std::ptrdiff_t>(kMostWarmRows) - std::count_if(order.begin(), order.end(), is_new);
  std::erase_if(order, [&](std::uint32_t row) { return !is_new(row) && others-- <= 0; });
  return order;
}

// A few steps of the training that made the model, over all rows, at a small learning rate: of class `label` and of
// those that have to make room for it.
void warm_train(Model& model, const TrainingRows<float>& rows, std::size_t label, const Recipe& recipe,
                const GrowOptions& grow) {
  TrainOptions options = is_baseline(model) ? recipe.baseline : recipe.final_training;
  options.epsilon = is_baseline(model) ? 0.0 : model.epsilon;
  options.batch = kWarmBatch;
  options.virtual_count = kWarmVirtual;
  options.sharing = NoiseSharing::kGrouped;
  options.learning_rate *= kWarmRate;
  options.run = kFirstRun + changes_so_far(model) % kRuns;
  options.threads = grow.threads;
  const std::size_t steps = steps_an_epoch(std::min(rows.rows(), kMostWarmRows), options);
  options.epochs = std::max<std::size_t>(1, (kWarmSteps + steps / 2) / steps);
  const RandomStream shuffle{options.seed, RandomUse::kShuffle, start_stream(options)};
  TrainHooks<float> hooks;
  hooks.order = [&](std::size_t epoch) { return warm_order(rows, label, shuffle, epoch); };
  train(growing_head(model), rows, options, {}, hooks);
}

void add_companions(Model& model, const TrainingRows<float>& rows, const Recipe& recipe, const GrowOptions& options) {
  if (!model.trained) return;
  Conditioning conditioning = std::move(model.head.conditioning);
  model.head = with_companions(*model.trained, rows, recipe.companions, options.threads);
  model.head.conditioning = std::move(conditioning);
}

// What a model names its own rows.
std::vector<std::int32_t> answers(const Model& model, int threads) {
  return predict_classes(model.head, model.support.features.view(), threads);
}

// Compares the answers for the rows that were there before, all of which are still the first ones.
void compare_answers(const Model& model, std::span<const std::int32_t> before, std::span<const std::int32_t> after,
                     GrowthReport& report) {
  std::vector<ClassChange> classes(model.class_names.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::int32_t label = model.support.labels[i];
    ClassChange& change = classes[static_cast<std::size_t>(label)];
    ++change.rows;
    if (before[i] == label) ++change.right_before;
    if (after[i] == label) ++change.right_after;
    if (before[i] != after[i]) ++change.changed;
  }
  for (std::size_t c = 0; c < classes.size(); ++c) {
    report.old_rows += classes[c].rows;
    report.changed += classes[c].changed;
    report.right_before += classes[c].right_before;
    report.right_after += classes[c].right_after;
    if (classes[c].changed == 0) continue;
    classes[c].name = model.class_names[c];
    report.classes.push_back(std::move(classes[c]));
  }
  const auto gain = [](const ClassChange& change) {
    return static_cast<std::ptrdiff_t>(change.right_after) - static_cast<std::ptrdiff_t>(change.right_before);
  };
  std::stable_sort(report.classes.begin(), report.classes.end(),
                   [&](const ClassChange& left, const ClassChange& right) { return gain(left) < gain(right); });
}

void find_most_alike(const Model& model, const Matrix<float>& means, std::size_t chosen, GrowthReport& report) {
  report.alike_cosine = -2.0;
  for (std::size_t c = 0; c < means.rows(); ++c) {
    if (c == chosen) continue;
    double cosine = 0.0;
    for (std::size_t j = 0; j < means.cols(); ++j) {
      cosine += static_cast<double>(means(c, j)) * static_cast<double>(means(chosen, j));
    }
    if (cosine <= report.alike_cosine) continue;
    report.alike_cosine = cosine;
    report.most_alike = model.class_names[c];
  }
}

// The rows to be learnt, as a model keeps them.
SupportRows rows_of_class(NewRows rows, std::size_t label) {
  const std::size_t count = rows.features.rows();
  SupportRows kept =
      keep_support(LabelledRows{std::move(rows.features), std::vector<std::int32_t>(count, 0), 1}, rows.paths);
  kept.labels.assign(kept.rows(), static_cast<std::int32_t>(label));
  return kept;
}

// Learns rows of class `label`, the last of the names if the head does not have it yet. `before` are the answers of the
// model for the rows it has.
Growth learn_rows(Model model, NewRows rows, std::size_t label, std::span<const std::int32_t> before,
                  const Recipe& recipe, const GrowOptions& options) {
  GrowthReport report;
  report.new_rows = rows.features.rows();
  model.support = join_support(model.support, rows_of_class(std::move(rows), label));
  const TrainingRows<float> training = training_rows(model, recipe.noise_shape);
  const Matrix<float> means = class_mean_weights(training, mean_row(training.features.view()));
  if (growing_head(model).classes() < model.class_names.size()) append_class(growing_head(model), means);
  warm_train(model, training, label, recipe, options);
  add_companions(model, training, recipe, options);
  const std::vector<std::int32_t> after = answers(model, options.threads);
  compare_answers(model, before, after, report);
  report.new_right = static_cast<std::size_t>(
      std::count(after.begin() + static_cast<std::ptrdiff_t>(before.size()), after.end(), label));
  find_most_alike(model, means, label, report);
  model.support = thin_support(std::move(model.support), model.class_names.size());
  return {std::move(model), std::move(report)};
}

// The rows of a head that are kept, in their order.
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

// The classes that stay when those named are taken out.
std::vector<std::size_t> classes_without(const Model& model, std::span<const std::string> names) {
  std::vector<bool> removed(model.class_names.size(), false);
  for (const std::string& name : names) {
    const auto found = find_class(model, name);
    if (!found) fail(ErrorKind::kInput, "expected the name of a class of the model, found \"{}\"", name);
    if (removed[*found]) fail(ErrorKind::kInput, "expected every class to be named once, found \"{}\" twice", name);
    removed[*found] = true;
  }
  std::vector<std::size_t> kept;
  for (std::size_t c = 0; c < removed.size(); ++c) {
    if (!removed[c]) kept.push_back(c);
  }
  if (kept.size() < 2) {
    fail(ErrorKind::kInput, "expected at least two classes to be left of {}, found {}", removed.size(), kept.size());
  }
  return kept;
}

// Takes the support rows of classes that do not stay out, and numbers the others anew; gives back which rows stayed.
std::vector<std::size_t> keep_support_of(Model& model, std::span<const std::size_t> kept, std::size_t classes) {
  std::vector<std::int32_t> number(classes, -1);
  for (std::size_t i = 0; i < kept.size(); ++i) number[kept[i]] = static_cast<std::int32_t>(i);
  std::vector<std::size_t> stayed;
  for (std::size_t i = 0; i < model.support.rows(); ++i) {
    if (number[static_cast<std::size_t>(model.support.labels[i])] >= 0) stayed.push_back(i);
  }
  model.support = select_support(model.support, stayed);
  for (std::int32_t& label : model.support.labels) label = number[static_cast<std::size_t>(label)];
  return stayed;
}

}  // namespace

Growth add_class(Model model, NewRows rows, const std::string& name, const GrowOptions& options) {
  const auto start = now();
  const Recipe recipe = recipe_of_record(model.training);
  check_growable(model, recipe, rows);
  if (find_class(model, name)) {
    fail(ErrorKind::kInput, "expected the name of a new class, found \"{}\", which the model has", name);
  }
  const std::vector<std::int32_t> before = answers(model, options.threads);
  const std::size_t label = model.class_names.size();
  model.class_names.push_back(name);
  Growth growth = learn_rows(std::move(model), std::move(rows), label, before, recipe, options);
  count_change(growth.model, kClassesAdded, 1);
  growth.report.seconds = seconds_since(start);
  return growth;
}

Growth add_examples(Model model, NewRows rows, const std::string& name, const GrowOptions& options) {
  const auto start = now();
  const Recipe recipe = recipe_of_record(model.training);
  check_growable(model, recipe, rows);
  const auto label = find_class(model, name);
  if (!label) fail(ErrorKind::kInput, "expected the name of a class of the model, found \"{}\"", name);
  const std::vector<std::int32_t> before = answers(model, options.threads);
  const std::size_t count = rows.features.rows();
  Growth growth = learn_rows(std::move(model), std::move(rows), *label, before, recipe, options);
  count_change(growth.model, kRowsAdded, count);
  growth.report.seconds = seconds_since(start);
  return growth;
}

Growth remove_classes(Model model, std::span<const std::string> names, const GrowOptions& options) {
  const auto start = now();
  const std::size_t classes = model.class_names.size();
  const std::vector<std::size_t> kept = classes_without(model, names);
  GrowthReport report;
  std::vector<std::int32_t> before;
  if (!model.support.empty()) {
    const std::vector<std::int32_t> all = answers(model, options.threads);
    std::vector<std::int32_t> number(classes, -1);
    for (std::size_t i = 0; i < kept.size(); ++i) number[kept[i]] = static_cast<std::int32_t>(i);
    for (const std::size_t row : keep_support_of(model, kept, classes)) {
      before.push_back(number[static_cast<std::size_t>(all[row])]);
    }
  }
  keep_classes(model.head, kept);
  if (model.trained) keep_classes(*model.trained, kept);
  std::vector<std::string> class_names;
  for (const std::size_t c : kept) class_names.push_back(std::move(model.class_names[c]));
  model.class_names = std::move(class_names);
  if (model.trained && !model.support.empty()) {
    const Recipe recipe = recipe_of_record(model.training);
    add_companions(model, training_rows(model, recipe.noise_shape), recipe, options);
  }
  if (!model.support.empty()) compare_answers(model, before, answers(model, options.threads), report);
  count_change(model, kClassesRemoved, names.size());
  report.seconds = seconds_since(start);
  return {std::move(model), std::move(report)};
}

}  // namespace annulus
