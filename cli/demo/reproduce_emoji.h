// reproduce emoji: every protocol on data that anyone can fetch.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "annulus/learn/method/recipe.h"
#include "cli/command.h"
#include "cli/encoder.h"

namespace annulus::cli {

struct EmojiProtocols {
  std::string folder = "emoji-results";
  std::size_t classes = 0;             // first emoji by name; 0: all
  std::size_t ablation_classes = 200;  // of the ablations, which have many more trainings
  std::size_t split_count = 2;         // splits of vendors; the ablations take one more
  std::vector<std::size_t> shots{1, 2, 3, 5};
  std::size_t ablation_shots = 3;
  std::size_t episodes = 500;
  std::size_t seeds = 2;
  EncoderOptions encoder;
  RunOptions run;
  Recipe recipe;           // of the many-way protocol and the ablations
  Recipe episodes_recipe;  // of the episodes
};

// Writes many-way.json, episodes.json, ablation-*.json, results.md and a report into the folder, and prints the tables
// as they come.
void reproduce_emoji(const EmojiProtocols& options);

}  // namespace annulus::cli
