// Requests and responses as values: the interface of handlers.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "annulus/base/error.h"

namespace annulus::server {

struct NoCaseLess {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const;
};

// Looked up without regard to case; a header given twice holds both values, separated by ", ".
using Headers = std::map<std::string, std::string, NoCaseLess>;

struct Request {
  std::string method;  // "GET"
  std::string target;  // as it was sent: "/v2/models/a%20b?top=3"
  std::string path;    // "/v2/models/a b": percent-decoded, no dot segments, no empty segments, no slash at the end
  std::map<std::string, std::string> query;  // decoded; of a name given twice the first
  Headers headers;
  std::string body;
  std::string peer;                             // address of the client
  std::string route;                            // the router's pattern, "/v2/models/{model}"; empty before routing
  std::map<std::string, std::string> captures;  // what stood in place of {names}

  // Empty when there is none.
  std::string_view header(std::string_view name) const;
  // The value of a name in the query; `otherwise` when there is none.
  std::string query_value(const std::string& name, const std::string& otherwise = {}) const;
};

// Server-sent events to one client. Every function may be called from any thread.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // Sends an event; `data` may have several lines. False when the client has gone, or is so slow that too much is
  // waiting for it (the stream is then closed).
  virtual bool send(std::string_view event, std::string_view data) = 0;
  virtual bool connected() const = 0;
  // Ends the response once what was sent has left.
  virtual void close() = 0;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  // When set, the response is a stream of events instead of a body: called once, when the header has left, with the
  // stream; keep the pointer to send. The stream ends when close() is called, the client leaves or the server stops.
  std::function<void(std::shared_ptr<EventStream>)> stream;
};

// To be called once, from any thread, now or later. When every copy is gone uncalled, the client gets status 500; calls
// after the first do nothing.
using Respond = std::function<void(Response)>;

// Called on an I/O thread: must return soon, handing long work to others. An Error it throws becomes the response.
using Handler = std::function<void(Request&&, Respond)>;

// {"error": message} with a status.
Response error_response(int status, std::string_view message);
// The status of each kind of error; the one table.
int status_of(ErrorKind kind);
Response error_response(const Error& error);

// Throws Error{kFormat} when the header does not say for certain where the body ends: a Transfer-Encoding other than
// "chunked", or one of HTTP/1.0 (RFC 9112, 6.3). What follows must not be read as another request then.
void check_framing(const Request& request, unsigned version);

// "Not Found"; empty for a number that is no status.
std::string_view reason_of(int status);

// Everything of a response before its body, up to the empty line. Headers that would break out of theirs are left out.
std::string header_text(const Response& response, bool keep_alive);

}  // namespace annulus::server
