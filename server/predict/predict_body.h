// The bodies of prediction requests as values: images, multipart forms, JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "server/http/http.h"

namespace annulus::server {

// The options of a request.
struct AskOptions {
  std::string model;    // empty: the first that was served
  std::size_t top = 5;  // classes per prediction
  bool explain = false;
  std::optional<double> false_reject;  // false-rejection rate; absent: the server's
};

struct PredictAsk {
  AskOptions options;
  std::vector<std::string> images;  // bytes of image files
  Matrix<float> rows;               // or rows of features
  bool single = false;              // a single input, not a list of one
  // Label Studio's form: answered in its format.
  bool label_studio = false;
  std::string label_config;
  std::string id;  // that a client gave its request; empty: none
};

struct BodyLimits {
  std::size_t max_rows = 4096;  // of features in one request
  std::size_t max_images = 64;  // in one request
};

// The options in a query: model, top, explain, false_reject. Throws Error{kUsage} for values out of range.
AskOptions options_of_query(const std::map<std::string, std::string>& query);

// Parses a body by its Content-Type: application/json, multipart/form-data, anything else is one image. Throws
// Error{kFormat} for a body that cannot be read, Error{kInput} for too many inputs or none.
PredictAsk parse_predict(Request& request, const BodyLimits& limits);

// {"features": [[...], ...]}, {"features": [...]}, {"image": base64}, {"images": [...]}, {"tasks": [...]}; beside them
// model, top, explain and false_reject. `body` may be read beyond its end by the parser and grows for that.
void parse_predict_json(std::string& body, const BodyLimits& limits, PredictAsk& ask);

}  // namespace annulus::server
