// The Open Inference Protocol, version 2.
#include "server/predict/inference_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "annulus/base/json_string.h"
#include "annulus/base/version.h"
#include "server/predict/infer_body.h"

namespace annulus::server {
namespace {

constexpr std::array<std::string_view, 4> kOutputs{"label", "probabilities", "unknown", "unknown_score"};

Response text_of(std::string body) {
  Response response;
  response.body = std::move(body);
  return response;
}

std::string metadata_of(const ServedModel& model) {
  std::string inputs =
      fmt::format("{{\"name\":\"X\",\"datatype\":\"FP32\",\"shape\":[-1,{}]}}", model.model().head.dimension());
  if (model.encoder() != nullptr) inputs += ",{\"name\":\"image\",\"datatype\":\"BYTES\",\"shape\":[-1]}";
  return fmt::format(
      "{{\"name\":{},\"versions\":[{}],\"platform\":\"annulus\",\"inputs\":[{}],\"outputs\":["
      "{{\"name\":\"label\",\"datatype\":\"BYTES\",\"shape\":[-1]}},"
      "{{\"name\":\"probabilities\",\"datatype\":\"FP32\",\"shape\":[-1,{}]}},"
      "{{\"name\":\"unknown\",\"datatype\":\"BOOL\",\"shape\":[-1]}},"
      "{{\"name\":\"unknown_score\",\"datatype\":\"FP32\",\"shape\":[-1]}}]}}\n",
      json_string(model.name()), json_string(model.version()), inputs, model.quoted_names().size());
}

// The model that a path names, or the response that there is none.
std::shared_ptr<const ServedModel> model_of(Service& service, const Request& request, const Respond& respond) {
  const std::string& name = request.captures.at("model");
  auto model = service.model_named(name);
  const auto version = request.captures.find("version");
  if (model && version != request.captures.end() && version->second != model->version()) {
    respond(error_response(
        404, fmt::format("the model \"{}\" has version {}, found {}", name, model->version(), version->second)));
    return nullptr;
  }
  if (!model) respond(no_such_model(name));
  return model;
}

// Tensors as JSON, one after the other.
class TensorWriter {
 public:
  explicit TensorWriter(std::string& out) : out_(out) {}

  template <class Write>
  void add(std::string_view name, std::string_view type, const std::string& shape, std::size_t count,
           const Write& write) {
    fmt::format_to(std::back_inserter(out_), "{}{{\"name\":\"{}\",\"datatype\":\"{}\",\"shape\":[{}],\"data\":[",
                   std::exchange(comma_, ","), name, type, shape);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out_ += ',';
      write(i);
    }
    out_ += "]}";
  }

 private:
  std::string& out_;
  const char* comma_ = "";
};

void write_probabilities(const Prediction& prediction, std::size_t classes, std::string& out) {
  std::vector<float> probabilities(classes);
  for (const RankedClass& ranked : prediction.top) {
    probabilities[static_cast<std::size_t>(ranked.index)] = ranked.probability;
  }
  for (std::size_t j = 0; j < classes; ++j) {
    fmt::format_to(std::back_inserter(out), "{}{}", j == 0 ? "" : ",", probabilities[j]);
  }
}

Response infer_response(const ServedModel& model, const std::vector<Prediction>& predictions, const InferAsk& ask,
                        double false_reject) {
  Response response;
  std::string& out = response.body;
  out =
      fmt::format("{{\"model_name\":{},\"model_version\":{},", json_string(model.name()), json_string(model.version()));
  if (!ask.id.empty()) out += fmt::format("\"id\":{},", json_string(ask.id));
  out += "\"outputs\":[";
  const std::size_t rows = predictions.size();
  const std::string shape = std::to_string(rows);
  TensorWriter writer(out);
  const auto wanted = [&ask](std::string_view name) {
    return ask.outputs.empty() || std::find(ask.outputs.begin(), ask.outputs.end(), name) != ask.outputs.end();
  };
  const auto rejected = [&](std::size_t i) { return model.rejects(predictions[i].unknown_score, false_reject); };
  if (wanted("label")) {
    writer.add("label", "BYTES", shape, rows,
               [&](std::size_t i) { out += rejected(i) ? "\"unknown\"" : json_string(model.name_of(predictions[i])); });
  }
  if (wanted("probabilities")) {
    const std::size_t classes = model.quoted_names().size();
    writer.add("probabilities", "FP32", fmt::format("{},{}", rows, classes), rows,
               [&](std::size_t i) { write_probabilities(predictions[i], classes, out); });
  }
  if (wanted("unknown")) {
    writer.add("unknown", "BOOL", shape, rows, [&](std::size_t i) { out += rejected(i) ? "true" : "false"; });
  }
  if (wanted("unknown_score")) {
    writer.add("unknown_score", "FP32", shape, rows, [&](std::size_t i) {
      const float score = predictions[i].unknown_score;
      fmt::format_to(std::back_inserter(out), "{}", std::isfinite(score) ? fmt::to_string(score) : "null");
    });
  }
  out += "]}\n";
  return response;
}

std::size_t json_bytes_of(const Request& request) {
  const std::string_view text = request.header("Inference-Header-Content-Length");
  if (text.empty()) return request.body.size();
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(ErrorKind::kFormat, "Inference-Header-Content-Length: expected a number of bytes");
  }
  return bytes;
}

