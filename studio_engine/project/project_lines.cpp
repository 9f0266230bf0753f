// Changes and states of a project as lines of JSON, for its journal.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "annulus/base/error.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/vision/image/image_type.h"
#include "studio_engine/project/project_state.h"

namespace annulus::studio {
namespace {

using Json = nlohmann::ordered_json;

// An operation is an array: its kind, then its fields.
Json to_json(const Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::kAddClass:
      return {"add", operation.to};
    case Operation::Kind::kRemoveClass:
      return {"remove", operation.from};
    case Operation::Kind::kRenameClass:
      return {"rename", operation.from, operation.to};
    case Operation::Kind::kPut:
      break;
  }
  return {"put", operation.photo, operation.from, operation.to};
}

Operation operation_from(const Json& json) {
  const std::string kind = json.at(0);
  if (kind == "add") return {Operation::Kind::kAddClass, {}, {}, json.at(1)};
  if (kind == "remove") return {Operation::Kind::kRemoveClass, {}, json.at(1), {}};
  if (kind == "rename") return {Operation::Kind::kRenameClass, {}, json.at(1), json.at(2)};
  if (kind == "put") return {Operation::Kind::kPut, json.at(1), json.at(2), json.at(3)};
  fail(ErrorKind::kFormat, "expected add, remove, rename or put, found \"{}\"", kind);
}

Json to_json(const Photo& photo) { return {photo.sha256, photo.extension, photo.name}; }

Photo photo_from(const Json& json) {
  Photo photo;
  photo.sha256 = json.at(0);
  photo.extension = json.at(1);
  photo.name = json.at(2);
  const bool digits = std::all_of(photo.sha256.begin(), photo.sha256.end(),
                                  [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  const bool known = is_image_type_extension(photo.extension);
  // They become the name of a file.
  if (photo.sha256.size() != 64 || !digits || !known) {
    fail(ErrorKind::kFormat, "expected a checksum and the extension of an image, found another");
  }
  photo.id = photo.sha256.substr(0, 16);
  return photo;
}

Json to_json(const Change& change) {
  constexpr const char* kKinds[] = {"do", "undo", "redo"};
  Json json = {{"kind", kKinds[static_cast<std::size_t>(change.kind)]}, {"title", change.title}};
  Json& operations = json["operations"] = Json::array();
  for (const Operation& operation : change.operations) operations.push_back(to_json(operation));
  if (!change.photos.empty()) {
    Json& photos = json["photos"] = Json::array();
    for (const Photo& photo : change.photos) photos.push_back(to_json(photo));
  }
  return json;
}

Change change_from(const Json& json) {
  Change change;
  const std::string kind = json.at("kind");
  if (kind == "undo") change.kind = Change::Kind::kUndo;
  if (kind == "redo") change.kind = Change::Kind::kRedo;
  change.title = json.at("title");
  for (const Json& operation : json.at("operations")) change.operations.push_back(operation_from(operation));
  if (json.contains("photos")) {
    for (const Json& photo : json.at("photos")) change.photos.push_back(photo_from(photo));
  }
  return change;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string ProjectState::to_line(const Change& change) { return dump(to_json(change)); }

std::string ProjectState::to_line() const {
  Json json = {{"kind", "state"}, {"revision", revision_}};
  Json& classes = json["classes"] = Json::array();
  for (const auto& [name, entry] : classes_) classes.push_back({name, entry.made, entry.photos});
  if (sorted_ != 0) json["sorted"] = sorted_;
  if (!inbox_.empty()) json["inbox"] = inbox_;
  if (!unknown_.empty()) json["unknown"] = unknown_;
  std::vector<std::string> ids;
  for (const auto& [id, photo] : photos_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  Json& photos = json["photos"] = Json::array();
  for (const std::string& id : ids) photos.push_back(to_json(photos_.at(id)));
  for (const auto& [name, changes] : {std::pair("undo", &undo_), std::pair("redo", &redo_)}) {
    Json& list = json[name] = Json::array();
    for (const Change& change : *changes) list.push_back(to_json(change));
  }
  return dump(json);
}

Change ProjectState::change_of(std::string_view line) {
  if (line.empty()) return {};
  const Json json = Json::parse(line);
  return json.at("kind") == "state" ? Change() : change_from(json);
}

void ProjectState::replay(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    if (json.at("kind") != "state") {
      apply(change_from(json));
      return;
    }
    ProjectState state;
    state.revision_ = json.at("revision");
    for (const Json& photo : json.at("photos")) {
      Photo known = photo_from(photo);
      state.photos_.insert_or_assign(known.id, std::move(known));
    }
    for (const Json& entry : json.at("classes")) {
      const std::string name = entry.at(0);
      check_class_name(name);
      ProjectClass& made = state.classes_[name];
      made.made = entry.at(1);
      for (const Json& id : entry.at(2)) state.put({Operation::Kind::kPut, state.photo(id).id, {}, name});
    }
    state.sorted_ = json.value("sorted", std::size_t{0});
    for (const auto& [key, place] : {std::pair("inbox", kInbox), std::pair("unknown", kUnknown)}) {
      if (!json.contains(key)) continue;
      for (const Json& id : json.at(key)) state.put({Operation::Kind::kPut, state.photo(id).id, {}, place});
    }
    for (const Json& change : json.at("undo")) state.undo_.push_back(change_from(change));
    for (const Json& change : json.at("redo")) state.redo_.push_back(change_from(change));
    *this = std::move(state);
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::kFormat, "expected a change or a state as JSON, found a line that is neither: {}", error.what());
  }
}

}  // namespace annulus::studio
