// An audit as an HTML page.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "annulus/eval/audit/audit.h"

namespace annulus {

struct AuditPageOptions {
  // A thumbnail of the image at a path as a data: URI, or nothing; called a few hundred times at most.
  std::function<std::optional<std::string>(const std::string& path)> thumbnail{};
};

// A self-contained HTML document of the findings, the worst first, with images where there are any. Its size is
// bounded: long lists are truncated, and the page says so.
std::string audit_page(const AuditReport& report, const AuditPageOptions& options = {});

}  // namespace annulus
