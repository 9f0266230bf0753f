// What a network of the catalogue costs on this machine, before anybody has run it.
#pragma once

#include <cstddef>

#include "annulus/pipeline/backbones/backbone_catalogue.h"

namespace annulus {

// Billions of multiplications and additions for an image, from the architecture that the entry names ("ViT-S/14",
// "ResNet-50"); 0: not known.
double giga_multiply_adds(const BackboneEntry& entry);

// About the seconds that images take: from the time of an image where it was measured (annulus backbones --measure),
// else from the arithmetic of the network and the speed of a short matrix product on this machine; 0: not known.
// `threads` 0: all processors.
double expected_seconds(const BackboneEntry& entry, std::size_t images, int threads);

}  // namespace annulus
