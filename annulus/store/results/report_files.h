// Reads results documents and writes the folder of a report.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace annulus {

struct ReportFilesOptions {
  bool pictures = true;  // the page shows the misclassified images that documents name and that can be read
};

// From the results documents in `sources` writes into `folder` (created if missing): report.html, tables.md,
// tables.tex, tables.csv, results.json, and plots/ with an SVG and a PNG file of every plot. Everything is made before
// the first file is written, and each file appears whole or not at all; report.html is the last. Relative paths of
// images are also searched beside the document. Throws Error{kIo} for files that cannot be read or written and
// Error{kFormat} for one that is not a results document. Returns the path of the page.
std::filesystem::path write_report(std::span<const std::string> sources, const std::filesystem::path& folder,
                                   const ReportFilesOptions& options = {});

}  // namespace annulus
