// The model that a demo saves.
#pragma once

#include <cstdint>
#include <span>

#include "annulus/learn/method/recipe.h"
#include "annulus/learn/model/model.h"
#include "annulus/task/feature_set.h"
#include "cli/command.h"

namespace annulus::cli {

// IbM2 on the support examples, with the recipe's numbers and a seed of its own.
Model fit_demo_model(const FeatureSet& set, std::span<const std::uint32_t> support, std::uint64_t seed, Recipe recipe,
                     const RunOptions& run);

}  // namespace annulus::cli
