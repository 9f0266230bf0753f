// Splits on disk, so that others can train on the same examples: split files (JSON) and plain lists of rows.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "annulus/task/feature_set.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

// {"format": "annulus-splits/1", "train_rows", "test_rows", "splits": [{"shots", "seed", "support": [...], "query":
// [...]}]}; row numbers count from 0. Training and test examples may be of the same set.
void write_splits(const std::filesystem::path& path, const FeatureSet& train, const FeatureSet& test,
                  std::span<const Split> splits);

// Throws Error{kFormat} for a file that is not a split file, and Error{kInput} for rows that the sets do not have, that
// occur twice or both in support and query of one set, and for a class without support examples.
std::vector<Split> read_splits(const std::filesystem::path& path, const FeatureSet& train, const FeatureSet& test);

// A list of training examples, such as the 1 % lists of ImageNet: a line names a row by its path, by a suffix of it
// (its file name, for example), or by its number; empty lines and lines that start with # are ignored. Classes may have
// different numbers of examples, at least one each. The query is that of draw_split: the rows with is_train 0 or,
// without is_train, all that are not on the list; with another set for testing, all of it.
Split read_row_list(const std::filesystem::path& path, const FeatureSet& train, const FeatureSet& test);

}  // namespace annulus
