// A training record as named values: what model files hold, and what model cards and Python show.
#pragma once

#include <map>
#include <string>

#include "annulus/learn/model/training_record.h"
#include "annulus/store/formats/json_text.h"

namespace annulus {

using RecordEntries = std::map<std::string, JsonValue>;

// The fields that are there, and the notes. Names: docs/reference/file-formats.md.
RecordEntries record_entries(const TrainingRecord& record);

// The record of these entries. Text under other names is kept as a note, other values under such names are left out.
// Throws Error{kFormat} naming `where` and the entry for a value of another type than the field has.
TrainingRecord record_of_entries(RecordEntries entries, const std::string& where);

// The same for model files of format version 1, whose values are all text, some of them under other names.
TrainingRecord record_of_text(std::map<std::string, std::string> text, const std::string& where);

}  // namespace annulus
