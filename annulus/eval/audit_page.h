// An audit as a page to read.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "annulus/eval/audit.h"

namespace annulus {

struct AuditPageOptions {
  // A small picture of the image at a path as a data: URI, or nothing; called a few hundred times at most.
  std::function<std::optional<std::string>(const std::string& path)> thumbnail{};
};

// A self-contained HTML document: what was found, the worst first, with pictures where there are any. Its size does not
// grow with the data: long lists are cut, and the page says so.
std::string audit_page(const AuditReport& report, const AuditPageOptions& options = {});

}  // namespace annulus
