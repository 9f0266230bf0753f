// From a parsed request to its response: images become features on the pool, features become predictions in batches.
#include "server/predict/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "annulus/base/parallel.h"
#include "annulus/pipeline/encode.h"
#include "annulus/vision/preprocess/preprocess.h"

namespace annulus::server {
namespace {

// Bodies up to this size are parsed on the I/O thread: that takes well under a millisecond.
constexpr std::size_t kSmallBody = std::size_t{64} << 10;

int threads_or_all(int threads) { return threads > 0 ? threads : hardware_threads(); }

BatchOptions with_threads(BatchOptions options) {
  options.threads = threads_or_all(options.threads);
  return options;
}

// Null where images are decoded in this process, or none are taken. Throws Error{kIo} about the field "no_sandbox".
std::unique_ptr<Decoders> open_decoders(const ServeOptions& options, Metrics& metrics, const LogSink& log) {
  if (options.decoder.command.empty() || options.features_only) return nullptr;
  const auto ended = [&metrics, log](const std::string& reason) {
    metrics.decoder_ended(reason);
    log({LogLevel::kWarning, "decoder ended", {{"reason", reason}}});
  };
  try {
    return std::make_unique<Decoders>(options.decoder, options.image, ended);
  } catch (const Error& error) {
    fail_field(ErrorKind::kIo, "no_sandbox",
               "expected {} where images cannot be decoded in a process of their own without files and network, found "
               "that they cannot: {}",
               error.what());
  }
}

bool is_finite(const Prediction& prediction) {
  return std::all_of(prediction.top.begin(), prediction.top.end(),
                     [](const RankedClass& ranked) { return std::isfinite(ranked.probability); });
}

}  // namespace

// Images of one request, on their way through several threads.
struct ImageWork {
  std::shared_ptr<const ServedModel> model;
  std::vector<std::string> images;
  Matrix<float> rows;
  Clock::time_point deadline;
  Respond respond;
  Service::UseRows use;
  std::atomic<std::size_t> left;
  std::atomic<bool> failed{false};

