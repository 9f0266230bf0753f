// The Inbox of a project as JSON: its groups, the photos of one, and what to label next.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server/studio/studio_api.h"
#include "server/studio/studio_json.h"

namespace annulus::server {
namespace {

using Json = nlohmann::ordered_json;
using studio::InboxGroup;
using studio::InboxPhoto;
using studio::ProjectState;
constexpr std::size_t kGroupCovers = 8;  // photos shown beside a group in lists

Json json_of(const InboxPhoto& photo, const ProjectState& state) {
  return {{"id", photo.id},
          {"name", state.photo(photo.id).name},
          {"sure", rounded(photo.sure)},
          {"doubtful", photo.doubtful}};
}

// Of the photos that may not belong and of those that surely do, the same number.
Json covers_of(const std::vector<const InboxPhoto*>& photos) {
  Json covers = Json::array();
  const std::size_t shown = std::min(photos.size(), kGroupCovers);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t from_end = shown - i;
    covers.push_back(i < shown / 2 ? photos[i]->id : photos[photos.size() - from_end]->id);
  }
  return covers;
}

// The photos of a group that have not been sorted since.
std::vector<const InboxPhoto*> photos_left(const InboxGroup& group, const ProjectState& state) {
  std::vector<const InboxPhoto*> left;
  for (const InboxPhoto& photo : group.photos) {
    if (state.inbox().contains(photo.id)) left.push_back(&photo);
  }
  return left;
}

// A class that was removed or renamed since is no suggestion.
std::string suggestion_of(const InboxGroup& group, const ProjectState& state) {
  return state.classes().contains(group.suggestion) ? group.suggestion : std::string();
}

Json likely_of(const InboxGroup& group, const ProjectState& state) {
  Json likely = Json::array();
  for (const studio::LikelyClass& one : group.likely) {
    if (state.classes().contains(one.name)) {
      likely.push_back({{"name", one.name}, {"probability", rounded(one.probability)}});
    }
  }
  if (!likely.empty()) return likely;
  // Without a model: the classes that were made last.
  std::vector<std::pair<std::uint64_t, std::string>> newest;
  for (const auto& [name, entry] : state.classes()) newest.emplace_back(entry.made, name);
  std::sort(newest.rbegin(), newest.rend());
  if (newest.size() > studio::kLikelyClasses) newest.resize(studio::kLikelyClasses);
  for (const auto& [made, name] : newest) likely.push_back({{"name", name}, {"probability", nullptr}});
  return likely;
}

Json summary_of(const InboxGroup& group, const std::vector<const InboxPhoto*>& photos, const ProjectState& state) {
  return {{"key", group.key},
          {"suggestion", suggestion_of(group, state)},
          {"sure", rounded(group.sure)},
          {"photos", photos.size()},
          {"doubtful", std::count_if(photos.begin(), photos.end(), [](const auto* photo) { return photo->doubtful; })},
          {"covers", covers_of(photos)}};
}

Json unknown_group(const ProjectState& state) {
  Json group = {{"key", "unknown"}, {"suggestion", ""}, {"likely", likely_of({}, state)}, {"photos", Json::array()}};
  for (const std::string& id : state.unknown()) group["photos"].push_back(json_of({id, 0.0, false}, state));
  return group;
}

}  // namespace

Response get_inbox(const Studio& studio, const Request&) {
  const auto view = studio.inbox();
  return json_body(studio.read([&](const Project& project) {
    const ProjectState& state = project.state();
    Json groups = Json::array();
    std::size_t grouped = 0;
    std::size_t suggested = 0;
    double right = 0.0;
    if (view) {
      for (const InboxGroup& group : view->groups) {
        const auto photos = photos_left(group, state);
        if (photos.empty()) continue;
        groups.push_back(summary_of(group, photos, state));
        grouped += photos.size();
        if (group.suggestion.empty()) continue;
        suggested += photos.size();
        for (const InboxPhoto* photo : photos) right += photo->sure;
      }
    }
    return Json{{"revision", state.revision()},
                {"number", view ? view->number : 0},
                {"ungrouped", state.inbox().size() - grouped},
                {"expected", {{"suggested", suggested}, {"right", rounded(right)}}},
                {"groups", std::move(groups)}};
  }));
}

Response get_inbox_group(const Studio& studio, const Request& request) {
  const std::string key = request.query_value("key");
  const auto view = studio.inbox();
  return json_body(studio.read([&](const Project& project) {
    const ProjectState& state = project.state();
    if (key == "unknown") return unknown_group(state);
    Json json = {{"key", key}, {"suggestion", ""}, {"likely", Json::array()}, {"photos", Json::array()}};
    if (!view) return json;
    const auto found = std::find_if(view->groups.begin(), view->groups.end(),
                                    [&](const InboxGroup& group) { return group.key == key; });
    // A page may ask for a group that has just been sorted.
    if (found == view->groups.end()) return json;
    json["suggestion"] = suggestion_of(*found, state);
    json["likely"] = likely_of(*found, state);
    for (const InboxPhoto* photo : photos_left(*found, state)) json["photos"].push_back(json_of(*photo, state));
    return json;
  }));
}

Response get_inbox_next(Studio& studio, const Request&) {
  studio.request_next();
  const auto next = studio.next();
  const auto view = studio.inbox();
  return json_body(studio.read([&](const Project& project) {
    const ProjectState& state = project.state();
    Json json = {{"ready", next != nullptr}, {"photos", Json::array()}};
    if (!next || !view) return json;
    std::unordered_map<std::string, const InboxGroup*> group_of;
    for (const InboxGroup& group : view->groups) {
      for (const InboxPhoto& photo : group.photos) group_of.emplace(photo.id, &group);
    }
    for (const auto& choice : next->choices) {
      const auto group = group_of.find(choice.photo);
      if (group == group_of.end() || !state.inbox().contains(choice.photo)) continue;
      json["photos"].push_back({{"id", choice.photo},
                                {"name", state.photo(choice.photo).name},
                                {"reason", to_string(choice.reason)},
                                {"stands_for", choice.stands_for},
                                {"group", group->second->key}});
    }
    return json;
  }));
}

}  // namespace annulus::server
