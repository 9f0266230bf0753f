// Growing: a model learns a class, or more rows of one, or forgets one, without being trained anew.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/learn/model.h"

namespace annulus {

struct GrowOptions {
  int threads = 0;  // 0: all processors; the result does not depend on it
  // Rows x classes x numbers up to which the old classes make room for what is learnt; beyond, they stay as they are.
  double most_work = 4e9;
};

// What is learnt: raw feature rows of one class.
struct NewRows {
  Matrix<float> features;
  std::vector<std::string> paths;  // of each row; empty: not known
};

// A class that the model had before: how many of its rows it names right, of those asked.
struct ClassChange {
  std::string name;
  std::size_t rows = 0;
  std::size_t right_before = 0;
  std::size_t right_after = 0;
  std::size_t changed = 0;  // rows that are named otherwise than before
};

// What a change did, measured on the training rows that the model keeps.
struct GrowthReport {
  std::size_t old_rows = 0;  // rows kept before, of the classes that stay
  std::size_t asked = 0;     // of these, those that were named before and after: all up to 1024; of more, the rows of
                             // the classes most alike to the one given rows, and others evenly spaced
  std::size_t changed = 0;   // of those asked, named otherwise than before
  std::size_t right_before = 0;
  std::size_t right_after = 0;
  std::size_t given_rows = 0;
  std::size_t new_rows = 0;          // of these, those that were learnt: as many as a model keeps of a class
  std::size_t new_right = 0;         // of those learnt, named right afterwards
  std::vector<ClassChange> classes;  // those with a changed row, the one that loses most first
  std::string most_alike;            // the class whose mean is nearest to that of the class given rows
  double alike_cosine = 0.0;         // of the two means, less the mean of all rows
  double seconds = 0.0;
};

struct Growth {
  Model model;
  GrowthReport report;
};

// Each takes the model's own conditioning, radius, temperature and rule about strangers as they are, learns in a few
// steps, adds the companions anew, and counts itself in the training record as `grown_...`. They throw Error{kInput}
// for a model that lacks what it takes (its training rows; the trained head of one with companions) and for rows of
// another dimension or without length.

// A class that the model has not. Throws Error{kInput} when it has, or when there is no row.
Growth add_class(Model model, NewRows rows, const std::string& name, const GrowOptions& options = {});

// More rows of a class that the model has. Throws Error{kInput} when it has not, or when there is no row.
Growth add_examples(Model model, NewRows rows, const std::string& name, const GrowOptions& options = {});

// Takes classes out; nothing is trained. A model without training rows only loses the rows of its head. Throws
// Error{kInput} when a name is not a class, is given twice, or fewer than two classes would be left.
Growth remove_classes(Model model, std::span<const std::string> names, const GrowOptions& options = {});

}  // namespace annulus
