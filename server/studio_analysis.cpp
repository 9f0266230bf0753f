// The map, confused pairs and findings of a project as JSON, and its exports.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/eval/audit_page.h"
#include "annulus/store/export_onnx.h"
#include "annulus/store/mapped_file.h"
#include "annulus/store/model_card.h"
#include "annulus/store/model_file.h"
#include "annulus/vision/thumbnail.h"
#include "server/studio_api.h"

namespace annulus::server {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kMostFindings = 300;

std::string photo_at(const StudioAnalysis& analysis, std::uint32_t row) { return analysis.rows->photos.at(row); }

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

// Coordinates as whole numbers: 20,000 photos are a third of a megabyte.
constexpr double kMapUnits = 10000.0;

Json coordinates(const std::vector<ClassMap::Point>& points) {
  Json x = Json::array();
  Json y = Json::array();
  for (const ClassMap::Point& point : points) {
    x.push_back(std::lround(point.x * kMapUnits));
    y.push_back(std::lround(point.y * kMapUnits));
  }
  return {{"x", std::move(x)}, {"y", std::move(y)}};
}

Json confused_json(const StudioAnalysis& analysis) {
  Json json = Json::array();
  for (const ConfusedClasses& pair : analysis.confused) {
    Json photos = Json::array();
    for (const std::uint32_t row : pair.rows) photos.push_back(photo_at(analysis, row));
    const auto label = static_cast<std::size_t>(pair.label);
    json.push_back({{"name", analysis.rows->class_names[label]},
                    {"taken_for", analysis.rows->class_names[static_cast<std::size_t>(pair.taken_for)]},
                    {"count", pair.count},
                    {"of", analysis.rows->class_rows[label]},
                    {"photos", photos}});
  }
  return json;
}

// Whether all that a finding names is still where it was: what was moved or removed since needs no fix any more.
bool still_true(const AuditFinding& finding, const StudioAnalysis& analysis, const ProjectState& state) {
  for (const auto& row : {finding.row, finding.other_row}) {
    if (!row) continue;
    const auto photo = state.photos().find(analysis.rows->photos.at(*row));
    const auto label = static_cast<std::size_t>(analysis.rows->labels.at(*row));
    if (photo == state.photos().end() || photo->second.class_name != analysis.rows->class_names[label]) return false;
  }
  return true;
}

Json findings_json(const StudioAnalysis& analysis, const ProjectState& state) {
  Json json = Json::array();
  for (const AuditFinding& finding : analysis.audit.findings) {
    // Only those that are sure enough to act on; a single photo of a class is no fault, and confused pairs have a place
    // of their own.
    if (finding.rank > analysis.audit.count(finding.kind) || finding.kind == FindingKind::kSingleRow ||
        finding.kind == FindingKind::kHardClass || finding.kind == FindingKind::kAlikeClasses ||
        json.size() >= kMostFindings || !still_true(finding, analysis, state)) {
      continue;
    }
    Json entry = {{"kind", to_string(finding.kind)}, {"name", finding.class_name}, {"other", finding.other_class}};
    if (finding.row) entry["photo"] = photo_at(analysis, *finding.row);
    if (finding.other_row) entry["other_photo"] = photo_at(analysis, *finding.other_row);
    json.push_back(std::move(entry));
  }
  return json;
}

std::string file_text(const std::filesystem::path& file) {
  const MappedFile mapped(file);
  return std::string(as_text(mapped.bytes()));
}

std::string onnx_bytes(const Studio& studio, const StudioModel& model) {
  const auto encoder = studio.encoder();
  if (!encoder) fail(ErrorKind::kInput, "the backbone is not open yet: try again in a moment");
  const auto folder = studio.read([](const Project& project) { return project.folder() / "exports"; });
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto file = folder / "model.onnx";
  export_onnx(model.model, {encoder->backbone, encoder->recipe, encoder->name}, file);
  return file_text(file);
}

std::string report_page(Studio& studio) {
  const auto analysis = studio.analysis();
  if (!analysis) fail(ErrorKind::kInput, "the findings are not there yet: open them first");
  AuditPageOptions options;
  options.thumbnail = [&](const std::string& path) -> std::optional<std::string> {
    try {
      const auto webp = studio.thumbnail(std::filesystem::path(path).stem().string(), 96);
      return webp_uri(*webp);
    } catch (const Error&) {
      return std::nullopt;
    }
  };
  return audit_page(analysis->audit, options);
}

}  // namespace

Response get_analysis(Studio& studio, const Request&) {
  studio.want_analysis();
  const auto analysis = studio.analysis();
  Json json = {{"current", studio.status().analysis_current}, {"broken", Json::array()}};
  for (const std::string& id : studio.troubled()) {
    json["broken"].push_back({{"photo", id},
                              {"reason", studio.trouble_of(id)},
                              {"name", studio.read([&](const Project& p) { return p.state().photo(id).class_name; })}});
  }
  if (analysis) {
    json["confused"] = confused_json(*analysis);
    json["findings"] = studio.read([&](const Project& p) { return findings_json(*analysis, p.state()); });
    json["recognised"] = rounded(analysis->audit.recognised);
  }
  Response response;
  response.body = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return response;
}

Response get_map(const Studio& studio, const Request&) {
  const auto map = studio.map();
  Response response;
  if (!map) {
    response.body = "{\"classes\":[]}";
    return response;
  }
  Json json = {
      {"units", kMapUnits},        {"shown", rounded(map->map.shown)},      {"classes", map->class_names},
      {"counts", map->class_rows}, {"means", coordinates(map->map.points)}, {"photos", coordinates(map->map.rows)}};
  json["photos"]["class"] = map->labels;
  json["photos"]["id"] = map->photos;
  response.body = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return response;
}

Response get_export(Studio& studio, const Request& request) {
  const std::string& what = request.captures.at("what");
  const auto model = studio.model();
  if (!model) fail(ErrorKind::kInput, "there is no model yet: it takes photos of two classes");
  Response response;
  std::string ending;
  if (what == "model") {
    response.body = model_bytes(model->model);
    response.content_type = "application/octet-stream";
    ending = ".safetensors";
  } else if (what == "onnx") {
    response.body = onnx_bytes(studio, *model);
    response.content_type = "application/octet-stream";
    ending = ".onnx";
  } else if (what == "card") {
    const auto name = studio.read([](const Project& project) { return project.folder().filename().string(); });
    response.body = model_card(model->model, name);
    response.content_type = "text/markdown; charset=utf-8";
    ending = "-card.md";
  } else if (what == "report") {
    response.body = report_page(studio);
    response.content_type = "text/html; charset=utf-8";
    ending = "-report.html";
  } else {
    fail(ErrorKind::kUsage, "expected model, onnx, card or report, found \"{}\"", what);
  }
  response.headers.emplace_back("Content-Disposition", fmt::format("attachment; filename=\"annulus{}\"", ending));
  return response;
}

}  // namespace annulus::server
