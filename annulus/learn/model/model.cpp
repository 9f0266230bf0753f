// What a model can do without.
#include "annulus/learn/model/model.h"

#include "annulus/learn/openset/open_set_scores.h"

namespace annulus {

void strip(Model& model) {
  model.support = {};
  model.trained.reset();
  if (needs_support(model.unknown)) model.unknown = {};
}

}  // namespace annulus
