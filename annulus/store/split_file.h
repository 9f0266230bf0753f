// Draws on disk, so that somebody else can learn from the same rows: split files (JSON) and plain lists of rows.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "annulus/task/feature_set.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

// {"format": "annulus-splits/1", "train_rows", "test_rows", "splits": [{"shots", "seed", "support": [...], "query":
// [...]}]}; row numbers count from 0. Training and test rows may be of the same set.
void write_splits(const std::filesystem::path& path, const FeatureSet& train, const FeatureSet& test,
                  std::span<const Split> splits);

// Throws Error{kFormat} for a file that is not one, and Error{kInput} for rows that the sets do not have, that occur
// twice or both in support and query of one set, and for a class without support.
std::vector<Split> read_splits(const std::filesystem::path& path, const FeatureSet& train, const FeatureSet& test);

// A list of the rows to learn from, as the 1 % lists of ImageNet are: a line names a row by its path, by the end of it
// (its file name, say), or by its number; empty lines and those that start with # do not count. Classes may have
// different numbers of rows, at least one each. The query is what draw_split would ask about: the rows with is_train 0,
// without that array all that are not on the list; with another set to test on, all of it.
Split read_row_list(const std::filesystem::path& path, const FeatureSet& train, const FeatureSet& test);

}  // namespace annulus
