// Writes exports through the library's own writers.
#include "studio_engine/exports.h"

#include <optional>
#include <system_error>

#include "annulus/base/error.h"
#include "annulus/pipeline/export/export_onnx.h"
#include "annulus/report/html/audit_page.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/vision/image/thumbnail.h"

namespace annulus::studio {
namespace {

constexpr std::size_t kReportPictureSide = 96;  // pixels

}  // namespace

std::string onnx_export(const Model& model, const Encoder& encoder, const std::filesystem::path& folder) {
  std::error_code ignored;  // writing the file says what is wrong
  std::filesystem::create_directories(folder, ignored);
  const auto file = folder / "model.onnx";
  export_onnx(model, encoder, file);
  const MappedFile mapped(file);
  return std::string(as_text(mapped.bytes()));
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
