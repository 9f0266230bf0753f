// Contact sheets: what to label next, and the groups of a pool, as HTML pages.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "annulus/report/tables/discover_text.h"
#include "annulus/report/tables/label_next_text.h"

namespace annulus {

struct PoolPageOptions {
  // A thumbnail of the image at a path as a data: URI, or nothing; called a few hundred times at most.
  std::function<std::optional<std::string>(const std::string& path)> thumbnail{};
};

// Self-contained HTML documents, with images where there are any. Their size is bounded: long lists are truncated, and
// the page says so.
std::string label_next_page(const LabelSheet& sheet, const PoolPageOptions& options = {});
std::string discover_page(const GroupSheet& sheet, const PoolPageOptions& options = {});

}  // namespace annulus
