// Finds the handler of a request by method and path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/http.h"

namespace annulus::server {

class Router {
 public:
  struct Route {
    std::string method;
    std::string pattern;
    Handler handler;
    std::vector<std::string> segments;  // of the pattern
  };

  // A pattern is a path whose segments are words or {names}; a last segment {name*} takes the rest of the path. Routes
  // are tried in the order in which they were added. HEAD is answered by the handler of GET.
  void add(std::string method, std::string pattern, Handler handler);

  // Fills route and captures, and calls the handler. No such path: 404; no such method: 405 with Allow; both with
  // {"error": ...}.
  void operator()(Request&& request, const Respond& respond) const;

  // The pattern that a method and a path lead to; empty when there is none.
  std::string_view pattern_of(std::string_view method, std::string_view path) const;

  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

}  // namespace annulus::server
