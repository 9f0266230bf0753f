// The emoji image folder: a few-shot problem of almost 900 ways whose examples are the drawings of eight vendors.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "annulus/base/progress.h"

namespace annulus {

struct EmojiOptions {
  std::size_t side = 224;            // pixels
  int threads = 0;                   // 0: all processors
  std::size_t most_classes = 0;      // stop after that many classes, in the order of their names; 0: all
  std::vector<std::string> vendors;  // names as in emoji_vendors(); empty: all
  std::vector<std::string> names;    // of the emoji to draw, where all vendors have them; empty: all
};

struct EmojiReport {
  std::size_t classes = 0;           // emoji that every vendor has drawn
  std::size_t drawn = 0;             // pictures drawn by this call
  std::size_t found = 0;             // pictures that were there already
  std::vector<std::string> skipped;  // "NAME by VENDOR: why", for drawings that librsvg rejects
};

// "noto", "noto-v1", "twemoji", ...: each is the item "emoji-VENDOR" of scripts/tarballs.txt.
const std::vector<std::string>& emoji_vendors();

// Downloads the sets when they are not in the cache and draws every emoji that all vendors have as
// folder/NAME/VENDOR.png, an ordinary image folder. Pictures that are there are kept, so a stopped call goes on.
// folder/LICENSES.md names each set's licence.
EmojiReport make_emoji(const std::filesystem::path& folder, const EmojiOptions& options = {},
                       const ProgressCallback& progress = {});

}  // namespace annulus
