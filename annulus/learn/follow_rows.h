// Following: a model takes in that rows came, went or changed their class, without being trained anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "annulus/learn/fit_model.h"

namespace annulus {

struct FollowOptions {
  std::size_t most = SIZE_MAX;                 // rows that may have come or gone
  std::map<std::string, std::string> renamed;  // classes of the model that have another name now
  int threads = 0;                             // 0: all processors; the result does not depend on it
};

// A model like `model` of the rows in `data`, which are all there are now, with the path of each; nothing when more of
// them came or went than `most`. Classes are known by name, rows by class and file name. Everything is taken in at
// once: new classes start as add_class (grow.h) starts them, the changed classes and those beside them learn in a few
// steps, and the companions are made anew. Conditioning, radius, temperature and the rule about strangers stay as the
// fit found them. Classes keep their order, new ones come last. Throws Error{kInput} for a model that cannot grow, for
// rows that do not fit it, and where fewer than two classes are left.
std::optional<Model> follow_rows(const Model& model, TrainingData data, const FollowOptions& options = {});

}  // namespace annulus
