// Incremental updates: a model learns a class, or more examples of one, or forgets one, without being retrained.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/learn/model/model.h"

namespace annulus {

struct UpdateOptions {
  int threads = 0;  // 0: all processors; the result does not depend on it
  // Examples x classes x dimensions up to which the old classes are trained as well; beyond, they stay as they are.
  double most_work = 4e9;
};

// New training examples of one class: raw feature rows.
struct NewExamples {
  Matrix<float> features;
  std::vector<std::string> paths;  // of each example; empty: unknown
};

// A class that the model had before: its correct predictions among the checked examples.
struct ClassChange {
  std::string name;
  std::size_t examples = 0;  // checked
  std::size_t right_before = 0;
  std::size_t right_after = 0;
  std::size_t changed = 0;  // examples whose prediction differs
};

// The effect of an update, measured on the training examples that the model keeps.
struct UpdateReport {
  std::size_t old_examples = 0;  // kept before, of the classes that stay
  std::size_t checked = 0;       // of these, those predicted before and after: all up to 1024; of more, those of the
                                 // classes most similar to the updated one, and others evenly spaced
  std::size_t changed = 0;       // of those checked, examples whose prediction differs
  std::size_t right_before = 0;
  std::size_t right_after = 0;
  std::size_t examples_given = 0;
  std::size_t examples_learnt = 0;          // of these, those that were learnt: as many as a model keeps per class
  std::size_t examples_learnt_correct = 0;  // of those learnt, predicted correctly afterwards
  std::vector<ClassChange> classes;         // those with a changed prediction, the largest loss first
  std::string most_alike;                   // the class whose mean is nearest to that of the updated class
  double alike_cosine = 0.0;                // between the two centred means
  double seconds = 0.0;
};

struct ModelUpdate {
  Model model;
  UpdateReport report;
};

// Each keeps the model's transform, radius, temperature and rejection rule, trains for a few steps, recomputes the
// ensemble heads, and counts itself in the training record as `update_...`. They throw Error{kInput} for a model that
// lacks what an update needs (its training examples; the trained head of a model with ensemble heads) and for rows of
// another dimension or of zeros.

// Adds a new class. Throws Error{kInput} if the model has it already, or without examples.
ModelUpdate add_class(Model model, NewExamples rows, const std::string& name, const UpdateOptions& options = {});

// Adds examples to an existing class. Throws Error{kInput} if the model does not have it, or without examples.
ModelUpdate add_examples(Model model, NewExamples rows, const std::string& name, const UpdateOptions& options = {});

// Removes classes without training. A model without training examples only loses the rows of its head. Throws
// Error{kInput} if a name is not a class, is given twice, or if fewer than two classes would be left.
ModelUpdate remove_classes(Model model, std::span<const std::string> names, const UpdateOptions& options = {});

}  // namespace annulus
