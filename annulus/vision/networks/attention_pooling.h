// Pooling of tokens by attention from one learnt query, as SigLIP's image tower ends.
#pragma once

#include <cstdint>
#include <string>

#include "annulus/vision/networks/transformer_layers.h"
#include "annulus/vision/networks/vit_layout.h"

namespace annulus {

// rows: batch * tokens x width; the result is batch x width. The query is the same for every image, so keys are never
// computed: a head's scores are products of the tokens with one vector, and values are made from pooled tokens.
std::string pool_by_attention(TransformerLayers& layers, const VitLayout& layout, const Architecture& architecture,
                              const std::string& rows, std::int64_t tokens);

}  // namespace annulus
