// Makes every file of a score in memory, then writes them.
#include "annulus/pipeline/score_files.h"

#include <array>
#include <string>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/pipeline/page_pictures.h"
#include "annulus/report/html/score_page.h"
#include "annulus/report/tables/score_tables.h"
#include "annulus/store/files/atomic_file.h"

namespace annulus {
namespace {

constexpr const char* kPage = "report.html";
constexpr const char* kPredictions = "predictions.csv";
constexpr const char* kConfusion = "confusion.csv";
constexpr const char* kClasses = "classes.csv";

}  // namespace

void check_score_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::path existing = std::filesystem::absolute(folder, ignored);
  if (existing.filename().empty()) existing = existing.parent_path();
  const bool exists = std::filesystem::exists(existing, ignored);
  // What is missing will be made in the nearest folder that exists.
  while (!std::filesystem::exists(existing, ignored) && existing.has_relative_path()) existing = existing.parent_path();
  if (!std::filesystem::is_directory(existing, ignored)) {
    fail(ErrorKind::kIo, "{}: expected a folder to write the report to, found that {} is none", folder.string(),
         existing.string());
  }
  if (!exists) {
    check_writable(existing / kPage);
    return;
  }
  for (const char* name : {kPage, kPredictions, kConfusion, kClasses}) check_writable(existing / name);
}

std::filesystem::path write_score(const ScoreReport& scored, const std::filesystem::path& folder, bool pictures,
                                  const ProgressCallback& progress) {
  ScorePageOptions options;
  if (pictures) options.thumbnail = page_pictures(progress);
  const std::array files{std::pair{kPredictions, predictions_csv(scored)}, std::pair{kConfusion, confusion_csv(scored)},
                         std::pair{kClasses, classes_csv(scored)}, std::pair{kPage, score_page(scored, options)}};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::kIo, "{}: the folder cannot be made: {}", folder.string(), error.message());
  for (const auto& [name, content] : files) write_file(folder / name, content);
  return folder / kPage;
}

}  // namespace annulus
