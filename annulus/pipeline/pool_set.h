// From a path to a pool: examples whose labels, if they have any, are not looked at.
#pragma once

#include <filesystem>
#include <string>

#include "annulus/pipeline/load.h"
#include "annulus/task/feature_set.h"

namespace annulus {

// A feature file, or a folder of images in any layout (or one image), encoded as `options` say. Throws as load_set.
FeatureSet load_pool(const std::filesystem::path& path, const LoadOptions& options);

// Throws Error{kInput} when the two sets have another dimension, or come from another backbone or preprocessing as far
// as both records say.
void check_same_features(const FeatureSet& set, const FeatureSet& reference);

}  // namespace annulus
