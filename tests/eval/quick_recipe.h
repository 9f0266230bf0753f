// A default recipe cut short, for tests in which it matters that a head is trained and not how well.
#pragma once

#include "annulus/learn/recipe.h"

namespace annulus {

inline Recipe quick_recipe() {
  Recipe recipe = recipe_named("default");
  set_virtual_count(recipe, 16);
  set_epochs(recipe, 30);
  set_learning_rate(recipe, 0.1);
  recipe.search.pretrain.epochs = 10;
  recipe.search.probe.epochs = 10;
  recipe.search.tolerance = 0.5;
  return recipe;
}

}  // namespace annulus
