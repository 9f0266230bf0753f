// Adds and removes classes, and reports the effect on the others.
#include "annulus/learn/update/class_update.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/learn/ensemble/ensemble_heads.h"
#include "annulus/learn/ensemble/ridge.h"
#include "annulus/learn/ensemble/weighted_rows.h"
#include "annulus/learn/model/class_tree.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/learn/model/training_record.h"
#include "annulus/learn/update/update_report.h"
#include "annulus/learn/update/update_steps.h"

namespace annulus {
namespace {

std::optional<std::size_t> find_class(const Model& model, const std::string& name) {
  const auto found = std::find(model.class_names.begin(), model.class_names.end(), name);
  if (found == model.class_names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - model.class_names.begin());
}

// The new examples as a model keeps them.
SupportSet rows_of_class(NewExamples rows, std::size_t label) {
  const std::size_t count = rows.features.rows();
  SupportSet kept =
      keep_support(LabelledExamples{std::move(rows.features), std::vector<std::int32_t>(count, 0), 1}, rows.paths);
  kept.labels.assign(kept.rows(), static_cast<std::int32_t>(label));
  return kept;
}

// Learns examples of class `label`, which is the last name if the head does not have it yet.
ModelUpdate learn_rows(Model model, NewExamples rows, std::size_t label, const Recipe& recipe,
                       const UpdateOptions& options) {
  UpdateReport report;
  report.examples_given = rows.features.rows();
  report.old_examples = model.support.rows();
  model.support = join_support(model.support, rows_of_class(std::move(rows), label));
  report.examples_learnt = model.support.rows() - report.old_examples;
  const UpdateExamples examples = update_examples_of(model, recipe.noise_shape, options.threads);
  const TrainingExamples<float>& training = examples.training;
  const ConstMatrixView<float> features = std::as_const(model.support.features).view();
  const Matrix<float> means = prototype_weights(training, mean_row(training));
  std::vector<bool> changed(model.class_names.size(), false);
  changed[label] = true;
  const std::vector<std::size_t> checked =
      examples_to_check(means, changed, std::span(model.support.labels).first(report.old_examples));
  const Matrix<float> checked_rows = gather_rows(features, checked);
  const std::vector<std::int32_t> before = predict_classes(model.head, checked_rows.view(), options.threads);

  const bool appends = updated_head(model).classes() < model.class_names.size();
  Matrix<float> ridge;
  if (appends || recipe.ensemble.ridge_weight > 0.0) {
    ridge = ridge_weights(training, {.relative = recipe.ensemble.ridge_penalty}, options.threads);
  }
  if (appends) append_class(updated_head(model), means, ridge);
  warm_train(model, training, changed, recipe, options);
  add_ensemble_heads(model, examples, ridge, recipe, options);
  compare_predictions(model, checked, before, predict_classes(model.head, checked_rows.view(), options.threads),
                      report);
  const std::vector<std::int32_t> learnt =
      predict_classes(model.head, features.rows_at(report.old_examples, report.examples_learnt), options.threads);
  report.examples_learnt_correct = static_cast<std::size_t>(std::count(learnt.begin(), learnt.end(), label));
  find_most_alike(model, means, label, report);
  model.support = thin_support(std::move(model.support), model.class_names.size());
  return {std::move(model), std::move(report)};
}

// The classes that stay when the named ones are removed.
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

// The new index of each class; -1: removed.
std::vector<std::int32_t> new_numbers(std::span<const std::size_t> kept, std::size_t classes) {
  std::vector<std::int32_t> number(classes, -1);
  for (std::size_t i = 0; i < kept.size(); ++i) number[kept[i]] = static_cast<std::int32_t>(i);
  return number;
}

// Removes the support examples of removed classes, and renumbers the others.
void keep_support_of(Model& model, std::span<const std::size_t> kept, std::size_t classes) {
  const std::vector<std::int32_t> number = new_numbers(kept, classes);
  std::vector<std::size_t> stayed;
  for (std::size_t i = 0; i < model.support.rows(); ++i) {
    if (number[static_cast<std::size_t>(model.support.labels[i])] >= 0) stayed.push_back(i);
  }
  model.support = select_support(model.support, stayed);
  for (std::int32_t& label : model.support.labels) label = number[static_cast<std::size_t>(label)];
}

// Recomputes the ensemble heads of the remaining classes from the remaining examples; `whole` is the head with all
// classes.
void take_out(Model& model, Head<float>& whole, std::span<const std::size_t> kept, const UpdateOptions& options,
              UpdateReport& report) {
  report.old_examples = model.support.rows();
  const std::vector<std::size_t> checked = examples_to_check(Matrix<float>(kept.size(), 0), {}, model.support.labels);
  const Matrix<float> checked_rows = gather_rows(model.support.features.view(), checked);
  std::vector<std::int32_t> before = predict_classes(whole, checked_rows.view(), options.threads);
  const std::vector<std::int32_t> number = new_numbers(kept, whole.classes());
  for (std::int32_t& answer : before) answer = number[static_cast<std::size_t>(answer)];
  if (model.trained) {
    const Recipe recipe = recipe_of_record(model.training);
    const UpdateExamples examples = update_examples_of(model, recipe.noise_shape, options.threads);
    Matrix<float> ridge;
    if (recipe.ensemble.ridge_weight > 0.0) {
      ridge = ridge_weights(examples.training, {.relative = recipe.ensemble.ridge_penalty}, options.threads);
    }
    add_ensemble_heads(model, examples, ridge, recipe, options);
  }
  compare_predictions(model, checked, before, predict_classes(model.head, checked_rows.view(), options.threads),
                      report);
}

}  // namespace

ModelUpdate add_class(Model model, NewExamples rows, const std::string& name, const UpdateOptions& options) {
  const auto start = now();
  const Recipe recipe = recipe_of_record(model.training);
  check_updatable(model, recipe, rows.features.view());
  if (find_class(model, name)) {
    fail(ErrorKind::kInput, "expected the name of a new class, found \"{}\", which the model has", name);
  }
  const std::size_t label = model.class_names.size();
  model.class_names.push_back(name);
  if (!model.parents.empty()) {
    model.parents.merge(parents_of_paths(std::span(&name, 1)));
    static_cast<void>(ClassTree(model.class_names, model.parents));  // checked before the work
  }
  ModelUpdate update = learn_rows(std::move(model), std::move(rows), label, recipe, options);
  update.model.training.updates.classes_added += 1;
  update.report.seconds = seconds_since(start);
  return update;
}

ModelUpdate add_examples(Model model, NewExamples rows, const std::string& name, const UpdateOptions& options) {
  const auto start = now();
  const Recipe recipe = recipe_of_record(model.training);
  check_updatable(model, recipe, rows.features.view());
  const auto label = find_class(model, name);
  if (!label) fail(ErrorKind::kInput, "expected the name of a class of the model, found \"{}\"", name);
  ModelUpdate update = learn_rows(std::move(model), std::move(rows), *label, recipe, options);
  update.model.training.updates.examples_added += update.report.examples_learnt;
  update.report.seconds = seconds_since(start);
  return update;
}

ModelUpdate remove_classes(Model model, std::span<const std::string> names, const UpdateOptions& options) {
  const auto start = now();
  const std::vector<std::size_t> kept = classes_without(model, names);
  UpdateReport report;
  Head<float> whole = model.support.empty() ? Head<float>{} : model.head.clone();
  if (!model.support.empty()) keep_support_of(model, kept, whole.classes());
  keep_classes(model.head, kept);
  if (model.trained) keep_classes(*model.trained, kept);
  std::vector<std::string> class_names;
  for (const std::size_t c : kept) class_names.push_back(std::move(model.class_names[c]));
  model.class_names = std::move(class_names);
  if (!model.support.empty()) take_out(model, whole, kept, options, report);
  model.training.updates.classes_removed += names.size();
  report.seconds = seconds_since(start);
  return {std::move(model), std::move(report)};
}

}  // namespace annulus