void infer(Service& service, Request& request, const Respond& respond, Clock::time_point deadline) {
  auto model = model_of(service, request, respond);
  if (!model) return;
  InferAsk ask = parse_infer(request.body, json_bytes_of(request), service.options().body);
  for (const std::string& name : ask.outputs) {
    if (std::find(kOutputs.begin(), kOutputs.end(), name) == kOutputs.end()) {
      fail(ErrorKind::kInput, "expected outputs among label, probabilities, unknown, unknown_score, found \"{}\"",
           name);
    }
  }
  const bool all_classes =
      ask.outputs.empty() || std::find(ask.outputs.begin(), ask.outputs.end(), "probabilities") != ask.outputs.end();
  const double fraction = service.false_reject(ask.options);
  PredictWork work{model, ask.options, all_classes, std::move(ask.images), std::move(ask.rows), deadline};
  service.predict(std::move(work), respond,
                  [fraction, outputs = std::move(ask.outputs), id = std::move(ask.id)](
                      const ServedModel& served, const std::vector<Prediction>& predictions) {
                    InferAsk asked;
                    asked.id = id;
                    asked.outputs = outputs;
                    return infer_response(served, predictions, asked, fraction);
                  });
}

void list_models(Service& service, const Respond& respond) {
  std::string body = "[";
  for (const auto& model : service.models().all()) {
    body += fmt::format("{}{{\"name\":{},\"version\":{},\"state\":\"READY\",\"reason\":\"\"}}",
                        body.size() == 1 ? "" : ",", json_string(model->name()), json_string(model->version()));
  }
  respond(text_of(body + "]\n"));
}

void load_model(Service& service, Request&& request, const Respond& respond) {
  const std::string name = request.captures.at("model");
  if (!service.model_named(name)) return respond(no_such_model(name));
  service.later(respond, [&service, name, respond] {
    service.models().load(name);
    respond(text_of("{}\n"));
  });
}

Response not_ready(const std::vector<std::string>& models) {
  return error_response(503, fmt::format("cannot take images yet, because its backbone could not be opened: {}",
                                         fmt::join(models, ", ")));
}

}  // namespace

void add_inference_routes(Service& service, Router& router) {
  const auto empty = [](Request&&, const Respond& respond) { respond(text_of("{}\n")); };
  router.add("GET", "/v2", [](Request&&, const Respond& respond) {
    respond(
        text_of(fmt::format("{{\"name\":\"annulus\",\"version\":\"{}\",\"extensions\":[\"model_repository\","
                            "\"binary_tensor_data\"]}}\n",
                            kVersion)));
  });
  router.add("GET", "/v2/health/live", empty);
  router.add("GET", "/v2/health/ready", [&service](Request&&, const Respond& respond) {
    const std::vector<std::string> waiting = service.models().waiting();
    respond(waiting.empty() ? text_of("{}\n") : not_ready(waiting));
  });
  const std::array<std::string, 2> models{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"};
  for (const std::string& prefix : models) {
    router.add("GET", prefix, [&service](Request&& request, const Respond& respond) {
      if (const auto model = model_of(service, request, respond)) respond(text_of(metadata_of(*model)));
    });
    router.add("GET", prefix + "/ready", [&service](Request&& request, const Respond& respond) {
      const auto model = model_of(service, request, respond);
      if (model) respond(model->waits_for_encoder() ? not_ready({model->name()}) : text_of("{}\n"));
    });
    router.add("POST", prefix + "/infer", [&service](Request&& request, const Respond& respond) {
      service.with_body(std::move(request), respond,
                        [&service](Request& kept, const Respond& answer, Clock::time_point deadline) {
                          infer(service, kept, answer, deadline);
                        });
    });
  }
  router.add("POST", "/v2/repository/index",
             [&service](Request&&, const Respond& respond) { list_models(service, respond); });
  router.add("POST", "/v2/repository/models/{model}/load", [&service](Request&& request, const Respond& respond) {
    load_model(service, std::move(request), respond);
  });
}

}  // namespace annulus::server
