// Counters and histograms in the text format of Prometheus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/learn/model/predictor.h"

namespace annulus::server {

// Counts of values below a few bounds.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
  void add(double value);
  // `labels` is "" or `a="b"`.
  void write(std::string_view name, const std::string& labels, std::string& out) const;

 private:
  std::vector<double> bounds_;
  std::vector<std::uint64_t> counts_;
  double sum_ = 0.0;
};

// Values at the time of the request.
struct Gauges {
  std::size_t queued_rows = 0;
  std::size_t queued_images = 0;
  std::vector<std::pair<std::string, std::string>> models;  // name, version
};

// Safe from several threads; labels are routes, statuses and models, all of which are few.
class Metrics {
 public:
  Metrics();
  void request(const std::string& route, int status, double seconds);
  void batch(std::size_t rows);
  void predicted(const std::string& model, const std::vector<float>& margins, std::size_t unknown);
  void rejected(const std::string& reason);
  void decoder_ended(const std::string& reason);
  void reloaded(const std::string& model, bool success);
  std::string text(const Gauges& gauges) const;

 private:
  struct ModelCounts {
    ModelCounts();
    std::uint64_t predictions = 0;
    std::uint64_t unknown = 0;
    Histogram margins;
  };

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  std::map<std::string, Histogram> seconds_;
  Histogram batch_rows_;
  std::map<std::string, ModelCounts> models_;
  std::map<std::string, std::uint64_t> rejected_;
  std::map<std::string, std::uint64_t> decoders_ended_;
  std::map<std::pair<std::string, bool>, std::uint64_t> reloads_;
};

// The margin of a prediction: its probability minus that of the runner-up.
float margin_of(const Prediction& prediction);

}  // namespace annulus::server
