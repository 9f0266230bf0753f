// The map, confused classes and findings of a project as JSON, and its exports.
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "annulus/base/error.h"
#include "server/studio/studio_api.h"
#include "server/studio/studio_json.h"

namespace annulus::server {
namespace {

using Json = nlohmann::ordered_json;
using studio::ExportKind;
using studio::Findings;
constexpr std::size_t kMostFindings = 300;
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

Json confused_json(const Findings& findings) {
  const auto& names = findings.photos->class_names;
  Json json = Json::array();
  for (const ConfusedClasses& pair : findings.confused) {
    Json photos = Json::array();
    for (const std::uint32_t row : pair.rows) photos.push_back(findings.photos->photos.at(row));
    const auto label = static_cast<std::size_t>(pair.label);
    json.push_back({{"name", names[label]},
                    {"taken_for", names[static_cast<std::size_t>(pair.taken_for)]},
                    {"count", pair.count},
                    {"of", findings.photos->class_photos[label]},
                    {"photos", photos}});
  }
  return json;
}

Json findings_json(const Findings& findings, const Project& project) {
  Json json = Json::array();
  for (const AuditFinding& finding :
       actionable_findings(findings, project.state(), project.confirmed(), kMostFindings)) {
    Json entry = {{"kind", to_string(finding.kind)}, {"name", finding.class_name}, {"other", finding.other_class}};
    if (finding.row) entry["photo"] = findings.photos->photos.at(*finding.row);
    if (finding.other_row) entry["other_photo"] = findings.photos->photos.at(*finding.other_row);
    if (finding.kind == FindingKind::kMislabelled) entry["sure"] = rounded(finding.score);
    const auto beside = finding.row ? findings.comparisons.find(*finding.row) : findings.comparisons.end();
    if (beside != findings.comparisons.end()) {
      if (beside->second.own) entry["own_photo"] = findings.photos->photos.at(*beside->second.own);
      if (beside->second.other) entry["other_photo"] = findings.photos->photos.at(*beside->second.other);
    }
    json.push_back(std::move(entry));
  }
  return json;
}

// The name as it is, and one of letters that every browser takes (RFC 6266).
std::string attachment_named(const std::string& name) {
  std::string plain;
  std::string encoded;
  for (const char byte : name) {
    const auto code = static_cast<unsigned char>(byte);
    const bool letter = (code < 0x80 && std::isalnum(code) != 0) || code == '.' || code == '-' || code == '_';
    plain += letter || code == ' ' ? byte : '_';
    encoded += letter ? std::string(1, byte) : fmt::format("%{:02X}", code);
  }
  return fmt::format("attachment; filename=\"{}\"; filename*=UTF-8''{}", plain, encoded);
}

struct ExportFormat {
  const char* name;  // in the address
  ExportKind kind;
  const char* content_type;
  const char* ending;  // of the file's name
};
constexpr std::array<ExportFormat, 5> kExports = {{
    {"model", ExportKind::kModel, "application/octet-stream", ".safetensors"},
    {"onnx", ExportKind::kOnnx, "application/octet-stream", ".onnx"},
    {"card", ExportKind::kCard, "text/markdown; charset=utf-8", "-card.md"},
    {"report", ExportKind::kReport, "text/html; charset=utf-8", "-report.html"},
    {"web", ExportKind::kWeb, "application/zip", "-page.zip"},
}};

}  // namespace

Response get_analysis(Studio& studio, const Request&) {
  studio.request_analysis();
  const auto findings = studio.findings();
  Json json = {{"current", studio.status().analysis_current}, {"broken", Json::array()}};
  for (const std::string& id : studio.failed()) {
    const std::string place = studio.read([&](const Project& p) { return p.state().photo(id).class_name; });
    json["broken"].push_back({{"photo", id}, {"reason", studio.error_of(id)}, {"name", studio::title_of_place(place)}});
  }
  if (findings) {
    json["confused"] = confused_json(*findings);
    json["findings"] = studio.read([&](const Project& p) { return findings_json(*findings, p); });
    json["recognised"] = rounded(findings->audit.recognised);
  }
  return json_body(json);
}

Response post_confirm(Studio& studio, const Request& request) {
  const Json json = Json::parse(request.body, nullptr, false);
  try {
    if (json.value("project", studio.id()) != studio.id()) return another_project();
    studio.change([&](Project& project) {
      const studio::Photo& photo = project.state().photo(json.at("photo"));
      project.confirm({json.at("kind"), photo.id, photo.class_name, json.value("other_photo", std::string())},
                      json.value("right", true));
    });
  } catch (const Json::exception&) {
    fail(ErrorKind::kFormat, "expected {{\"kind\": KIND, \"photo\": ID}}, found another body");
  }
  return json_body(Json::object());
}

Response get_map(const Studio& studio, const Request&) {
  const auto map = studio.map();
  if (!map) return json_body({{"classes", Json::array()}});
  Json json = {{"units", kMapUnits},
               {"shown", rounded(map->map.shown)},
               {"classes", map->class_names},
               {"counts", map->class_photos},
               {"prototypes", coordinates(map->map.points)},
               {"photos", coordinates(map->map.rows)}};
  json["photos"]["class"] = map->labels;
  json["photos"]["id"] = map->photos;
  return json_body(json);
}

Response get_web_page_size(const Studio& studio, const Request&) {
  const WebPageSize size = studio.web_page_size();
  return json_body({{"files", size.files},
                    {"bytes", size.bytes},
                    {"model_bytes", size.model_bytes},
                    {"runtime_bytes", size.runtime_bytes}});
}

Response get_export(Studio& studio, const Request& request) {
  const std::string& what = request.captures.at("what");
  for (const ExportFormat& format : kExports) {
    if (what != format.name) continue;
    Response response;
    response.body = studio.export_as(format.kind);
    response.content_type = format.content_type;
    const std::string project = studio.read([](const Project& p) { return p.folder().filename().string(); });
    response.headers.emplace_back("Content-Disposition", attachment_named(project + format.ending));
    return response;
  }
  fail(ErrorKind::kUsage, "expected model, onnx, card, report or web, found \"{}\"", what);
}

}  // namespace annulus::server
