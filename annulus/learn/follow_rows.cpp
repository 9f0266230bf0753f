// Compares the rows that a model has with those there are, and grows by the difference.
#include "annulus/learn/follow_rows.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/learn/companions.h"
#include "annulus/learn/grow_steps.h"
#include "annulus/learn/recipe_record.h"
#include "annulus/learn/training_order.h"

namespace annulus {
namespace {

// The classes of the new model: those of the old one that still have rows, in its order, then the new ones.
struct Classes {
  std::vector<std::size_t> kept;         // rows of the old head
  std::vector<std::string> names;        // of the new model
  std::vector<std::int32_t> old_number;  // of each class of the old model; -1: gone
};

// Also numbers the labels of `data` accordingly.
Classes match_classes(const Model& model, const FollowOptions& options, TrainingData& data) {
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
    fail(ErrorKind::kInput, "expected rows of two classes, one of them of the model, found {} and {}",
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
  std::vector<bool> changed;  // classes with rows that came or went
  std::size_t added = 0;      // rows of classes that were there
  std::size_t removed = 0;    // rows of classes that stay
  std::size_t rows = 0;       // that came or went, of any class
};

Difference difference_of(const SupportRows& old_rows, const SupportRows& rows, const Classes& classes) {
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

void count_changes(const Difference& difference, const Classes& classes, Model& model) {
  const std::size_t old_classes = classes.old_number.size();
  const auto count = [&](const char* key, std::size_t more) {
    if (more > 0) count_change(model, key, more);
  };
  count(kClassesAdded, classes.names.size() - classes.kept.size());
  count(kClassesRemoved, old_classes - classes.kept.size());
  count(kRowsAdded, difference.added);
  count(kRowsRemoved, difference.removed);
}

}  // namespace

std::optional<Model> follow_rows(const Model& model, TrainingData data, const FollowOptions& options) {
  const Recipe recipe = recipe_of_record(model.training);
  check_growable(model, recipe, data.rows.features.view());
  if (model.support.paths.empty() || data.paths.empty()) {
    fail(ErrorKind::kInput, "expected rows with their paths, found some without");
  }
  const Classes classes = match_classes(model, options, data);
  settle_rows(data);
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
  next.provenance = std::move(data.provenance);
  next.class_names = classes.names;
  next.training["rows"] = std::to_string(data.rows.labels.size());
  count_changes(difference, classes, next);

  Head<float>& head = growing_head(next);
  keep_classes(head, classes.kept);
  const TrainingRows<float> training = training_rows(next, recipe.noise_shape, options.threads);
  const bool appends = head.classes() < classes.names.size();
  Matrix<float> ridge;
  if (appends || next.trained) ridge = ridge_weights(training, recipe.companions.ridge_penalty, options.threads);
  if (appends) {
    const Matrix<float> means = class_mean_weights(training, mean_row(training));
    while (head.classes() < classes.names.size()) append_class(head, means, ridge);
  }
  if (std::find(difference.changed.begin(), difference.changed.end(), true) != difference.changed.end()) {
    warm_train(next, training, difference.changed, recipe, {options.threads});
  }
  add_companions(next, training, ridge, recipe, {options.threads});
  return next;
}

}  // namespace annulus
