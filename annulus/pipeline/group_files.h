// Files about the groups of a pool: names that somebody gave them, folders of links, features with groups as labels,
// and pages with pictures.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "annulus/base/progress.h"
#include "annulus/report/tables/discover_text.h"
#include "annulus/report/tables/label_next_text.h"
#include "annulus/task/feature_set.h"

namespace annulus {

using GroupNames = std::map<std::string, std::string>;

// Names of groups from CSV: a line is a group and its name, as in "group-001,daisy". Several groups may have one name.
// Throws Error{kFormat} for another number of fields, and for names that cannot be names of folders.
GroupNames read_group_names(const std::filesystem::path& file);

// Names the groups; those without a name keep their number. Throws Error{kInput} for a group that there is not.
void name_groups(const GroupNames& names, GroupSheet& sheet);

// The rows of named groups, or of all if none is named, with the names as labels. `set` is the pool.
FeatureSet labelled_by_groups(const FeatureSet& set, const GroupSheet& sheet);

// Makes folder/<name>/<file> a link to each image of the named groups, or of all if none is named; of several files of
// one name, the later ones get a number. Throws Error{kIo} where `folder` is there and not empty, or no link can be
// made.
void write_group_links(const GroupSheet& sheet, const std::filesystem::path& folder);

// discover_csv, with paths as they are seen from the folder of `file`; named groups only, if any is named.
void write_group_csv(const GroupSheet& sheet, const std::filesystem::path& file);

// The pages with their pictures; the files appear whole or not at all.
void write_label_next_page(const LabelSheet& sheet, const std::filesystem::path& file,
                           const ProgressCallback& progress = {});
void write_discover_page(const GroupSheet& sheet, const std::filesystem::path& file,
                         const ProgressCallback& progress = {});

}  // namespace annulus
