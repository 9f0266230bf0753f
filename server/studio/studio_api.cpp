// Lists, changes and predictions as JSON.
#include "server/studio/studio_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/report/documents/prediction_json.h"

namespace annulus::server {
namespace {

using Json = nlohmann::ordered_json;
using studio::AddedPhoto;
using studio::ProjectClass;
using studio::ProjectState;
constexpr std::size_t kSmallSide = 96;                                  // of pictures in lists, in pixels
constexpr std::array<std::size_t, 3> kSides = {kSmallSide, 384, 1024};  // in lists, side by side, and alone
constexpr std::size_t kMostListed = 500;
constexpr std::size_t kCovers = 8;  // photos shown beside a class in lists
// Of JSON in a body: parsed, it takes many times as much memory. The ids of 100,000 photos fit.
constexpr std::size_t kMostJsonBytes = std::size_t{4} << 20;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Response json_response(const Json& json) {
  Response response;
  response.body = dump(json);
  return response;
}

// The address names the content of the photos, so the picture never changes.
Response picture_response(const std::string& webp) {
  Response response;
  response.content_type = "image/webp";
  response.body = webp;
  response.headers.emplace_back("Cache-Control", "private, max-age=31536000, immutable");
  return response;
}

std::size_t number_in_query(const Request& request, const std::string& name, std::size_t otherwise, std::size_t most) {
  const std::string text = request.query_value(name);
  if (text.empty()) return otherwise;
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(ErrorKind::kUsage, "{} expects a whole number, found \"{}\"", name, text.substr(0, 20));
  }
  return std::min(value, most);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Json parse_object(std::string_view text) {
  if (text.size() > kMostJsonBytes) {
    fail(ErrorKind::kFormat, "expected at most {} bytes of JSON, found {}", kMostJsonBytes, text.size());
  }
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) fail(ErrorKind::kFormat, "expected a JSON object, found something else");
  return json;
}

// A request without an id is for whichever project is open.
bool meant_for_another(const Studio& studio, const std::string& id) { return !id.empty() && id != studio.id(); }

std::vector<std::string> ids_of(const Json& json) { return json.at("photos").get<std::vector<std::string>>(); }

// Returns the title of the change that was undone or redone; empty for other actions.
std::string run_action(Project& project, const Json& json) {
  const std::string action = json.at("action");
  const auto text = [&](const char* name) { return json.at(name).get<std::string>(); };
  if (action == "add_class") {
    project.add_class(text("name"));
  } else if (action == "rename_class") {
    project.rename_class(text("name"), text("to"));
  } else if (action == "remove_class") {
    project.remove_class(text("name"));
  } else if (action == "move") {
    project.move_photos(ids_of(json), text("to"));
  } else if (action == "remove") {
    project.remove_photos(ids_of(json));
  } else if (action == "undo") {
    return project.undo();
  } else if (action == "redo") {
    return project.redo();
  } else {
    fail(ErrorKind::kUsage,
         "expected one of add_class, rename_class, remove_class, move, remove, undo and redo, found \"{}\"", action);
  }
  return {};
}

}  // namespace

Response another_project() { return error_response(409, "another project was opened meanwhile; nothing was changed"); }

Upload parse_upload(std::string_view body) {
  const std::size_t end = body.find('\n');
  if (end == std::string_view::npos) fail(ErrorKind::kFormat, "expected a line of JSON before the photos, found none");
  Upload upload;
  try {
    const Json header = parse_object(body.substr(0, end));
    upload.class_name = header.at("class");
    upload.project = header.value("project", std::string());
    std::string_view rest = body.substr(end + 1);
    for (const Json& file : header.at("files")) {
      if (!file.at(1).is_number_unsigned()) fail(ErrorKind::kFormat, "expected a size in bytes of every photo");
      const std::size_t size = file.at(1);
      if (size > rest.size()) fail(ErrorKind::kFormat, "expected {} more bytes of photos, found {}", size, rest.size());
      upload.photos.push_back({std::as_bytes(std::span(rest.substr(0, size))), file.at(0)});
      rest.remove_prefix(size);
    }
    if (!rest.empty())
      fail(ErrorKind::kFormat, "expected the photos that were announced, found {} bytes more", rest.size());
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::kFormat, "expected {{\"class\": NAME, \"files\": [[NAME, BYTES], ...]}}, found another line");
  }
  return upload;
}

