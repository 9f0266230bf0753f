// The state that all endpoints of the predict server share: models, queues, limits, counts.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "annulus/vision/image/image.h"
#include "server/decode/decoders.h"
#include "server/http/http.h"
#include "server/http/http_server.h"
#include "server/http/log.h"
#include "server/http/task_pool.h"
#include "server/predict/batcher.h"
#include "server/predict/metrics.h"
#include "server/predict/model_repository.h"
#include "server/predict/predict_body.h"

namespace annulus::server {

struct ServeOptions {
  HttpOptions http;
  BatchOptions batch;
  BodyLimits body;
  DecodeLimits image{50'000'000, 20'000, std::size_t{32} << 20};
  std::size_t max_response_numbers = std::size_t{1} << 22;  // probabilities or features in one response; more get 422
  std::size_t max_queue_images = 256;
  int image_threads = 0;                       // that decode and encode; 0: all processors
  std::chrono::milliseconds deadline{10'000};  // from a request that was read to its response
  std::chrono::milliseconds watch{1'000};      // between two checks of the model files
  double false_reject = kFalseReject;          // unless a request sets it
  std::string token;                           // empty: no token is needed
  std::vector<std::string> cors_origins;       // whose pages may ask; "*": any; others get 403
  EncoderOptions encoder;
  bool features_only = false;  // no backbone is opened, and images get 422
  // Processes that decode images apart from this one; no command: images are decoded in this one.
  DecoderOptions decoder;
};

// A prediction request, ready to be computed.
struct PredictWork {
  std::shared_ptr<const ServedModel> model;
  AskOptions options;
  bool all_classes = false;
  std::vector<std::string> images;  // or rows
  Matrix<float> rows;
  Clock::time_point deadline;
};

struct ImageWork;

class Service {
 public:
  Service(const ServeOptions& options, const std::vector<ModelSource>& sources, const LogSink& log,
          const ProgressCallback& progress);

  const ServeOptions& options() const { return options_; }
  Metrics& metrics() { return metrics_; }
  ModelRepository& models() { return models_; }
  Gauges gauges() const;
  double false_reject(const AskOptions& options) const { return options.false_reject.value_or(options_.false_reject); }

  // Null when there is none of that name.
  std::shared_ptr<const ServedModel> model_named(const std::string& name) const { return models_.find(name); }

  // Runs `body(request, respond, deadline)` here when the request is small, else on a thread that may take long. The
  // time until the deadline runs from this call; a request that waited for a thread until then gets 504. Errors it
  // throws become the response; a full queue becomes 429.
  using Body = std::function<void(Request&, const Respond&, Clock::time_point deadline)>;
  void with_body(Request&& request, const Respond& respond, Body body);

  // Runs work that takes long on another thread. Errors it throws become the response; a full queue becomes 429.
  void later(const Respond& respond, std::function<void()> work);

  // Throws Error{kInput} if a response would contain more values than max_response_numbers.
  void check_size(const ServedModel& model, std::size_t rows, std::size_t numbers_a_row) const;

  // Features of images, in order, then `use` of them on another thread; or a failure as the response.
  using UseRows = std::function<void(Matrix<float>)>;
  void encode(std::shared_ptr<const ServedModel> model, std::vector<std::string> images, Clock::time_point deadline,
              const Respond& respond, UseRows use);

  // Predictions for all rows or images, converted to a response by `make`.
  using MakeResponse = std::function<Response(const ServedModel&, const std::vector<Prediction>&)>;
  void predict(PredictWork work, const Respond& respond, MakeResponse make);

 private:
  void encode_one(ImageWork& work, std::size_t index);
  void predict_rows(PredictWork work, bool admitted, const Respond& respond, MakeResponse make);
  Response too_busy();

  ServeOptions options_;
  Metrics metrics_;
  ModelRepository models_;
  Batcher batcher_;
  std::unique_ptr<Decoders> decoders_;  // null: images are decoded in this process
  TaskPool pool_;
};

Response no_such_model(const std::string& name);

}  // namespace annulus::server
