// Puts the files of the page, of ONNX Runtime and of the model into one folder.
#include "annulus/pipeline/export/export_web.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/version.h"
#include "annulus/pipeline/download/download.h"
#include "annulus/pipeline/export/model_card.h"
#include "annulus/pipeline/export/model_graph.h"
#include "annulus/pipeline/export/web_files.h"
#include "annulus/report/plot/svg_canvas.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/atomic_folder.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/files/whole_file.h"

namespace annulus {
namespace {

using PageJson = nlohmann::ordered_json;

constexpr const char* kModelName = "model.onnx";
constexpr const char* kSettingsName = "annulus.json";
constexpr const char* kServiceName = "service_worker.js";
constexpr std::array<const char*, 3> kRuntimeNames = {"ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs",
                                                      "ort-wasm-simd-threaded.wasm"};
constexpr std::size_t kVersionDigits = 16;
constexpr std::size_t kLargestSettings = std::size_t{1} << 26;

std::string dump(const PageJson& json) { return json.dump(-1, ' ', false, PageJson::error_handler_t::replace); }

// The geometry of a recipe as the page's resample.js takes it.
PageJson recipe_json(const PreprocessRecipe& recipe) {
  const char* resize = recipe.resize == ResizeMode::kNone ? "none" : "shorter";
  if (recipe.resize == ResizeMode::kExact) resize = "exact";
  return {{"resize", resize},
          {"resize_width", recipe.resize_width},
          {"resize_height", recipe.resize_height},
          {"interpolation", recipe.interpolation == Interpolation::kBicubic ? "bicubic" : "bilinear"},
          {"crop_width", recipe.crop_width},
          {"crop_height", recipe.crop_height},
          {"exif", recipe.apply_exif}};
}

// What the service worker keeps: all but itself; the page by the name of its folder.
std::string service_worker(std::string_view text, std::string_view version, const std::vector<std::string>& names) {
  PageJson kept = {"./"};
  for (const std::string& name : names) {
    if (name != "index.html" && name != kServiceName) kept.push_back(name);
  }
  return fmt::format("const VERSION = \"{}\", FILES = {};\n{}", version, dump(kept), text);
}

std::filesystem::path fetch_web_runtime(const ProgressCallback& progress) {
  try {
    return fetch("onnxruntime-web", progress,
                 {"download ONNX Runtime for browsers", 0, 0, "once, to run models in pages; licence MIT"});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kIo) throw;
    fail(ErrorKind::kIo, "a page needs ONNX Runtime for browsers, which is downloaded once: {}", error.what());
  }
}

std::string fill_mark(std::string text, std::string_view mark, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += by.size()) {
    text.replace(at, mark.size(), by);
  }
  return text;
}

// The files of a page that is in the folder; nothing where there is none.
std::optional<std::set<std::string>> files_of_page(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(folder / kSettingsName, ignored)) return std::nullopt;
  const WholeFile file = read_whole_file(folder / kSettingsName, kLargestSettings);
  const auto json = nlohmann::json::parse(as_text(file.bytes), nullptr, false);
  if (!json.is_object() || !json.contains("made_by") || !json.contains("files")) return std::nullopt;
  std::set<std::string> names;
  for (const auto& name : json["files"]) {
    if (name.is_string()) names.insert(name.get<std::string>());
  }
  return names;
}

std::size_t largest_batch(const Encoder& encoder) {
  std::size_t batch = 1;
  for (const EncoderPart& part : encoder.parts) batch = std::max(batch, part.backbone.batch());
  return batch;
}

}  // namespace

void check_web_folder(const std::filesystem::path& folder) {
  std::error_code error;
  const auto status = std::filesystem::status(folder, error);
  if (!std::filesystem::exists(status)) return;
  if (!std::filesystem::is_directory(status)) {
    fail(ErrorKind::kIo, "{}: expected the name of a folder to write, found a file or a device", folder.string());
  }
  const std::filesystem::directory_iterator entries(folder, error);
  if (error) fail(ErrorKind::kIo, "{}: cannot be read: {}", folder.string(), error.message());
  const auto known = files_of_page(folder);
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (known && known->contains(name)) continue;
    fail(ErrorKind::kIo,
         "{}: expected an empty folder, or a page of an earlier export and nothing else, found {}: name another folder",
         folder.string(), name);
  }
}

