// What a model can do without.
#include "annulus/learn/model.h"

#include "annulus/learn/unknown.h"

namespace annulus {

void strip(Model& model) {
  model.support = {};
  model.trained.reset();
  if (needs_support(model.unknown)) model.unknown = {};
}

}  // namespace annulus
