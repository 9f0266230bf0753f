// Tables of results, and tables as Markdown, LaTeX and CSV.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/report/documents/results_document.h"

namespace annulus {

enum class ColumnKind {
  kNumber,  // aligned to the right
  kName,    // a word or two
  kProse,   // may be a sentence
};

struct TableColumn {
  std::string heading;
  ColumnKind kind = ColumnKind::kNumber;
};

struct TableCell {
  std::string text;   // plain, UTF-8; empty: no value
  bool best = false;  // the best of its kind
};

struct ResultsTable {
  std::string caption;
  std::vector<TableColumn> columns;
  std::vector<std::vector<TableCell>> rows;  // a cell for each column
};

// Methods by shots: "71.30 ± 0.42".
ResultsTable accuracy_table(const ResultsDocument& document);
// All values of each method at each number of shots; empty columns are left out.
ResultsTable measures_table(const ResultsDocument& document);
// The paired comparisons; without rows where there are none.
ResultsTable comparisons_table(const ResultsDocument& document);

// What the value after ± is.
std::string spread_words(const ResultsDocument& document);
// That value; absent where the document has none or it has no meaning (a single split).
std::optional<double> spread_of(const ResultsDocument& document, const MethodResult& result);

std::string escape_markdown(std::string_view text);
std::string escape_latex(std::string_view text);
std::string escape_csv(std::string_view text);

// All tables of all documents, each with a heading.
std::string markdown_tables(std::span<const ResultsDocument> documents);
// The same as LaTeX table environments, for a document that loads booktabs.
std::string latex_tables(std::span<const ResultsDocument> documents);
// One line per document, method and number of shots, all values unrounded, empty where absent; shots 0 means all.
std::string csv_table(std::span<const ResultsDocument> documents);

}  // namespace annulus
