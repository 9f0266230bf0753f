// metadata.csv and metadata.jsonl as records of text.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "annulus/base/media_fragment.h"

namespace annulus {

using MetadataRecord = std::map<std::string, std::string, std::less<>>;  // column or key: value

// Calls `use` with every record of the file and with its place, "FILE: line N". Of a JSON object strings, whole
// numbers and booleans are values, and any number of a box; four numbers called bbox are x, y, width and height. Throws
// Error{kFormat} with the line, and Error{kIo}.
void read_metadata_records(const std::filesystem::path& metadata,
                           const std::function<void(const MetadataRecord& record, const std::string& where)>& use);

// The box of a record: x, y, width and height, of pixels; none where a record lacks one of the four or all are empty.
// Throws Error{kFormat} with `where`.
std::optional<MediaBox> box_of_record(const MetadataRecord& record, const std::string& where);

// Whether the numbers can be fractions of the sides of a picture: a file in which all boxes can be has relative boxes.
bool may_be_relative(const MediaBox& box);

// A box in fractions of the sides of the picture as a box in percent.
MediaBox percent_box(const MediaBox& relative);

}  // namespace annulus
