// Reads a recipe back from the training record of a model.
#pragma once

#include <map>
#include <string>

#include "annulus/learn/recipe.h"

namespace annulus {

// The recipe whose describe() is `record`, as far as the record says: what is absent is as in the recipe it names, or
// in "ibm2" when it names none. Companions are those of the record, or none. Throws Error{kInput} for a number that no
// recipe has.
Recipe recipe_of_record(const std::map<std::string, std::string>& record);

}  // namespace annulus
