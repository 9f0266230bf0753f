// Results documents as one self-contained HTML page.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "annulus/report/documents/results_document.h"

namespace annulus {

struct HtmlReportOptions {
  // A thumbnail of the image at a path of `documents[document]` as a data: URI; nothing where it cannot be read.
  // Without this function the page shows no images.
  std::function<std::optional<std::string>(std::size_t document, const std::string& path)> thumbnail{};
};

// The page: a summary in words, then every section for which the documents have values. Light and dark, for screens
// from 320 pixels on and for print. Texts of documents are escaped; nothing in them is ever run or loaded.
std::string html_report(std::span<const ResultsDocument> documents, const HtmlReportOptions& options = {});

}  // namespace annulus
