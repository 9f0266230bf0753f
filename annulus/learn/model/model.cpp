// What a model can do without.
#include "annulus/learn/model/model.h"

#include "annulus/learn/openset/open_set_scores.h"

namespace annulus {

ClassTree tree_of(const Model& model) {
  if (model.parents.empty()) return {};
  return ClassTree(model.class_names, model.parents).with_sharpness(model.group_sharpness);
}

void strip(Model& model) {
  model.support = {};
  model.trained.reset();
  if (needs_support(model.unknown)) model.unknown = {};
}

}  // namespace annulus
