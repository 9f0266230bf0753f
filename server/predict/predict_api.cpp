// POST /predict and /embed, and the ML backend of Label Studio.
#include "server/predict/predict_api.h"

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <utility>

#include "annulus/base/json_string.h"

namespace annulus::server {
namespace {

void name_model(const ServedModel& model, Response& response) {
  response.headers.emplace_back("Annulus-Model", fmt::format("{}; version={}", model.name(), model.version()));
}

Response predict_response(const ServedModel& model, const std::vector<Prediction>& predictions,
                          const AskOptions& options, double false_reject, bool single) {
  Response response;
  name_model(model, response);
  if (!single) response.body += '[';
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    if (i > 0) response.body += ',';
    model.write_json(predictions[i], i, options.top, false_reject, response.body);
  }
  response.body += single ? "\n" : "]\n";
  return response;
}

// What Label Studio shows beside a task: nothing where the image is unknown, so that a person looks.
Response label_studio_response(const ServedModel& model, const std::vector<Prediction>& predictions,
                               double false_reject, const LabelTags& tags) {
  Response response;
  const auto to = std::back_inserter(response.body);
  response.body = "{\"results\":[";
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const RankedClass& best = predictions[i].top.front();
    response.body += i == 0 ? "{\"result\":[" : ",{\"result\":[";
    const bool rejected = model.rejects(predictions[i].unknown_score, false_reject);
    if (!rejected) {
      fmt::format_to(to, "{{\"from_name\":{},\"to_name\":{},\"type\":\"choices\",\"value\":{{\"choices\":[{}]}}}}",
                     json_string(tags.from_name), json_string(tags.to_name),
                     model.quoted_names()[static_cast<std::size_t>(best.index)]);
    }
    fmt::format_to(to, "],\"score\":{},\"model_version\":{}}}", rejected ? 0.0F : best.probability,
                   json_string(model.version()));
  }
  response.body += "]}\n";
  return response;
}

// A request that was read, with the model it is for.
struct ReadAsk {
  PredictAsk ask;
  std::shared_ptr<const ServedModel> model;
  Clock::time_point deadline;
};

void predict(Service& service, ReadAsk read, const Respond& respond) {
  auto& [ask, model, deadline] = read;
  const double fraction = service.false_reject(ask.options);
  if (ask.label_studio) {
    const LabelTags tags = label_tags_of(ask.label_config);
    if (ask.images.empty()) return respond(label_studio_response(*model, {}, fraction, tags));
    return service.predict({model, {}, false, std::move(ask.images), {}, deadline}, respond,
                           [fraction, tags](const ServedModel& served, const std::vector<Prediction>& predictions) {
                             return label_studio_response(served, predictions, fraction, tags);
                           });
  }
  PredictWork work{model, ask.options, false, std::move(ask.images), std::move(ask.rows), deadline};
  service.predict(std::move(work), respond,
                  [options = ask.options, fraction, single = ask.single](const ServedModel& served,
                                                                         const std::vector<Prediction>& predictions) {
                    return predict_response(served, predictions, options, fraction, single);
                  });
}

Response embed_response(const ServedModel& model, const Matrix<float>& rows) {
  Response response;
  name_model(model, response);
  const auto to = std::back_inserter(response.body);
  fmt::format_to(to, "{{\"model\":{},\"dimension\":{},\"embeddings\":[", json_string(model.name()), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    response.body += i == 0 ? "[" : ",[";
    for (std::size_t j = 0; j < rows.cols(); ++j) fmt::format_to(to, "{}{}", j == 0 ? "" : ",", rows(i, j));
    response.body += ']';
  }
  response.body += "]}\n";
  return response;
}

void embed(Service& service, ReadAsk read, const Respond& respond) {
  if (read.ask.images.empty()) return respond(error_response(422, "expected an image, found features"));
  service.check_size(*read.model, read.ask.images.size(), read.model->model().head.dimension());
  service.encode(read.model, std::move(read.ask.images), read.deadline, respond,
                 [model = read.model, respond](const Matrix<float>& rows) { respond(embed_response(*model, rows)); });
}

void add_ask(Service& service, Router& router, const std::string& path,
             void (*answer)(Service&, ReadAsk, const Respond&)) {
  router.add("POST", path, [&service, answer](Request&& request, const Respond& respond) {
    const auto read_and_answer = [&service, answer](Request& kept, const Respond& reply, Clock::time_point deadline) {
      ReadAsk read{parse_predict(kept, service.options().body), nullptr, deadline};
      read.model = service.model_named(read.ask.options.model);
      if (!read.model) return reply(no_such_model(read.ask.options.model));
      answer(service, std::move(read), reply);
    };
    service.with_body(std::move(request), respond, read_and_answer);
  });
}

// The value of an attribute of the first tag of that name; empty when there is none.
std::string attribute_of(std::string_view text, std::string_view tag, std::string_view attribute) {
  const std::size_t begin = text.find(tag);
  if (begin == std::string_view::npos) return {};
  const std::string_view inside = text.substr(begin, text.find('>', begin) - begin);
  const std::string key = fmt::format(" {}=\"", attribute);
  const std::size_t from = inside.find(key);
  if (from == std::string_view::npos) return {};
  const std::string_view rest = inside.substr(from + key.size());
  return std::string(rest.substr(0, rest.find('"')));
}

Response plain_answer(std::string body) {
  Response response;
  response.body = std::move(body);
  return response;
}

}  // namespace

LabelTags label_tags_of(std::string_view label_config) {
  LabelTags tags;
  const std::string from = attribute_of(label_config, "<Choices", "name");
  const std::string to = attribute_of(label_config, "<Choices", "toName");
  if (!from.empty()) tags.from_name = from;
  if (!to.empty()) tags.to_name = to;
  return tags;
}

void add_predict_routes(Service& service, Router& router) {
  add_ask(service, router, "/predict", predict);
  add_ask(service, router, "/embed", embed);
  router.add("GET", "/health", [](Request&&, const Respond& respond) {
    respond(plain_answer("{\"status\":\"UP\",\"model_class\":\"Annulus\"}\n"));
  });
  router.add("POST", "/setup", [&service](Request&&, const Respond& respond) {
    respond(plain_answer(fmt::format("{{\"model_version\":{}}}\n", json_string(service.model_named("")->version()))));
  });
  // Label Studio reports annotations here; models are trained by `annulus fit` and loaded when their file changes.
  router.add("POST", "/webhook",
             [](Request&&, const Respond& respond) { respond(plain_answer("{\"status\":\"ok\"}\n")); });
}

}  // namespace annulus::server
