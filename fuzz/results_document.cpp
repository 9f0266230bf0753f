// Fuzzes the reader of results documents and everything that is written from what it accepts.
#include "annulus/report/documents/results_document.h"

#include "annulus/report/html/html_report.h"
#include "annulus/report/tables/table_formats.h"
#include "fuzz/fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return annulus::fuzz_reader(data, size, [](const annulus::FileBytes& file) {
    const std::string text(annulus::as_text(file.bytes));
    const auto documents = annulus::parse_results(text, file.source);
    annulus::html_report(documents);
    annulus::markdown_tables(documents);
    annulus::latex_tables(documents);
    annulus::csv_table(documents);
    annulus::merge_results(std::vector{text});
  });
}
