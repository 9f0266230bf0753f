// Paths compared with patterns, segment by segment.
#include "server/http/router.h"

#include <algorithm>
#include <utility>

namespace annulus::server {
namespace {

// "/a/b" -> {"a", "b"}; "/" has none. Paths are normalised before they come here.
std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> segments;
  for (std::size_t begin = 1; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    segments.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return segments;
}

bool is_name(std::string_view segment) { return segment.starts_with('{') && segment.ends_with('}'); }
bool takes_rest(std::string_view segment) { return is_name(segment) && segment.ends_with("*}"); }

std::string joined(const std::vector<std::string>& segments, std::size_t first) {
  std::string rest;
  for (std::size_t i = first; i < segments.size(); ++i) rest += (i == first ? "" : "/") + segments[i];
  return rest;
}

bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& path,
             std::map<std::string, std::string>& captures) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view word = pattern[i];
    if (takes_rest(word)) {
      captures[std::string(word.substr(1, word.size() - 3))] = joined(path, i);
      return true;
    }
    if (i >= path.size()) return false;
    if (is_name(word)) {
      captures[std::string(word.substr(1, word.size() - 2))] = path[i];
    } else if (word != path[i]) {
      return false;
    }
  }
  return pattern.size() == path.size();
}

}  // namespace

void Router::add(std::string method, std::string pattern, Handler handler) {
  std::vector<std::string> segments = segments_of(pattern);
  routes_.push_back({std::move(method), std::move(pattern), std::move(handler), std::move(segments)});
}

void Router::operator()(Request&& request, const Respond& respond) const {
  const std::vector<std::string> path = segments_of(request.path);
  const std::string_view method = request.method == "HEAD" ? std::string_view("GET") : request.method;
  std::vector<std::string> allowed;
  for (const Route& route : routes_) {
    std::map<std::string, std::string> captures;
    if (!matches(route.segments, path, captures)) continue;
    if (route.method == method) {
      request.route = route.pattern;
      request.captures = std::move(captures);
      route.handler(std::move(request), respond);
      return;
    }
    if (std::find(allowed.begin(), allowed.end(), route.method) == allowed.end()) allowed.push_back(route.method);
  }
  if (allowed.empty()) {
    respond(error_response(404, "there is nothing at " + request.path));
    return;
  }
  std::string list = allowed.front();
  for (std::size_t i = 1; i < allowed.size(); ++i) list += ", " + allowed[i];
  Response response = error_response(405, request.path + " takes " + list + ", found " + request.method);
  response.headers.emplace_back("Allow", list);
  respond(std::move(response));
}

std::string_view Router::pattern_of(std::string_view method, std::string_view path) const {
  const std::vector<std::string> segments = segments_of(path);
  std::map<std::string, std::string> captures;
  for (const Route& route : routes_) {
    if (route.method == (method == "HEAD" ? "GET" : method) && matches(route.segments, segments, captures)) {
      return route.pattern;
    }
  }
  return {};
}

}  // namespace annulus::server
