// The page of an audit, with pictures.
#pragma once

#include <filesystem>
#include <string>

#include "annulus/eval/audit/audit.h"

namespace annulus {

// The page with its pictures, which are read from the paths in the report, for image data only; one that cannot be read
// is left out. Throws Error{kCancelled} when told to stop.
std::string illustrated_audit_page(const AuditReport& report, const ProgressCallback& progress = {});

// Writes that page. The file appears whole or not at all. Throws Error{kIo} when it cannot be written.
void write_audit_page(const AuditReport& report, const std::filesystem::path& file,
                      const ProgressCallback& progress = {});

}  // namespace annulus
