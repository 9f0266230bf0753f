// Writes exports through the library's own writers.
#include "studio_engine/exports.h"

#include <mutex>
#include <optional>
#include <system_error>

#include "annulus/base/error.h"
#include "annulus/pipeline/export/export_onnx.h"
#include "annulus/report/html/audit_page.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/formats/zip_folder.h"
#include "annulus/vision/image/thumbnail.h"

namespace annulus::studio {
namespace {

constexpr std::size_t kReportPictureSide = 96;  // pixels

void make_folder(const std::filesystem::path& folder) {
  std::error_code ignored;  // writing a file into it says what is wrong
  std::filesystem::create_directories(folder, ignored);
}

std::string bytes_of(const std::filesystem::path& file) {
  const MappedFile mapped(file);
  return std::string(as_text(mapped.bytes()));
}

}  // namespace

std::string onnx_export(const Model& model, const Encoder& encoder, const std::filesystem::path& folder) {
  make_folder(folder);
  const auto file = folder / "model.onnx";
  export_onnx(model, encoder, file);
  return bytes_of(file);
}

std::string web_export(const WebPage& page, const std::string& name, const std::filesystem::path& folder) {
  static std::mutex mutex;  // two tabs may ask for the same page
  const std::lock_guard lock(mutex);
  make_folder(folder);
  const auto archive = folder / "page.zip";
  page.write(folder / "page");
  zip_folder(folder / "page", name + "/", archive);
  return bytes_of(archive);
}

std::string report_export(const Findings& findings, Thumbnails& thumbnails) {
  AuditPageOptions options;
  options.thumbnail = [&](const std::string& path) -> std::optional<std::string> {
    try {
      return webp_uri(*thumbnails.picture(std::filesystem::path(path).stem().string(), kReportPictureSide));
    } catch (const Error&) {
      return std::nullopt;
    }
  };
  AuditReport report = findings.audit;
  report.images = true;  // the audit was of features, but every row is a photo
  return audit_page(report, options);
}

}  // namespace annulus::studio
