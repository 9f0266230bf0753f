// Reads boxes and joins them with photos.
#include "annulus/store/images/box_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/images/metadata_records.h"

namespace annulus {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kMostBoxFileBytes = std::size_t{1} << 30;
// What COCO files hold most of and boxes do not need.
constexpr std::array<std::string_view, 4> kUnused = {"segmentation", "keypoints", "captions", "licenses"};

Json parse_document(const fs::path& file) {
  const MappedFile mapped(file);
  if (mapped.bytes().size() > kMostBoxFileBytes) {
    fail(ErrorKind::kFormat, "{}: expected at most {} bytes of boxes, found {}", file.string(), kMostBoxFileBytes,
         mapped.bytes().size());
  }
  const auto keep = [](int, Json::parse_event_t event, const Json& parsed) {
    if (event != Json::parse_event_t::key) return true;
    const auto* const key = parsed.get_ptr<const std::string*>();
    return std::find(kUnused.begin(), kUnused.end(), *key) == kUnused.end();
  };
  Json document = Json::parse(as_text(mapped.bytes()), keep, false);
  const auto images = document.is_object() ? document.find("images") : document.end();
  if (!document.is_object() || images == document.end() || !images->is_array()) {
    fail(ErrorKind::kFormat, "{}: expected boxes as COCO or MegaDetector write them, a JSON object with images",
         file.string());
  }
  return document;
}

// The value of a key, or null.
const Json& value_of(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string text_of(const Json& object, const char* key, const std::string& where) {
  const Json& value = value_of(object, key);
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    fail(ErrorKind::kFormat, "{}: expected {} to be text", where, key);
  }
  return value.get<std::string>();
}

std::int64_t id_of(const Json& object, const char* key, const std::string& where) {
  const Json& value = value_of(object, key);
  if (!value.is_number_integer()) fail(ErrorKind::kFormat, "{}: expected {} to be a whole number", where, key);
  return value.get<std::int64_t>();
}

MediaBox box_of(const Json& object, const std::string& where) {
  const Json& list = value_of(object, "bbox");
  MediaBox box;
  const std::array<double*, 4> places = {&box.x, &box.y, &box.width, &box.height};
  bool whole = list.is_array() && list.size() == places.size();
  for (std::size_t i = 0; whole && i < places.size(); ++i) {
    whole = list[i].is_number();
    if (whole) *places[i] = list[i].get<double>();
  }
  if (!whole || !is_box(box)) {
    fail(ErrorKind::kFormat, "{}: expected bbox to be x, y, width and height, both sides above 0", where);
  }
  return box;
}

// "FILE: annotations[3]"
std::string place(const fs::path& file, const char* list, std::size_t index) {
  return fmt::format("{}: {}[{}]", file.string(), list, index);
}

const Json& list_of(const Json& document, const char* key, const fs::path& file) {
  const Json& list = value_of(document, key);
  if (!list.is_array()) fail(ErrorKind::kFormat, "{}: expected {} to be a list", file.string(), key);
  return list;
}

BoxFile read_coco(const Json& document, const fs::path& file) {
  BoxFile out;
  std::map<std::int64_t, std::size_t> photos;
  const Json& images = list_of(document, "images", file);
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::string where = place(file, "images", i);
    if (!photos.emplace(id_of(images[i], "id", where), i).second) {
      fail(ErrorKind::kFormat, "{}: expected an id of its own, found one that another image has", where);
    }
    out.photos.push_back({text_of(images[i], "file_name", where), {}});
  }
  std::map<std::int64_t, std::string> names;
  const Json& categories = list_of(document, "categories", file);
  for (std::size_t i = 0; i < categories.size(); ++i) {
    const std::string where = place(file, "categories", i);
    names[id_of(categories[i], "id", where)] = text_of(categories[i], "name", where);
  }
  std::size_t crowds = 0;
  const Json& annotations = list_of(document, "annotations", file);
  for (std::size_t i = 0; i < annotations.size(); ++i) {
    const std::string where = place(file, "annotations", i);
    const Json& crowd = value_of(annotations[i], "iscrowd");
    if (crowd.is_boolean() ? crowd.get<bool>() : crowd == 1) {
      ++crowds;
      continue;
    }
    const auto photo = photos.find(id_of(annotations[i], "image_id", where));
    const auto name = names.find(id_of(annotations[i], "category_id", where));
    if (photo == photos.end() || name == names.end()) {
      fail(ErrorKind::kFormat, "{}: expected {} to be one of the {}", where,
           photo == photos.end() ? "image_id" : "category_id", photo == photos.end() ? "images" : "categories");
    }
    out.photos[photo->second].boxes.push_back({box_of(annotations[i], where), name->second});
  }
  if (crowds != 0) out.warnings.push_back(fmt::format("{}: passed over {} boxes of crowds", file.string(), crowds));
  return out;
}

// The number of the category called "animal"; empty where the detector knows none, and all categories count.
std::string animal_category(const Json& document) {
  const Json& categories = value_of(document, "detection_categories");
  if (!categories.is_object()) return "1";  // MegaDetector's own numbering
  for (const auto& [number, name] : categories.items()) {
    if (name == "animal") return number;
  }
  return {};
}

