// The weights of a TensorFlow.js model: a manifest in model.json and shards of raw values.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "annulus/vision/import/tensor_file.h"

namespace annulus {

// The whole number in a field; throws Error{kFormat} for anything else, including fractions.
std::int64_t whole_number(const nlohmann::json& value);

// The shard files that weightsManifest lists, in order.
std::vector<std::string> tfjs_shard_names(const nlohmann::json& manifest, const std::string& source);

// Weights by name over the shards' bytes (in the order of tfjs_shard_names), which `owner` keeps alive. A weight may
// cross shards and may be quantised to 8 or 16 bits; it is put together when it is read. Throws Error{kFormat} when the
// manifest and the shards do not fit.
TensorFile tfjs_weights(const nlohmann::json& manifest, std::span<const std::span<const std::byte>> shards,
                        std::shared_ptr<const void> owner, const std::string& source);

}  // namespace annulus