  void fail_with(Response response) {
    if (!failed.exchange(true)) respond(std::move(response));
  }
};

Response no_such_model(const std::string& name) {
  return error_response(404, fmt::format("there is no model named \"{}\"", name));
}

Service::Service(const ServeOptions& options, const std::vector<ModelSource>& sources, const LogSink& log,
                 const ProgressCallback& progress)
    : options_(options),
      models_(sources, options.encoder, options.features_only, metrics_, log, progress),
      batcher_(with_threads(options.batch), metrics_),
      decoders_(open_decoders(options, metrics_, log)),
      pool_("images", threads_or_all(options.image_threads), options.max_queue_images) {}

Gauges Service::gauges() const {
  Gauges gauges{batcher_.waiting_rows(), pool_.waiting(), {}};
  for (const auto& model : models_.all()) gauges.models.emplace_back(model->name(), model->version());
  return gauges;
}

Response Service::too_busy() {
  metrics_.rejected("queue");
  Response response = error_response(429, "too many requests are waiting, come back later");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

void Service::with_body(Request&& request, const Respond& respond, Body body) {
  const Clock::time_point deadline = Clock::now() + options_.deadline;
  if (request.body.size() <= kSmallBody) return body(request, respond, deadline);
  const auto kept = std::make_shared<Request>(std::move(request));
  later(respond, [this, kept, respond, deadline, read = std::move(body)] {
    if (Clock::now() >= deadline) {
      metrics_.rejected("deadline");
      return respond(too_late());
    }
    read(*kept, respond, deadline);
  });
}

void Service::later(const Respond& respond, std::function<void()> work) {
  const auto run = [respond, body = std::move(work)] {
    try {
      body();
    } catch (const Error& error) {
      respond(error_response(error));
    } catch (const std::exception&) {
      respond(error_response(500, "a defect of this program, or not enough memory"));
    }
  };
  if (!pool_.submit({run})) respond(too_busy());
}

void Service::check_size(const ServedModel& model, std::size_t rows, std::size_t numbers_a_row) const {
  if (rows > 0 && numbers_a_row > options_.max_response_numbers / rows) {
    fail(ErrorKind::kInput,
         "expected an answer of at most {} numbers, found {} times {} from the model \"{}\": ask for fewer at a time",
         options_.max_response_numbers, rows, numbers_a_row, model.name());
  }
}

void Service::encode_one(ImageWork& work, std::size_t index) {
  if (work.failed) return;
  if (Clock::now() >= work.deadline) {
    metrics_.rejected("deadline");
    return work.fail_with(too_late());
  }
  const std::string name = work.images.size() == 1 ? "the image" : fmt::format("image {}", index);
  try {
    const std::string bytes = std::move(work.images[index]);
    const Encoder& encoder = *work.model->encoder();
    DecodeOptions decode = decode_options(encoder.parts.front().recipe);
    decode.limits = options_.image;
    decode.limits.deadline = work.deadline;
    const auto use = [&](const Image& image) {
      const std::vector<float> row = encode_image(image, name, encoder);
      std::copy(row.begin(), row.end(), work.rows.row(index).begin());
    };
    const auto file = std::as_bytes(std::span(bytes));
    if (decoders_) {
      decoders_->decode(file, decode, name, use);
    } else {
      use(decode_image(file, decode, name));
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCancelled) {
      metrics_.rejected("deadline");
      return work.fail_with(too_late());
    }
    const bool theirs = error.kind() == ErrorKind::kFormat || error.kind() == ErrorKind::kInput;
    work.fail_with(error_response(theirs ? 422 : status_of(error.kind()), error.what()));
  } catch (const std::exception&) {
    work.fail_with(error_response(500, "a defect of this program, or not enough memory"));
  }
}

void Service::encode(std::shared_ptr<const ServedModel> model, std::vector<std::string> images,
                     Clock::time_point deadline, const Respond& respond, UseRows use) {
  if (model->encoder() == nullptr) {
    return respond(error_response(422, fmt::format("the model \"{}\" takes features only: its backbone is not known or "
                                                   "could not be opened",
                                                   model->name())));
  }
  const auto work = std::make_shared<ImageWork>();
  work->rows = Matrix<float>(images.size(), model->encoder()->dimension());
  work->left = images.size();
  work->model = std::move(model);
  work->images = std::move(images);
  work->deadline = deadline;
  work->respond = respond;
  work->use = std::move(use);
  std::vector<std::function<void()>> tasks;
  for (std::size_t i = 0; i < work->images.size(); ++i) {
    tasks.emplace_back([this, work, i] {
      encode_one(*work, i);
      if (--work->left == 0 && !work->failed) work->use(std::move(work->rows));
    });
  }
  if (!pool_.submit(std::move(tasks))) respond(too_busy());
}

void Service::predict(PredictWork work, const Respond& respond, MakeResponse make) {
  if (work.options.explain && work.model->model().support.empty()) {
    fail(ErrorKind::kInput, "the model \"{}\" keeps none of its training examples to explain predictions by",
         work.model->name());
  }
  work.all_classes = work.all_classes || work.options.top > kUsualTop;
  const std::size_t classes = work.model->quoted_names().size();
  check_size(*work.model, std::max(work.images.size(), work.rows.rows()),
             work.all_classes ? classes : std::min(work.options.top, classes));
  if (work.images.empty()) return predict_rows(std::move(work), false, respond, std::move(make));
  std::vector<std::string> images = std::move(work.images);
  const auto kept = std::make_shared<PredictWork>(std::move(work));
  encode(kept->model, std::move(images), kept->deadline, respond,
         [this, kept, respond, make = std::move(make)](Matrix<float> rows) mutable {
           kept->rows = std::move(rows);
           predict_rows(std::move(*kept), true, respond, std::move(make));
         });
}

void Service::predict_rows(PredictWork work, bool admitted, const Respond& respond, MakeResponse make) {
  const std::size_t dimension = work.model->model().head.dimension();
  if (work.rows.cols() != dimension) {
    return respond(
        error_response(422, fmt::format("expected features of {} dimensions, as the model \"{}\" was trained on, "
                                        "found {}",
                                        dimension, work.model->name(), work.rows.cols())));
  }
  RowJob job{work.model, work.options.explain, work.all_classes, std::move(work.rows), work.deadline, {}};
  job.done = [this, model = work.model, fraction = false_reject(work.options), respond,
              make = std::move(make)](const BatchResult& result) {
    if (result.failure) return respond(*result.failure);
    if (!std::all_of(result.predictions.begin(), result.predictions.end(), is_finite)) {
      return respond(error_response(
          422, fmt::format("the model \"{}\" gives no finite probabilities for these features: one or the other has "
                           "numbers that are too large",
                           model->name())));
    }
    std::vector<float> margins;
    std::size_t unknown = 0;
    for (const Prediction& prediction : result.predictions) {
      margins.push_back(margin_of(prediction));
      if (model->rejects(prediction.unknown_score, fraction)) ++unknown;
    }
    metrics_.predicted(model->name(), margins, unknown);
    respond(make(*model, result.predictions));
  };
  if (!batcher_.submit(job, admitted)) respond(too_busy());
}

}  // namespace annulus::server
