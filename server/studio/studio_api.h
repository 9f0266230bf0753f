// The requests of the studio's page and their responses: values in, JSON out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/http.h"
#include "studio_engine/studio.h"

namespace annulus::server {

using studio::Project;
using studio::Studio;

// Photos of one class in the body of a request: a line of JSON, {"class": NAME, "files": [[NAME, BYTES], ...]}, then
// the bytes of the files one after the other. Views into the body. With "project": ID, they are for that project only.
struct Upload {
  std::string class_name;
  std::string project;  // Studio::id; empty: whichever is open
  std::vector<studio::NewPhoto> photos;
};
// Throws Error{kFormat} unless the sizes add up to the body's.
Upload parse_upload(std::string_view body);

// Which project is meant, whether to make it, and its new name: {"name": NAME, "new": true, "to": NAME}.
struct ProjectChoice {
  std::string name;
  bool make = false;
  std::string to{};
};
// Throws Error{kFormat} for anything else.
ProjectChoice parse_project_choice(std::string_view body);

// The response to a change for a project that is no longer open.
Response another_project();

// Everything that a page shows besides its lists, also sent as an event; `notice` is for a page that asks first.
std::string state_json(const Studio& studio, const std::optional<std::string>& notice = {});

// The responses to requests; each throws Error for what it cannot do.
Response get_classes(const Studio& studio, const Request& request);  // ?offset, limit, search, sort
Response get_photos(const Studio& studio, const Request& request);   // ?class, offset, limit
Response get_analysis(Studio& studio, const Request& request);
Response post_confirm(Studio& studio, const Request& request);           // a finding that a person calls right
Response get_map(const Studio& studio, const Request& request);          // every photo and prototype in the plane
Response get_inbox(const Studio& studio, const Request& request);        // the groups of unsorted photos
Response get_inbox_group(const Studio& studio, const Request& request);  // ?key
Response get_inbox_next(Studio& studio, const Request& request);         // which photos to label next
Response get_thumbnail(Studio& studio, const Request& request);          // {id}, ?side
Response get_covers(Studio& studio, const Request& request);             // {ids}, with commas: one picture of several
Response post_photos(Studio& studio, const Request& request);            // an upload
Response post_change(Studio& studio, const Request& request);  // {"action": ..., "revision": ..., "project": ...}
Response post_predict(const Studio& studio, const Request& request);       // the bytes of an image
Response get_export(Studio& studio, const Request& request);               // {what}: model, onnx, card, report or web
Response get_web_page_size(const Studio& studio, const Request& request);  // what an export of a page will weigh

}  // namespace annulus::server
