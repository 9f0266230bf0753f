// Counters and histograms as text.
#include "server/predict/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "annulus/base/version.h"

namespace annulus::server {
namespace {

std::vector<double> second_bounds() {
  return {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0};
}
std::vector<double> batch_bounds() { return {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}; }
std::vector<double> margin_bounds() { return {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0}; }

// A label's value: backslash, quote and line end are escaped.
std::string label_value(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\\' || c == '"') result += '\\';
    result += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return result + "\"";
}

void head(std::string_view name, std::string_view kind, std::string_view what, std::string& out) {
  out += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, kind, what);
}

}  // namespace

void Histogram::add(double value) {
  const auto place = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  ++counts_[static_cast<std::size_t>(place)];
  sum_ += value;
}

void Histogram::write(std::string_view name, const std::string& labels, std::string& out) const {
  const std::string before = labels.empty() ? "" : labels + ",";
  const std::string around = labels.empty() ? "" : "{" + labels + "}";
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    total += counts_[i];
    const std::string bound = i < bounds_.size() ? fmt::format("{}", bounds_[i]) : "+Inf";
    out += fmt::format("{}_bucket{{{}le=\"{}\"}} {}\n", name, before, bound, total);
  }
  out += fmt::format("{0}_sum{1} {2}\n{0}_count{1} {3}\n", name, around, sum_, total);
}

Metrics::ModelCounts::ModelCounts() : margins(margin_bounds()) {}

Metrics::Metrics() : batch_rows_(batch_bounds()) {}

void Metrics::request(const std::string& route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
  seconds_.try_emplace(route, second_bounds()).first->second.add(seconds);
}

void Metrics::batch(std::size_t rows) {
  const std::lock_guard lock(mutex_);
  batch_rows_.add(static_cast<double>(rows));
}

void Metrics::predicted(const std::string& model, const std::vector<float>& margins, std::size_t unknown) {
  const std::lock_guard lock(mutex_);
  ModelCounts& counts = models_[model];
  counts.predictions += margins.size();
  counts.unknown += unknown;
  for (const float margin : margins) counts.margins.add(static_cast<double>(margin));
}

void Metrics::rejected(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  ++rejected_[reason];
}

void Metrics::decoder_ended(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  ++decoders_ended_[reason];
}

void Metrics::reloaded(const std::string& model, bool success) {
  const std::lock_guard lock(mutex_);
  ++reloads_[{model, success}];
}

std::string Metrics::text(const Gauges& gauges) const {
  std::string out;
  const std::lock_guard lock(mutex_);
  head("annulus_info", "gauge", "Version of the program.", out);
  out += fmt::format("annulus_info{{version={}}} 1\n", label_value(kVersion));
  head("annulus_model_info", "gauge", "Models that are served, with their version.", out);
  for (const auto& [name, version] : gauges.models) {
    out += fmt::format("annulus_model_info{{model={},version={}}} 1\n", label_value(name), label_value(version));
  }
  head("annulus_requests_total", "counter", "Requests by route and status.", out);
  for (const auto& [key, count] : requests_) {
    out +=
        fmt::format("annulus_requests_total{{route={},status=\"{}\"}} {}\n", label_value(key.first), key.second, count);
  }
  head("annulus_request_seconds", "histogram", "Time from a request that was read to its response, by route.", out);
  for (const auto& [route, histogram] : seconds_) {
    histogram.write("annulus_request_seconds", "route=" + label_value(route), out);
  }
  head("annulus_batch_rows", "histogram", "Rows that were predicted together.", out);
  batch_rows_.write("annulus_batch_rows", "", out);
  head("annulus_queue_rows", "gauge", "Rows of features that wait.", out);
  out += fmt::format("annulus_queue_rows {}\n", gauges.queued_rows);
  head("annulus_queue_images", "gauge", "Images and large bodies that wait.", out);
  out += fmt::format("annulus_queue_images {}\n", gauges.queued_images);
  head("annulus_rejected_total", "counter", "Requests that were turned away, by reason.", out);
  for (const auto& [reason, count] : rejected_) {
    out += fmt::format("annulus_rejected_total{{reason={}}} {}\n", label_value(reason), count);
  }
  head("annulus_decoders_ended_total", "counter",
       "Processes that decode images and ended before their time, by reason.", out);
  for (const auto& [reason, count] : decoders_ended_) {
    out += fmt::format("annulus_decoders_ended_total{{reason={}}} {}\n", label_value(reason), count);
  }
  head("annulus_predictions_total", "counter", "Inputs predicted, by model.", out);
  for (const auto& [name, counts] : models_) {
    out += fmt::format("annulus_predictions_total{{model={}}} {}\n", label_value(name), counts.predictions);
  }
  head("annulus_unknown_total", "counter", "Inputs rejected as unknown, by model.", out);
  for (const auto& [name, counts] : models_) {
    out += fmt::format("annulus_unknown_total{{model={}}} {}\n", label_value(name), counts.unknown);
  }
  head("annulus_margin", "histogram",
       "Probability of the prediction minus that of the runner-up: drifts when inputs do.", out);
  for (const auto& [name, counts] : models_) counts.margins.write("annulus_margin", "model=" + label_value(name), out);
  head("annulus_model_loads_total", "counter", "Times a model file was read again, by result.", out);
  for (const auto& [key, count] : reloads_) {
    out += fmt::format("annulus_model_loads_total{{model={},result=\"{}\"}} {}\n", label_value(key.first),
                       key.second ? "loaded" : "kept_old", count);
  }
  return out;
}

float margin_of(const Prediction& prediction) {
  if (prediction.top.empty()) return 0.0F;
  return prediction.top[0].probability - (prediction.top.size() > 1 ? prediction.top[1].probability : 0.0F);
}

}  // namespace annulus::server
