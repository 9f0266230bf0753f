// Appends and removes classes, and tells what that did to the others.
#include "annulus/learn/grow.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/learn/companions.h"
#include "annulus/learn/grow_steps.h"
#include "annulus/learn/growth_report.h"
#include "annulus/learn/recipe_record.h"

namespace annulus {
namespace {

std::optional<std::size_t> find_class(const Model& model, const std::string& name) {
  const auto found = std::find(model.class_names.begin(), model.class_names.end(), name);
  if (found == model.class_names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - model.class_names.begin());
}

// The rows to be learnt, as a model keeps them.
SupportRows rows_of_class(NewRows rows, std::size_t label) {
  const std::size_t count = rows.features.rows();
  SupportRows kept =
      keep_support(LabelledRows{std::move(rows.features), std::vector<std::int32_t>(count, 0), 1}, rows.paths);
  kept.labels.assign(kept.rows(), static_cast<std::int32_t>(label));
  return kept;
}

// Learns rows of class `label`, the last of the names if the head does not have it yet.
Growth learn_rows(Model model, NewRows rows, std::size_t label, const Recipe& recipe, const GrowOptions& options) {
  GrowthReport report;
  report.given_rows = rows.features.rows();
  report.old_rows = model.support.rows();
  model.support = join_support(model.support, rows_of_class(std::move(rows), label));
  report.new_rows = model.support.rows() - report.old_rows;
  const TrainingRows<float> training = training_rows(model, recipe.noise_shape, options.threads);
  const ConstMatrixView<float> features = training.features.view();
  const Matrix<float> means = class_mean_weights(training, mean_row(training));
  std::vector<bool> changed(model.class_names.size(), false);
  changed[label] = true;
  const std::vector<std::size_t> asked =
      rows_to_ask(means, changed, std::span(model.support.labels).first(report.old_rows));
  const Matrix<float> asked_rows = gather_rows(features, asked);
  const std::vector<std::int32_t> before = name_conditioned(model.head, asked_rows.view(), options.threads);

  const bool appends = growing_head(model).classes() < model.class_names.size();
  Matrix<float> ridge;
  if (appends || model.trained) {
    ridge = ridge_weights(training, recipe.companions.ridge_penalty, options.threads);
  }
  if (appends) append_class(growing_head(model), means, ridge);
  warm_train(model, training, changed, recipe, options);
  add_companions(model, training, ridge, recipe, options);
  compare_answers(model, asked, before, name_conditioned(model.head, asked_rows.view(), options.threads), report);
  const std::vector<std::int32_t> learnt =
      name_conditioned(model.head, features.rows_at(report.old_rows, report.new_rows), options.threads);
  report.new_right = static_cast<std::size_t>(std::count(learnt.begin(), learnt.end(), label));
  find_most_alike(model, means, label, report);
  model.support = thin_support(std::move(model.support), model.class_names.size());
  return {std::move(model), std::move(report)};
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

// What the classes that stay are numbered afterwards; -1: those that do not.
std::vector<std::int32_t> new_numbers(std::span<const std::size_t> kept, std::size_t classes) {
  std::vector<std::int32_t> number(classes, -1);
  for (std::size_t i = 0; i < kept.size(); ++i) number[kept[i]] = static_cast<std::int32_t>(i);
  return number;
}

// Takes the support rows of classes that do not stay out, and numbers the others anew.
void keep_support_of(Model& model, std::span<const std::size_t> kept, std::size_t classes) {
  const std::vector<std::int32_t> number = new_numbers(kept, classes);
  std::vector<std::size_t> stayed;
  for (std::size_t i = 0; i < model.support.rows(); ++i) {
    if (number[static_cast<std::size_t>(model.support.labels[i])] >= 0) stayed.push_back(i);
  }
  model.support = select_support(model.support, stayed);
  for (std::int32_t& label : model.support.labels) label = number[static_cast<std::size_t>(label)];
}

// Gives the classes that stay the companions of the rows that stay; `whole` is the head that had all classes.
void take_out(Model& model, Head<float>& whole, std::span<const std::size_t> kept, const GrowOptions& options,
              GrowthReport& report) {
  Matrix<float> rows = conditioned_rows(model, options.threads);
  report.old_rows = rows.rows();
  const std::vector<std::size_t> asked = rows_to_ask(Matrix<float>(kept.size(), 0), {}, model.support.labels);
  const Matrix<float> asked_rows = gather_rows(std::as_const(rows).view(), asked);
  std::vector<std::int32_t> before = name_conditioned(whole, asked_rows.view(), options.threads);
  const std::vector<std::int32_t> number = new_numbers(kept, whole.classes());
  for (std::int32_t& answer : before) answer = number[static_cast<std::size_t>(answer)];
  if (model.trained) {
    const Recipe recipe = recipe_of_record(model.training);
    const TrainingRows<float> training = training_rows(model, std::move(rows), recipe.noise_shape);
    add_companions(model, training, ridge_weights(training, recipe.companions.ridge_penalty, options.threads), recipe,
                   options);
  }
  compare_answers(model, asked, before, name_conditioned(model.head, asked_rows.view(), options.threads), report);
}

}  // namespace

Growth add_class(Model model, NewRows rows, const std::string& name, const GrowOptions& options) {
  const auto start = now();
  const Recipe recipe = recipe_of_record(model.training);
  check_growable(model, recipe, rows.features.view());
  if (find_class(model, name)) {
    fail(ErrorKind::kInput, "expected the name of a new class, found \"{}\", which the model has", name);
  }
  const std::size_t label = model.class_names.size();
  model.class_names.push_back(name);
  Growth growth = learn_rows(std::move(model), std::move(rows), label, recipe, options);
  count_change(growth.model, kClassesAdded, 1);
  growth.report.seconds = seconds_since(start);
  return growth;
}

Growth add_examples(Model model, NewRows rows, const std::string& name, const GrowOptions& options) {
  const auto start = now();
  const Recipe recipe = recipe_of_record(model.training);
  check_growable(model, recipe, rows.features.view());
  const auto label = find_class(model, name);
  if (!label) fail(ErrorKind::kInput, "expected the name of a class of the model, found \"{}\"", name);
  Growth growth = learn_rows(std::move(model), std::move(rows), *label, recipe, options);
  count_change(growth.model, kRowsAdded, growth.report.new_rows);
  growth.report.seconds = seconds_since(start);
  return growth;
}

Growth remove_classes(Model model, std::span<const std::string> names, const GrowOptions& options) {
  const auto start = now();
  const std::vector<std::size_t> kept = classes_without(model, names);
  GrowthReport report;
  Head<float> whole = model.support.empty() ? Head<float>{} : model.head.clone();
  if (!model.support.empty()) keep_support_of(model, kept, whole.classes());
  keep_classes(model.head, kept);
  if (model.trained) keep_classes(*model.trained, kept);
  std::vector<std::string> class_names;
  for (const std::size_t c : kept) class_names.push_back(std::move(model.class_names[c]));
  model.class_names = std::move(class_names);
  if (!model.support.empty()) take_out(model, whole, kept, options, report);
  count_change(model, kClassesRemoved, names.size());
  report.seconds = seconds_since(start);
  return {std::move(model), std::move(report)};
}

}  // namespace annulus
