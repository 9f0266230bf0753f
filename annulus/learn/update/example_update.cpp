// Compares the examples of a model with the current ones, and updates it by the difference.
#include "annulus/learn/update/example_update.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/learn/distributed/canonical_order.h"
#include "annulus/learn/ensemble/ensemble_heads.h"
#include "annulus/learn/ensemble/ridge.h"
#include "annulus/learn/ensemble/weighted_rows.h"
#include "annulus/learn/model/training_record.h"
#include "annulus/learn/update/update_steps.h"

namespace annulus {
namespace {

// The classes of the new model: those of the old one that still have examples, in its order, then the new ones.
struct Classes {
  std::vector<std::size_t> kept;         // rows of the old head
  std::vector<std::string> names;        // of the new model
  std::vector<std::int32_t> old_number;  // new index of each class of the old model; -1: removed
};

// Also renumbers the labels of `data`.
Classes match_classes(const Model& model, const ExampleUpdateOptions& options, TrainingData& data) {
  const std::vector<std::size_t> counts = class_counts(data.rows.labels, data.class_names.size());
  std::map<std::string_view, std::size_t> given;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] > 0) given.emplace(data.class_names[c], c);
  }
  Classes classes;
  std::vector<std::int32_t> number(counts.size(), -1);
  for (std::size_t c = 0; c < model.class_names.size(); ++c) {
    const auto renamed = options.renamed.find(model.class_names[c]);
    const std::string& name = renamed == options.renamed.end() ? model.class_names[c] : renamed->second;
    const auto found = given.find(name);
    classes.old_number.push_back(-1);
    if (found == given.end() || number[found->second] >= 0) continue;
    number[found->second] = classes.old_number[c] = static_cast<std::int32_t>(classes.names.size());
    classes.kept.push_back(c);
    classes.names.push_back(name);
  }
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0 || number[c] >= 0) continue;
    number[c] = static_cast<std::int32_t>(classes.names.size());
    classes.names.push_back(data.class_names[c]);
  }
  if (classes.names.size() < 2 || classes.kept.empty()) {
    fail(ErrorKind::kInput, "expected examples of two classes, one of them of the model, found {} and {}",
         classes.names.size(), classes.kept.size());
  }
  for (std::int32_t& label : data.rows.labels) label = number[static_cast<std::size_t>(label)];
  data.class_names = classes.names;
  data.rows.classes = classes.names.size();
  return classes;
}

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

struct Difference {
  std::vector<bool> changed;  // classes with added or removed examples
  std::size_t added = 0;      // examples of existing classes
  std::size_t removed = 0;    // examples of classes that stay
  std::size_t rows = 0;       // added or removed, of any class
};

Difference difference_of(const SupportSet& old_rows, const SupportSet& rows, const Classes& classes) {
  using Key = std::pair<std::int32_t, std::string_view>;
  std::map<Key, std::ptrdiff_t> counts;
  Difference difference;
  difference.changed.assign(classes.names.size(), false);
  for (std::size_t i = 0; i < old_rows.rows(); ++i) {
    const std::int32_t label = classes.old_number[static_cast<std::size_t>(old_rows.labels[i])];
    if (label >= 0) {
      --counts[{label, file_name(old_rows.paths[i])}];
    } else {
      ++difference.rows;
    }
  }
  for (std::size_t i = 0; i < rows.rows(); ++i) ++counts[{rows.labels[i], file_name(rows.paths[i])}];
  for (const auto& [key, count] : counts) {
    if (count == 0) continue;
    const auto label = static_cast<std::size_t>(key.first);
    const auto size = static_cast<std::size_t>(count < 0 ? -count : count);
    difference.changed[label] = true;
    difference.rows += size;
    if (count < 0) difference.removed += size;
    if (count > 0 && label < classes.kept.size()) difference.added += size;
  }
  return difference;
}

void count_changes(const Difference& difference, const Classes& classes, TrainingRecord::Updates& updates) {
  updates.classes_added += classes.names.size() - classes.kept.size();
  updates.classes_removed += classes.old_number.size() - classes.kept.size();
  updates.examples_added += difference.added;
  updates.examples_removed += difference.removed;
}

}  // namespace

std::optional<Model> update_examples(const Model& model, TrainingData data, const ExampleUpdateOptions& options) {
  const Recipe recipe = recipe_of_record(model.training);
  check_updatable(model, recipe, data.rows.features.view());
  if (model.support.paths.empty() || data.paths.empty()) {
    fail(ErrorKind::kInput, "expected examples with their paths, found some without");
  }
  const Classes classes = match_classes(model, options, data);
  to_canonical_order(data);
  Model next;
  next.support = keep_support(data.rows, data.paths);
  const Difference difference = difference_of(model.support, next.support, classes);
  if (difference.rows > options.most) return std::nullopt;
  next.head = model.head.clone();
  if (model.trained) next.trained = model.trained->clone();
  next.epsilon = model.epsilon;
  next.temperature = model.temperature;
  next.unknown = model.unknown;
  next.training = model.training;
  next.parents = model.parents;
  next.group_sharpness = model.group_sharpness;
  for (const auto& [before, after] : options.renamed) {
    if (auto entry = next.parents.extract(before)) next.parents.emplace(after, std::move(entry.mapped()));
  }
  next.provenance = std::move(data.provenance);
  next.class_names = classes.names;
  next.training.examples = data.rows.labels.size();
  count_changes(difference, classes, next.training.updates);

  Head<float>& head = updated_head(next);
  keep_classes(head, classes.kept);
  if (difference.removed > 0) relearn_metric(next, options.threads);
  const UpdateExamples examples = update_examples_of(next, recipe.noise_shape, options.threads);
  const TrainingExamples<float>& training = examples.training;
  const bool appends = head.classes() < classes.names.size();
  Matrix<float> ridge;
  if (appends || recipe.ensemble.ridge_weight > 0.0)
    ridge = ridge_weights(training, {.relative = recipe.ensemble.ridge_penalty}, options.threads);
  if (appends) {
    const Matrix<float> means = prototype_weights(training, mean_row(training));
    while (head.classes() < classes.names.size()) append_class(head, means, ridge);
  }
  if (std::find(difference.changed.begin(), difference.changed.end(), true) != difference.changed.end()) {
    warm_train(next, training, difference.changed, recipe, {options.threads});
  }
  add_ensemble_heads(next, examples, ridge, recipe, {options.threads});
  return next;
}

}  // namespace annulus
