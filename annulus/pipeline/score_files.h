// The folder of a score: a page and tables.
#pragma once

#include <filesystem>

#include "annulus/base/progress.h"
#include "annulus/eval/score/score_report.h"

namespace annulus {

// Throws the Error{kIo} that write_score would, where that can be known now: a file of that name, no permission.
void check_score_folder(const std::filesystem::path& folder);

// Writes report.html, predictions.csv, confusion.csv and classes.csv into `folder` (created if missing). With
// `pictures`, paths of examples are images, and the page shows the worst of them. Everything is made before the first
// file is written, and each file appears whole or not at all; report.html is the last. Throws Error{kIo} for a file
// that cannot be written, and Error{kCancelled}. Returns the path of the page.
std::filesystem::path write_score(const ScoreReport& report, const std::filesystem::path& folder, bool pictures,
                                  const ProgressCallback& progress = {});

}  // namespace annulus