BoxFile read_mega_detector(const Json& document, const fs::path& file, double confidence) {
  BoxFile out;
  const std::string animal = animal_category(document);
  std::size_t others = 0;
  std::size_t unsure = 0;
  const Json& images = list_of(document, "images", file);
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::string where = place(file, "images", i);
    BoxedPhoto photo{text_of(images[i], "file", where), {}};
    // An image that the detector could not read has a failure and no detections.
    const Json& detections = value_of(images[i], "detections");
    for (std::size_t d = 0; detections.is_array() && d < detections.size(); ++d) {
      const std::string here = fmt::format("{}.detections[{}]", where, d);
      const Json& sureness = value_of(detections[d], "conf");
      if (!sureness.is_number()) fail(ErrorKind::kFormat, "{}: expected conf to be a number", here);
      if (!animal.empty() && text_of(detections[d], "category", here) != animal) {
        ++others;
      } else if (sureness.get<double>() < confidence) {
        ++unsure;
      } else {
        photo.boxes.push_back({percent_box(box_of(detections[d], here))});
      }
    }
    out.photos.push_back(std::move(photo));
  }
  if (others != 0) {
    out.warnings.push_back(fmt::format("{}: passed over {} boxes of other things than animals", file.string(), others));
  }
  if (unsure != 0) {
    out.warnings.push_back(
        fmt::format("{}: passed over {} boxes of a confidence below {}", file.string(), unsure, confidence));
  }
  return out;
}

// The boxes of a metadata file, with the paths of photos that are there.
BoxFile read_metadata_boxes(const fs::path& file, std::span<const fs::path> folders) {
  BoxFile out;
  std::map<std::string, std::size_t> photos;
  for (ImageRow& row : read_metadata(file, folders).rows) {
    MediaFragment fragment = parse_media_fragment(row.path);
    const auto [known, is_new] = photos.emplace(fragment.file, out.photos.size());
    if (is_new) out.photos.push_back({fragment.file, {}});
    if (fragment.box) out.photos[known->second].boxes.push_back({*fragment.box, std::move(row.class_name)});
  }
  return out;
}

// One path for a file, however it is written.
std::string canonical_name(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? std::string() : real.string();
}

// The boxes of photos that are there, by their canonical paths.
std::map<std::string, std::vector<LabelledBox>> boxes_by_path(BoxFile file, std::span<const fs::path> folders) {
  std::map<std::string, std::vector<LabelledBox>> boxes;
  for (BoxedPhoto& photo : file.photos) {
    for (const fs::path& folder : folders) {
      const std::string path = canonical_name(folder / photo.name);
      if (path.empty()) continue;
      auto& known = boxes[path];
      std::move(photo.boxes.begin(), photo.boxes.end(), std::back_inserter(known));
      break;
    }
  }
  return boxes;
}

bool is_json(const fs::path& file) { return file.extension() != ".csv" && file.extension() != ".jsonl"; }

}  // namespace

BoxFile read_box_json(const fs::path& file, const BoxOptions& options) {
  const Json document = parse_document(file);
  if (document.contains("annotations")) return read_coco(document, file);
  return read_mega_detector(document, file, options.confidence);
}

ImageRows boxes_of_rows(ImageRows rows, const fs::path& root, const BoxOptions& options) {
  std::error_code ignored;
  const std::array<fs::path, 2> folders = {fs::is_directory(root, ignored) ? root : root.parent_path(),
                                           options.file.parent_path()};
  BoxFile file =
      is_json(options.file) ? read_box_json(options.file, options) : read_metadata_boxes(options.file, folders);
  ImageRows out;
  out.warnings = std::move(rows.warnings);
  out.warnings.insert(out.warnings.end(), file.warnings.begin(), file.warnings.end());
  out.empty_classes = std::move(rows.empty_classes);
  const auto boxes = boxes_by_path(std::move(file), folders);
  std::size_t without = 0;
  for (const ImageRow& row : rows.rows) {
    const auto found = boxes.find(canonical_name(row.path));
    if (found == boxes.end() || found->second.empty()) {
      ++without;
      continue;
    }
    for (const LabelledBox& each : found->second) {
      ImageRow& crop = out.rows.emplace_back(row);
      crop.path = to_text({row.path, {}, each.box});
      if (crop.group.empty()) crop.group = row.path;
      if (!crop.class_name) crop.class_name = each.label;
    }
  }
  if (out.rows.empty()) {
    fail(ErrorKind::kInput, "{}: expected boxes in some of the {} images of {}, found none", options.file.string(),
         rows.rows.size(), root.string());
  }
  if (without != 0) {
    out.warnings.push_back(fmt::format("passed over {} images in which {} has no box", without, options.file.string()));
  }
  return out;
}

ImageRows read_boxes_as_rows(const fs::path& path, const BoxOptions& options) {
  const BoxFile file = read_box_json(path, options);
  const std::array<fs::path, 1> folders = {path.parent_path()};
  ImageRows rows;
  rows.warnings = file.warnings;
  for (const BoxedPhoto& photo : file.photos) {
    if (photo.boxes.empty()) continue;
    const std::string found = find_image(photo.name, folders, path.string());
    for (const LabelledBox& each : photo.boxes) {
      rows.rows.push_back({to_text({found, {}, each.box}), each.label, std::nullopt, found});
    }
  }
  return rows;
}

}  // namespace annulus
