// Model cards: what a user should know about a model, as Markdown with YAML front matter.
#pragma once

#include <string>

#include "annulus/learn/model/model.h"

namespace annulus {

// All content comes from the model's own record and the catalogue of backbones; what neither contains is stated as
// unknown. `title` names the model, e.g. its file without folder. The same model gives the same text.
std::string model_card(const Model& model, const std::string& title);

}  // namespace annulus