WebPage::WebPage(const Model& model, const Encoder& encoder, WebPageOptions options, const ProgressCallback& progress)
    : model_(model), encoder_(encoder), options_(std::move(options)) {
  check_false_reject(options_.false_reject);
  for (const EncoderPart& part : encoder.parts) {
    if (part.recipe.to_srgb) {
      fail(ErrorKind::kInput,
           "a page takes the colours of a photo as they are in its file: expected a model that was trained so, found "
           "one whose photos are converted by their colour profiles ({})",
           to_text(part.recipe));
    }
  }
  size_.model_bytes = onnx_file_bytes(model, encoder);
  runtime_ = fetch_web_runtime(progress);
  for (const char* name : kRuntimeNames) size_.runtime_bytes += std::filesystem::file_size(runtime_ / name);
  texts_.emplace_back("card.md", model_card(model, options_.title));
  texts_.emplace_back(kSettingsName, "");
  for (const WebFile& file : web_files()) texts_.emplace_back(file.name, file.text);
  for (auto& [name, text] : texts_) {
    if (name == "index.html") text = fill_mark(std::move(text), "{{title}}", escape_xml(options_.title));
    if (name == kSettingsName) text = settings(size_.model_bytes);
    if (name == kServiceName) text = service_worker(text, std::string(kVersionDigits, '0'), names());
  }
  size_.files = names().size();
  size_.bytes = size_.model_bytes + size_.runtime_bytes;
  for (const auto& [name, text] : texts_) size_.bytes += text.size();
}

std::vector<std::string> WebPage::names() const {
  std::vector<std::string> names = {kModelName};
  for (const char* name : kRuntimeNames) names.emplace_back(name);
  for (const auto& [name, text] : texts_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

// What the page reads.
std::string WebPage::settings(std::size_t model_bytes) const {
  PageJson json = {{"made_by", fmt::format("annulus {}", kVersion)},
                   {"title", options_.title},
                   {"model_bytes", model_bytes},
                   {"batch", largest_batch(encoder_)},
                   {"preprocess", recipe_json(geometry_of(encoder_.parts.front().recipe))},
                   {"false_reject", options_.false_reject},
                   {"unknown_threshold", nullptr},
                   {"catch_rate", nullptr}};
  if (rejects_unknown(model_) && options_.false_reject > 0.0) {
    json["unknown_threshold"] = unknown_threshold(model_.unknown, options_.false_reject);
    if (const auto rate = unknown_catch_rate(model_.unknown, options_.false_reject)) json["catch_rate"] = *rate;
  }
  json["classes"] = model_.class_names;
  json["files"] = names();
  return dump(json);
}

OnnxExportReport WebPage::write(const std::filesystem::path& folder) const {
  check_web_folder(folder);
  AtomicFolder target(folder);
  const OnnxExportReport report = export_onnx(model_, encoder_, target.path() / kModelName, options_.check);
  Sha256 version;
  version.update(map_file(target.path() / kModelName).bytes);
  for (const char* name : kRuntimeNames) {
    const FileBytes file = map_file(runtime_ / name);
    version.update(file.bytes);
    write_file(target.path() / name, as_text(file.bytes));
  }
  for (const auto& [name, text] : texts_) version.update(std::as_bytes(std::span(text)));
  const std::string digits = version.finish_hex().substr(0, kVersionDigits);
  for (const auto& [name, text] : texts_) {
    write_file(target.path() / name,
               name == kServiceName ? fill_mark(text, std::string(kVersionDigits, '0'), digits) : text);
  }
  check_web_folder(folder);  // the check of the model takes a while
  target.commit();
  return report;
}

}  // namespace annulus
