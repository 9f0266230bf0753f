// Learns the metric of a backbone from labelled photos or features, or from views of photos without labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "annulus/pipeline/load.h"
#include "annulus/store/models/metric_file.h"

namespace annulus {

inline constexpr std::size_t kViewsPerPhoto = 4;

struct LearnMetricOptions {
  bool views = false;      // from views of each photo, whatever its label
  std::uint64_t seed = 0;  // of the views
  LoadOptions load;        // its encoder names the network; no name: features whose network is not at hand
};

// Each input is a set: a folder of photos with one folder per class (with views: of any photos) or a labelled feature
// file. Test examples, where a set marks them, are left out. Throws Error{kInput} for features of another network than
// the one named, or than those before, and what learn_metric_prior and load_set throw; Error{kUsage} for photos without
// a network and for views of features.
BackboneMetric learn_metric(std::span<const std::string> inputs, const LearnMetricOptions& options);

}  // namespace annulus
