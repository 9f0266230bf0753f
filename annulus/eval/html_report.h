// Results documents as one HTML page that needs nothing beside itself.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "annulus/eval/results_document.h"

namespace annulus {

struct HtmlReportOptions {
  // The picture at a path of `documents[document]` as a data: URI, made small; nothing where it cannot be had. Without
  // it the page shows no pictures.
  std::function<std::optional<std::string>(std::size_t document, const std::string& path)> thumbnail{};
};

// The page: the answer in words, then every section for which the documents have numbers. Light and dark, for screens
// from 320 pixels on and for paper. Texts of documents are escaped; nothing in them is ever run or loaded.
std::string html_report(std::span<const ResultsDocument> documents, const HtmlReportOptions& options = {});

}  // namespace annulus
