// The steps of an incremental update; class_update.h and example_update.h put them together. Included by their sources
// only.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "annulus/learn/method/recipe.h"
#include "annulus/learn/method/virtual_examples.h"
#include "annulus/learn/update/class_update.h"

namespace annulus {

// Throws Error{kInput} for a model that lacks what an update needs, and for rows that do not fit it or are none.
void check_updatable(const Model& model, const Recipe& recipe, ConstMatrixView<float> rows);

// The trained head: the one that is updated.
Head<float>& updated_head(Model& model);

// Learns the metric within classes anew from the support examples and maps the trained head into it, if it was trained
// in one. For corrected labels: what set a class apart from examples wrongly labelled as it looked like differences
// within it, which the old metric takes away.
void relearn_metric(Model& model, int threads);

// The model's support examples in the form its head was trained on.
struct UpdateExamples {
  TrainingExamples<float> training;
  double mean_inverse_length = 1.0;  // of the rows before they were scaled to length 1
};
UpdateExamples update_examples_of(const Model& model, NoiseShape shape, int threads);

// Appends a class to the head; `means` and `ridge` have a row for each of its classes and for the new one.
void append_class(Head<float>& head, const Matrix<float>& means, const Matrix<float>& ridge);

// Keeps the given classes of a head, in their order.
void keep_classes(Head<float>& head, std::span<const std::size_t> kept);

// A few steps of the training that made the model, at a small learning rate: on all examples, or a sample of very many,
// and for all classes, which have to make room for the changed ones. If the work exceeds most_work and the changed
// classes have few examples: on these and a sample of the others, and for the changed classes alone.
void warm_train(Model& model, const TrainingExamples<float>& rows, const std::vector<bool>& changed,
                const Recipe& recipe, const UpdateOptions& options);

// Recomputes the head from the trained one and its ensemble heads, if it has any; `ridge` is one of them, empty where
// it has no weight.
void add_ensemble_heads(Model& model, const UpdateExamples& examples, const Matrix<float>& ridge, const Recipe& recipe,
                        const UpdateOptions& options);

}  // namespace annulus
