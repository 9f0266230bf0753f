// Model cards: what a reader must know about a model before using it, as Markdown with YAML in front.
#pragma once

#include <string>

#include "annulus/learn/model.h"

namespace annulus {

// Everything comes from the model's own record and from what is known of named backbones; what neither knows is said to
// be unknown. `title` names the model, e.g. its file without folder. The same model gives the same text.
std::string model_card(const Model& model, const std::string& title);

}  // namespace annulus
