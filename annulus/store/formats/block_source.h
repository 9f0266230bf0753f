// Array data passed to a writer in blocks, so that a large set is never in memory twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "annulus/task/feature_set.h"

namespace annulus {

enum class FeatureType : std::uint8_t { kFloat32, kFloat16 };

// Fills `block` with the bytes of block number `index` and returns true, or returns false after the last block.
using BlockSource = std::function<bool(std::size_t index, std::vector<std::byte>& block)>;

// The features of `set`, which must outlive the source, row by row. In float16, a value that is too large and a row
// that would become all zeros throw Error{kInput}: neither could be read back.
BlockSource feature_blocks(const FeatureSet& set, FeatureType type);
// Strings as NumPy's fixed-width UTF-32, `width` characters each; they must be valid UTF-8 and outlive the source.
BlockSource text_blocks(std::span<const std::string> strings, std::size_t width);
// One block.
BlockSource single_block(std::vector<std::byte> bytes);

template <class T>
BlockSource single_block(std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return single_block(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

// Calls use(block) for every block.
void for_each_block(const BlockSource& source, const std::function<void(std::span<const std::byte>)>& use);

// Characters (code points) of the longest string, at least 1.
std::size_t text_width(std::span<const std::string> strings);

}  // namespace annulus
