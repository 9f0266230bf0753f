// Which examples of a feature set an update learns a class from.
#pragma once

#include <string>

#include "annulus/learn/update/class_update.h"
#include "annulus/task/feature_set.h"

namespace annulus {

struct ClassChoice {
  std::string name;        // of the class in the model
  std::string picked{};    // class of the set whose examples are taken; empty: the one of that name, or the only one
  bool whole_set = false;  // every example is of the class, whatever its label says
};

// The examples of the class: all of a set without labels, of a labelled one those of one class, without test examples.
// Throws Error{kInput} when there is no such class or no example, and Error{kUsage} when a class is picked where every
// example is taken.
NewExamples examples_of_class(const FeatureSet& set, const ClassChoice& choice);

}  // namespace annulus