ProjectChoice parse_project_choice(std::string_view body) {
  const Json json = parse_object(body);
  try {
    return {json.at("name"), json.value("new", false), json.value("to", std::string())};
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::kFormat, "expected {{\"name\": PROJECT}}, found another body");
  }
}

std::string state_json(const Studio& studio, const std::optional<std::string>& notice) {
  const studio::StudioStatus status = studio.status();
  const auto model = studio.model();
  Json json = studio.read([](const Project& project) {
    const ProjectState& state = project.state();
    return Json{
        {"project", project.folder().filename().string()},
        {"folder", project.folder().string()},
        {"backbone", project.backbone()},
        {"revision", state.revision()},
        {"classes", state.classes().size()},
        {"photos", state.photo_count()},
        {"inbox",
         {{"photos", state.inbox().size()}, {"unknown", state.unknown().size()}, {"sorted", state.sorted_count()}}},
        {"undo", state.can_undo() ? Json(state.next_undo().title) : Json()},
        {"redo", state.can_redo() ? Json(state.next_redo().title) : Json()}};
  });
  json["id"] = studio.id();
  json["version"] = status.version;
  json["work"] = {{"stage", to_string(status.work.stage)},
                  {"done", status.work.done},
                  {"total", status.work.total},
                  {"detail", status.work.detail}};
  json["waiting"] = status.waiting;
  const auto inbox = studio.inbox();
  const auto next = studio.next();
  json["inbox"]["waiting"] = status.waiting_inbox;
  json["inbox"]["number"] = inbox ? inbox->number : 0;
  json["inbox"]["next"] = next ? next->number : 0;
  json["error"] = status.work.error;
  json["broken"] = studio.failed().size();
  const auto findings = studio.findings();
  const auto map = studio.map();
  json["map"] = map ? map->number : 0;
  json["analysis"] = {{"current", status.analysis_current},
                      {"number", findings ? findings->number : 0},
                      {"confirmed", studio.read([](const Project& project) { return project.confirmed().size(); })}};
  json["model"] = nullptr;
  if (model) {
    json["model"] = {{"can_predict", studio.encoder() != nullptr},  {"current", status.model_current},
                     {"incremental", model->incremental},           {"number", model->number},
                     {"classes", model->model.class_names.size()},  {"held_out", model->held_out},
                     {"held_out_correct", model->held_out_correct}, {"rejects_unknown", model->predictor->may_reject()},
                     {"false_rejection_rate", kFalseReject},        {"seconds", model->seconds}};
  }
  if (notice) json["notice"] = *notice;
  return dump(json);
}

Response get_classes(const Studio& studio, const Request& request) {
  const std::size_t offset = number_in_query(request, "offset", 0, SIZE_MAX);
  const std::size_t limit = number_in_query(request, "limit", 100, kMostListed);
  const std::string search = lower(request.query_value("search"));
  const std::string sort = request.query_value("sort", "name");
  return json_response(studio.read([&](const Project& project) {
    std::vector<std::pair<const std::string*, const ProjectClass*>> found;
    for (const auto& [name, entry] : project.state().classes()) {
      if (search.empty() || lower(name).find(search) != std::string::npos) found.emplace_back(&name, &entry);
    }
    if (sort == "newest") {
      std::stable_sort(found.begin(), found.end(),
                       [](const auto& a, const auto& b) { return a.second->made > b.second->made; });
    } else if (sort == "fewest") {
      std::stable_sort(found.begin(), found.end(),
                       [](const auto& a, const auto& b) { return a.second->photos.size() < b.second->photos.size(); });
    }
    Json json = {{"revision", project.state().revision()}, {"total", found.size()}, {"offset", offset}};
    Json& classes = json["classes"] = Json::array();
    for (std::size_t i = offset; i < found.size() && i - offset < limit; ++i) {
      const auto& photos = found[i].second->photos;
      const std::vector<std::string> covers(
          photos.begin(), photos.begin() + static_cast<std::ptrdiff_t>(std::min(photos.size(), kCovers)));
      classes.push_back({{"name", *found[i].first}, {"photos", photos.size()}, {"covers", covers}});
    }
    return json;
  }));
}

