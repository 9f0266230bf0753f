// Writes the page of an audit.
#pragma once

#include <filesystem>

#include "annulus/eval/audit.h"

namespace annulus {

// Pictures are read from the paths in the report, for image data only; one that cannot be read is left out. The file
// appears whole or not at all. Throws Error{kIo} when it cannot be written and Error{kCancelled} when told to stop.
void write_audit_page(const AuditReport& report, const std::filesystem::path& file,
                      const ProgressCallback& progress = {});

}  // namespace annulus
