// Makes every file of a report in memory, then writes them.
#include "annulus/store/results/report_files.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/report/documents/results_document.h"
#include "annulus/report/html/html_report.h"
#include "annulus/report/plot/report_plots.h"
#include "annulus/report/tables/table_formats.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/images/image_file.h"
#include "annulus/vision/image/svg.h"
#include "annulus/vision/image/thumbnail.h"

namespace annulus {
namespace {

constexpr std::size_t kThumbnailSide = 168;  // pixels; shown at half of that on screens of double density
constexpr double kPictureScale = 2.0;        // pixels of a PNG for each unit of its drawing
constexpr std::size_t kMostPlots = 400;

std::string read_document_text(const std::string& source) {
  const FileBytes file = map_file(source);
  if (file.bytes.size() > kLargestResultsText) {
    fail(ErrorKind::kFormat, "{}: expected a results document of at most {} bytes, found {}", source,
         kLargestResultsText, file.bytes.size());
  }
  return std::string(as_text(file.bytes));
}

// Each image is read once, however often it is shown.
class Thumbnails {
 public:
  explicit Thumbnails(std::vector<std::filesystem::path> folders) : folders_(std::move(folders)) {}

  std::optional<std::string> find(std::size_t document, const std::string& path) {
    const auto [entry, is_new] = known_.try_emplace({document, path});
    if (!is_new) return entry->second;
    entry->second = load(path);
    if (!entry->second && std::filesystem::path(path).is_relative()) entry->second = load(folders_[document] / path);
    return entry->second;
  }

 private:
  // An image that cannot be read does not prevent the report.
  static std::optional<std::string> load(const std::filesystem::path& path) {
    try {
      return thumbnail_uri(read_image(path), kThumbnailSide);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  std::vector<std::filesystem::path> folders_;  // of each document
  std::map<std::pair<std::size_t, std::string>, std::optional<std::string>> known_;
};

using ReportFile = std::pair<std::string, std::string>;  // path in the folder, content

void add_plots(const ResultsDocument& document, const std::string& prefix, std::vector<ReportFile>& files) {
  for (const ReportPlot& plot : all_plots(document)) {
    if (files.size() >= 2 * kMostPlots) return;
    const std::string name = "plots/" + prefix + plot.name;
    const PlotStyle style;
    std::string svg = draw_plot(plot, style);
    const auto png = render_svg(svg, static_cast<std::size_t>(kPictureScale * style.width),
                                static_cast<std::size_t>(kPictureScale * style.height), name);
    files.emplace_back(name + ".svg", std::move(svg));
    files.emplace_back(name + ".png", std::string(as_text(png)));
  }
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::kIo, "{}: the folder cannot be made: {}", folder.string(), error.message());
}

}  // namespace

std::filesystem::path write_report(std::span<const std::string> sources, const std::filesystem::path& folder,
                                   const ReportFilesOptions& options) {
  std::vector<std::string> texts;
  std::vector<ResultsDocument> documents;
  std::vector<std::filesystem::path> folders;
  for (const std::string& source : sources) {
    texts.push_back(read_document_text(source));
    for (ResultsDocument& document : parse_results(texts.back(), source)) {
      documents.push_back(std::move(document));
      folders.push_back(std::filesystem::path(source).parent_path());
    }
  }
  if (documents.empty()) fail(ErrorKind::kUsage, "a report needs at least one results document, found none");

  std::vector<ReportFile> files;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    add_plots(documents[i], documents.size() == 1 ? "" : fmt::format("{}-", i + 1), files);
  }
  files.emplace_back("tables.md", markdown_tables(documents));
  files.emplace_back("tables.tex", latex_tables(documents));
  files.emplace_back("tables.csv", csv_table(documents));
  files.emplace_back("results.json", merge_results(texts));
  Thumbnails thumbnails(std::move(folders));
  HtmlReportOptions page;
  if (options.pictures) {
    page.thumbnail = [&](std::size_t document, const std::string& path) { return thumbnails.find(document, path); };
  }
  files.emplace_back("report.html", html_report(documents, page));

  make_folder(folder / "plots");
  for (const auto& [name, content] : files) write_file(folder / name, content);
  return folder / "report.html";
}

}  // namespace annulus
