// An audit as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "annulus/eval/audit/audit.h"

namespace annulus {

// A short summary for people.
std::string audit_text(const AuditReport& report);
// The summary as JSON; see docs/reference/file-formats.md.
nlohmann::ordered_json audit_json(const AuditReport& report);
// One JSON object per line and finding.
std::string audit_json_lines(const AuditReport& report);

}  // namespace annulus
