// The photos with features at one moment: what a model is trained from and what an analysis looks at.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "annulus/learn/model/fit_model.h"

namespace annulus::studio {

// Key of TrainingSnapshot::content in the provenance of a model.
inline constexpr const char* kContentKey = "project_content";

struct TrainingSnapshot {
  std::string content;                    // UsablePhotos::content of the moment
  std::set<std::string> project_classes;  // every class of the project, also those without a usable photo
  std::vector<std::string> photos;        // id of each example
  TrainingData data;  // paths are relative to the project's folder; classes without examples are left out
};

}  // namespace annulus::studio
