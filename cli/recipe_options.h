// The options of the method on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include "annulus/learn/method/recipe_options.h"

namespace annulus::cli {

void add_recipe_options(CLI::App& command, RecipeOptions& options);

}  // namespace annulus::cli