Response get_photos(const Studio& studio, const Request& request) {
  const std::size_t offset = number_in_query(request, "offset", 0, SIZE_MAX);
  const std::size_t limit = number_in_query(request, "limit", 200, kMostListed);
  Json json = studio.read([&](const Project& project) {
    // A page may ask for a class that another tab has just removed.
    const auto found = project.state().classes().find(request.query_value("class"));
    const bool gone = found == project.state().classes().end();
    static const std::vector<std::string> kNone;
    const std::vector<std::string>& photos = gone ? kNone : found->second.photos;
    Json list = {
        {"revision", project.state().revision()}, {"gone", gone}, {"total", photos.size()}, {"offset", offset}};
    Json& entries = list["photos"] = Json::array();
    for (std::size_t i = offset; i < photos.size() && i - offset < limit; ++i) {
      entries.push_back({{"id", photos[i]}, {"name", project.state().photo(photos[i]).name}});
    }
    return list;
  });
  for (Json& photo : json["photos"]) {
    const std::string error = studio.error_of(photo["id"]);
    if (!error.empty()) photo["error"] = error;
  }
  return json_response(json);
}

Response get_thumbnail(Studio& studio, const Request& request) {
  const std::size_t wanted = number_in_query(request, "side", kSmallSide, kSides.back());
  const std::size_t side = *std::find_if(kSides.begin(), kSides.end(), [&](std::size_t s) { return s >= wanted; });
  return picture_response(*studio.thumbnails().picture(request.captures.at("id"), side));
}

Response get_covers(Studio& studio, const Request& request) {
  std::vector<std::string> ids;
  std::istringstream names(request.captures.at("ids"));
  for (std::string id; ids.size() <= kCovers && std::getline(names, id, ',');) ids.push_back(id);
  if (ids.empty() || ids.size() > kCovers) {
    fail(ErrorKind::kUsage, "expected the ids of 1 to {} photos with commas between them", kCovers);
  }
  // Screens with two pixels per CSS pixel get the full size; half of it is quicker to decode.
  const std::size_t side =
      number_in_query(request, "side", kSmallSide, 1024) > kSmallSide / 2 ? kSmallSide : kSmallSide / 2;
  return picture_response(*studio.thumbnails().strip(ids, side));
}

Response post_photos(Studio& studio, const Request& request) {
  const Upload upload = parse_upload(request.body);
  if (meant_for_another(studio, upload.project)) return another_project();
  std::uint64_t revision = 0;
  const auto added = studio.change([&](Project& project) {
    auto result = project.add_photos(upload.class_name, upload.photos);
    revision = project.state().revision();
    return result;
  });
  constexpr std::array<const char*, 3> kOutcomes = {"added", "known", "rejected"};
  Json json = {{"revision", revision}, {"photos", Json::array()}};
  for (std::size_t i = 0; i < added.size(); ++i) {
    json["photos"].push_back({{"outcome", kOutcomes[static_cast<std::size_t>(added[i].outcome)]},
                              {"id", added[i].id},
                              {"name", upload.photos[i].name},
                              {"reason", added[i].reason}});
  }
  return json_response(json);
}

Response post_change(Studio& studio, const Request& request) {
  const Json json = parse_object(request.body);
  try {
    if (meant_for_another(studio, json.value("project", std::string()))) return another_project();
    bool outdated = false;
    Json answer = studio.change([&](Project& project) {
      const std::string action = json.at("action");
      // Undo is for the latest change: it must be the one that the page shows.
      outdated = (action == "undo" || action == "redo") && json.contains("revision") &&
                 json["revision"] != project.state().revision();
      const std::uint64_t before = project.state().revision();
      const std::string title = outdated ? std::string() : run_action(project, json);
      const std::uint64_t after = project.state().revision();
      return Json{{"revision", after}, {"changed", after != before}, {"title", title}};
    });
    if (outdated)
      return error_response(409, "the project was changed meanwhile, perhaps in another tab; look at it first");
    return json_response(answer);
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::kFormat, "expected an action with its names, found a field missing or of another type");
  }
}

Response post_predict(const Studio& studio, const Request& request) {
  const auto [model, prediction] = studio.predict(std::as_bytes(std::span(request.body)));
  Response response;
  response.body = fmt::format("{{\"model\":{},\"prediction\":", model->number);
  PredictionJson(model->model.class_names, model->model.support, model->model.epsilon)
      .write({.prediction = prediction, .may_reject = model->predictor->may_reject(), .rejected = prediction.rejected},
             response.body);
  response.body += "}";
  return response;
}

}  // namespace annulus::server
