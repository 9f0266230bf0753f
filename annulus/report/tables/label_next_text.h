// What to label next, as text, JSON lines, CSV and JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "annulus/eval/pool/label_next.h"

namespace annulus {

// The choice with what names its rows.
struct LabelSheet {
  std::string source;                    // of the pool
  std::size_t examples = 0;              // of the pool
  std::size_t labelled = 0;              // examples that had a label already
  std::vector<LabelChoice> choices;      // the most useful first
  std::vector<std::string> paths;        // of the pool's rows; may be empty
  std::vector<std::string> class_names;  // that guesses count
  bool images = false;                   // paths are those of images

  // The path of a choice, or "row 17".
  std::string name_of(const LabelChoice& choice) const;
  // The guessed class, or nothing.
  std::string guess_of(const LabelChoice& choice) const;
};

// A table for people.
std::string label_next_text(const LabelSheet& sheet);
// One object per line and choice: {"rank", "path" or "row", "reason", "guess", "uncertainty", "stands_for"}.
std::string label_next_json_lines(const LabelSheet& sheet);
// rank,path (or row),reason,guess,uncertainty,stands_for
std::string label_next_csv(const LabelSheet& sheet);
// {"version", "source", "examples", "labelled", "reasons": {...}, "choices": [...]}.
nlohmann::ordered_json label_next_json(const LabelSheet& sheet);

}  // namespace annulus
