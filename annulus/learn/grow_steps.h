// What growing a model is made of; grow.h and follow_rows.h put these together. Included by their sources only.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "annulus/learn/grow.h"
#include "annulus/learn/recipe.h"
#include "annulus/learn/virtual_examples.h"

namespace annulus {

// Entries of the training record.
inline constexpr const char* kClassesAdded = "grown_classes_added";
inline constexpr const char* kClassesRemoved = "grown_classes_removed";
inline constexpr const char* kRowsAdded = "grown_rows_added";      // to classes that were there
inline constexpr const char* kRowsRemoved = "grown_rows_removed";  // from classes that stay
void count_change(Model& model, const char* key, std::size_t more);

// Throws Error{kInput} for a model that lacks what growing takes, and for rows that do not fit it or are none.
void check_growable(const Model& model, const Recipe& recipe, ConstMatrixView<float> rows);

// The trained head: what grows.
Head<float>& growing_head(Model& model);

// The model's support rows, conditioned and of length 1.
Matrix<float> conditioned_rows(const Model& model, int threads);

// The model's support rows as its head was trained on such; the second takes them conditioned.
TrainingRows<float> training_rows(const Model& model, NoiseShape shape, int threads);
TrainingRows<float> training_rows(const Model& model, Matrix<float> conditioned, NoiseShape shape);

// Appends the class after those of the head; `means` and `ridge` have a row for each of them and for it.
void append_class(Head<float>& head, const Matrix<float>& means, const Matrix<float>& ridge);

// The rows of a head that are kept, in their order.
void keep_classes(Head<float>& head, std::span<const std::size_t> kept);

// A few steps of the training that made the model, at a small learning rate: over all rows, or a sample of very many,
// and for all classes, which have to make room for the changed ones. In a model of more than the most work, where few
// rows are of the changed classes, over these and a sample of the others, and for the changed classes alone.
void warm_train(Model& model, const TrainingRows<float>& rows, const std::vector<bool>& changed, const Recipe& recipe,
                const GrowOptions& options);

// Makes the head anew of the trained one and its companions, if it has any; `ridge` is one of them.
void add_companions(Model& model, const TrainingRows<float>& rows, const Matrix<float>& ridge, const Recipe& recipe,
                    const GrowOptions& options);

}  // namespace annulus
