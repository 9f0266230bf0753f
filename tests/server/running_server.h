// A predict server on a free port that runs for as long as a test, with a small model that takes milliseconds to fit.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "annulus/learn/fit_model.h"
#include "annulus/store/model_file.h"
#include "annulus/task/synthetic.h"
#include "server/predict_server.h"
#include "tests/server/raw_client.h"

namespace annulus::server {

constexpr std::size_t kDimension = 16;

// Generated features of six classes.
inline FeatureSet six_classes(std::size_t dimension) {
  SyntheticOptions options;
  options.classes = 6;
  options.train_rows = 6;
  options.test_rows = 5;
  options.dimension = dimension;
  options.noise = 0.5;
  return make_synthetic(options);
}

inline const FeatureSet& small_set() {
  static const FeatureSet set = six_classes(kDimension);
  return set;
}

// A model of a set's training rows; another for each seed.
inline Model model_of_set(const FeatureSet& set, std::uint64_t seed = 1) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < set.rows(); ++i) {
    if (set.is_train().empty() || set.is_train()[i] != 0) rows.push_back(i);
  }
  Recipe recipe = recipe_named("ibm2");
  set_epochs(recipe, 8);
  set_seed(recipe, seed);
  FitModelOptions options;
  options.method = "baseline";
  return fit_model(training_data(set, rows), recipe, options).model;
}

inline Model small_model(std::uint64_t seed = 1) { return model_of_set(small_set(), seed); }

// A folder that dies with the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "annulus-server-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

class RunningServer {
 public:
  explicit RunningServer(ServeOptions options = {}, const std::vector<std::string>& models = {},
                         const Model& first = small_model()) {
    options.http.port = 0;
    write_model(first, folder_ / "small.safetensors");
    std::vector<ModelSource> sources{{"small", folder_ / "small.safetensors"}};
    for (const std::string& name : models) {
      write_model(small_model(2), folder_ / (name + ".safetensors"));
      sources.push_back({name, folder_ / (name + ".safetensors")});
    }
    server_ = std::make_unique<PredictServer>(options, sources, [this](const LogEvent& event) {
      const std::lock_guard lock(mutex_);
      events_.push_back(event);
    });
    thread_ = std::thread([this] { server_->run(); });
  }
  ~RunningServer() { stop(); }

  void stop() {
    server_->stop();
    if (thread_.joinable()) thread_.join();
  }
  PredictServer& server() { return *server_; }
  std::uint16_t port() const { return server_->port(); }
  std::string file() const { return folder_ / "small.safetensors"; }

  std::size_t count(const std::string& event) {
    const std::lock_guard lock(mutex_);
    std::size_t found = 0;
    for (const LogEvent& entry : events_) found += entry.event == event ? 1U : 0U;
    return found;
  }

 private:
  Folder folder_;
  std::mutex mutex_;
  std::vector<LogEvent> events_;
  std::unique_ptr<PredictServer> server_;
  std::thread thread_;
};

inline const std::vector<std::string>& json_header() {
  static const std::vector<std::string> header{"Content-Type: application/json"};
  return header;
}

// {"features": [[...], ...]} of rows [first, first + count) of the small set.
inline std::string features_body(std::size_t first, std::size_t count = 1) {
  nlohmann::json rows = nlohmann::json::array();
  Matrix<float> block(count, kDimension);
  small_set().copy_rows(first, block.view());
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(std::vector<float>(block.row(i).begin(), block.row(i).end()));
  }
  return nlohmann::json{{"features", rows}}.dump();
}

}  // namespace annulus::server
