// Bodies of prediction requests by content type; JSON by simdjson, which reads a row of 384 values in 16 microseconds.
#include "server/predict/predict_body.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/learn/model/predictor.h"
#include "server/http/image_text.h"
#include "server/http/multipart.h"
#include "server/predict/json_rows.h"

namespace annulus::server {
namespace {

namespace ondemand = simdjson::ondemand;

double fraction_of_text(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) value = std::numeric_limits<double>::quiet_NaN();
  return value;
}

void set_false_reject(double value, AskOptions& options) {
  check_false_reject(value);
  options.false_reject = value;
}

void set_top(std::uint64_t value, AskOptions& options) {
  if (value < 1 || value > 1'000'000) {
    fail_field(ErrorKind::kUsage, "top", "expected {} to be from 1 to 1000000, found {}", value);
  }
  options.top = static_cast<std::size_t>(value);
}

bool is_json(std::string_view type) {
  const std::string_view name = type.substr(0, type.find(';'));
  return name.starts_with("application/json") || name.ends_with("+json");
}

void add_image(std::string bytes, const BodyLimits& limits, PredictAsk& ask) {
  if (ask.images.size() >= limits.max_images) {
    fail(ErrorKind::kInput, "expected at most {} images in one request", limits.max_images);
  }
  ask.images.push_back(std::move(bytes));
}

void add_tasks(ondemand::array tasks, const BodyLimits& limits, PredictAsk& ask) {
  ask.label_studio = true;
  for (ondemand::object task : tasks) {
    std::string bytes;
    bool found = false;
    for (auto field : ondemand::object(task["data"])) {
      ondemand::value value = field.value();
      if (found || value.type() != ondemand::json_type::string) continue;
      const std::string_view text = value.get_string();
      if (!text.starts_with("data:")) continue;
      bytes = image_bytes_of_text(text);
      found = true;
    }
    if (!found) {
      fail(ErrorKind::kInput, "expected tasks whose image is a data: URI (nothing is fetched by address)");
    }
    add_image(std::move(bytes), limits, ask);
  }
}

void add_field(std::string_view name, ondemand::value value, const BodyLimits& limits, PredictAsk& ask) {
  if (name == "features") {
    ask.single = read_rows(value, limits.max_rows, ask.rows);
  } else if (name == "image") {
    add_image(image_bytes_of_text(value.get_string()), limits, ask);
    ask.single = true;
  } else if (name == "images") {
    for (ondemand::value image : value.get_array()) add_image(image_bytes_of_text(image.get_string()), limits, ask);
  } else if (name == "tasks") {
    add_tasks(value.get_array(), limits, ask);
  } else if (name == "label_config") {
    if (value.type() == ondemand::json_type::string)
      ask.label_config = std::string(std::string_view(value.get_string()));
  } else if (name == "model") {
    ask.options.model = std::string(std::string_view(value.get_string()));
  } else if (name == "id") {
    if (value.type() == ondemand::json_type::string) ask.id = std::string(std::string_view(value.get_string()));
  } else if (name == "top") {
    set_top(value.get_uint64(), ask.options);
  } else if (name == "explain") {
    ask.options.explain = value.get_bool();
  } else if (name == "false_reject") {
    set_false_reject(value.get_double(), ask.options);
  }
}

void parse_form(std::string_view body, std::string_view boundary, const BodyLimits& limits, PredictAsk& ask) {
  for (const FormPart& part : parse_multipart(body, boundary)) {
    if (part.is_file || part.name == "image" || part.name == "file") {
      add_image(std::string(part.body), limits, ask);
    } else if (part.name == "model") {
      ask.options.model = std::string(part.body);
    }
  }
  ask.single = ask.images.size() == 1;
}

}  // namespace

AskOptions options_of_query(const std::map<std::string, std::string>& query) {
  AskOptions options;
  for (const auto& [name, value] : query) {
    if (name == "model") {
      options.model = value;
    } else if (name == "top") {
      std::uint64_t number = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      set_top(error == std::errc() && end == value.data() + value.size() ? number : 0, options);
    } else if (name == "explain") {
      options.explain = value.empty() || value == "1" || value == "true";
    } else if (name == "false_reject") {
      set_false_reject(fraction_of_text(value), options);
    }
  }
  return options;
}

void parse_predict_json(std::string& body, const BodyLimits& limits, PredictAsk& ask) {
  // Reused for small bodies; the memory of a large one is released.
  constexpr std::size_t kSmall = std::size_t{1} << 20;
  thread_local ondemand::parser kept;
  ondemand::parser fresh;
  ondemand::parser& parser = body.size() <= kSmall ? kept : fresh;
  try {
    body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
    ondemand::document document = parser.iterate(simdjson::padded_string_view(body, body.capacity()));
    for (auto field : document.get_object()) {
      const std::string_view name = field.unescaped_key();
      add_field(name, field.value(), limits, ask);
    }
    expect_end(document);
  } catch (const simdjson::simdjson_error& error) {
    fail(ErrorKind::kFormat, "expected a JSON object with features, image or images: {}", error.what());
  }
}

PredictAsk parse_predict(Request& request, const BodyLimits& limits) {
  PredictAsk ask;
  ask.options = options_of_query(request.query);
  const std::string_view type = request.header("Content-Type");
  if (is_json(type)) {
    parse_predict_json(request.body, limits, ask);
  } else if (const std::string boundary = boundary_of(type); !boundary.empty()) {
    parse_form(request.body, boundary, limits, ask);
  } else if (!request.body.empty()) {
    add_image(std::move(request.body), limits, ask);
    ask.single = true;
  }
  if (ask.images.empty() && ask.rows.rows() == 0 && !ask.label_studio) {
    fail(ErrorKind::kInput, "expected an image or features, found neither");
  }
  if (!ask.images.empty() && ask.rows.rows() > 0) {
    fail(ErrorKind::kInput, "expected images or features, found both");
  }
  return ask;
}

}  // namespace annulus::server
