// The emoji problem with its features: what demo and reproduce learn from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "annulus/task/feature_set.h"
#include "cli/command.h"
#include "cli/encoder.h"

namespace annulus::cli {

struct EmojiData {
  FeatureSet set;                    // of the emoji that every vendor has drawn
  std::vector<std::string> vendors;  // by group number
  std::vector<std::int32_t> groups;  // vendor of each row
};

// Draws the pictures into `folder` and encodes them, as far as that has not been done; the sets and the backbone are
// downloaded on first use. `most_classes` 0: all.
EmojiData load_emoji(const std::filesystem::path& folder, std::size_t most_classes, EncoderOptions encoder,
                     const RunOptions& run);

// The rows of the first `classes` emoji.
EmojiData first_classes(const EmojiData& emoji, std::size_t classes);

}  // namespace annulus::cli
