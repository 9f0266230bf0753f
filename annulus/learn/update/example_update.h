// Incremental update to a changed training set: examples were added, removed or relabelled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "annulus/learn/model/fit_model.h"

namespace annulus {

struct ExampleUpdateOptions {
  std::size_t most = SIZE_MAX;                 // examples that may have been added or removed
  std::map<std::string, std::string> renamed;  // classes of the model that have another name now
  int threads = 0;                             // 0: all processors; the result does not depend on it
};

// Updates `model` to the examples in `data`, which are the whole current training set, each with its path. Returns
// nothing if more than `most` were added or removed. Classes are matched by name, examples by class and file name. All
// changes are learnt at once: new classes start as in add_class (class_update.h), the changed classes and those near
// them are trained for a few steps, and the ensemble heads are recomputed. Transform, radius, temperature and rejection
// rule stay as fitted. Classes keep their order, new ones come last. Throws Error{kInput} for a model that cannot be
// updated, for rows that do not fit it, and if fewer than two classes are left.
std::optional<Model> update_examples(const Model& model, TrainingData data, const ExampleUpdateOptions& options = {});

}  // namespace annulus
