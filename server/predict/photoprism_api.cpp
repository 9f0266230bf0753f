// PhotoPrism's vision service: https://docs.photoprism.app, "Vision API".
#include "server/predict/photoprism_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/json_string.h"
#include "server/predict/predict_body.h"

namespace annulus::server {

std::vector<PhotoLabel> photo_labels_of(const ServedModel& model, std::span<const Prediction> predictions,
                                        double false_reject) {
  std::vector<PhotoLabel> labels;
  for (const Prediction& prediction : predictions) {
    if (model.rejects(prediction.unknown_score, false_reject)) continue;
    const std::string& name = model.name_of(prediction);
    const auto same =
        std::find_if(labels.begin(), labels.end(), [&](const PhotoLabel& label) { return label.name == name; });
    if (same == labels.end()) {
      labels.push_back({name, prediction.probability});
    } else {
      same->confidence = std::max(same->confidence, prediction.probability);
    }
  }
  std::sort(labels.begin(), labels.end(), [](const PhotoLabel& a, const PhotoLabel& b) {
    return a.confidence != b.confidence ? a.confidence > b.confidence : a.name < b.name;
  });
  return labels;
}

std::string labels_json(std::string_view id, const ServedModel& model, std::span<const PhotoLabel> labels) {
  std::string text =
      fmt::format(R"({{"id":{},"code":200,"model":{{"type":"labels","name":{},"version":{}}},"result":{{"labels":[)",
                  json_string(id), json_string(model.name()), json_string(model.version()));
  const auto to = std::back_inserter(text);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    fmt::format_to(to, R"({}{{"name":{},"source":"image","confidence":{},"topicality":{}}})", i == 0 ? "" : ",",
                   json_string(labels[i].name), labels[i].confidence, labels[i].confidence);
  }
  text += "]}}\n";
  return text;
}

void add_photoprism_routes(Service& service, Router& router) {
  const auto read_and_answer = [&service](Request& request, const Respond& respond, Clock::time_point deadline) {
    PredictAsk ask = parse_predict(request, service.options().body);
    if (ask.images.empty()) {
      fail(ErrorKind::kInput, "expected images as data: URIs, found none (nothing is fetched by address)");
    }
    const auto model = service.model_named(ask.options.model);
    if (!model) return respond(no_such_model(ask.options.model));
    const double fraction = service.false_reject(ask.options);
    service.predict(
        {model, {}, false, std::move(ask.images), {}, deadline}, respond,
        [fraction, id = std::move(ask.id)](const ServedModel& served, const std::vector<Prediction>& predictions) {
          Response response;
          response.body = labels_json(id, served, photo_labels_of(served, predictions, fraction));
          return response;
        });
  };
  router.add("POST", "/api/v1/vision/labels", [&service, read_and_answer](Request&& request, const Respond& respond) {
    service.with_body(std::move(request), respond, read_and_answer);
  });
}

}  // namespace annulus::server
