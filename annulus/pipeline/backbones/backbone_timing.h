// How long a network takes for an image on this machine.
#pragma once

#include <cstddef>

#include "annulus/base/progress.h"
#include "annulus/pipeline/backbones/backbone_store.h"

namespace annulus {

struct TimingOptions {
  std::size_t least_runs = 5;
  std::size_t most_runs = 50;
  double seconds = 5.0;  // no further run is begun after this time, once there were least_runs
};

// Median milliseconds of one image through the network on one thread, without reading and preparing the image; written
// into the record of its name when the network is one of the catalogue.
double measure_backbone(const ResolvedBackbone& network, const TimingOptions& options = {},
                        const ProgressCallback& progress = {});

}  // namespace annulus
