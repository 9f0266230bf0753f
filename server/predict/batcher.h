// Combines rows of many requests into batches, so that one product computes them all.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/worker_thread.h"
#include "annulus/learn/model/predictor.h"
#include "server/http/http.h"
#include "server/predict/metrics.h"
#include "server/predict/served_model.h"

namespace annulus::server {

using Clock = std::chrono::steady_clock;

struct BatchOptions {
  std::size_t max_rows = 64;              // of a batch; a request with more is a batch of its own
  std::chrono::microseconds max_wait{0};  // for others to join; 0: only what came while others were computed
  std::size_t max_queue_rows = 8192;      // waiting; more are turned away
  int threads = 1;                        // that compute batches
};

struct BatchResult {
  std::vector<Prediction> predictions;  // one per row
  std::optional<Response> failure;      // or why there are none
};

struct RowJob {
  std::shared_ptr<const ServedModel> model;
  bool explain = false;
  bool all_classes = false;
  Matrix<float> rows;
  Clock::time_point deadline;
  std::function<void(BatchResult)> done;  // called once, on a batcher's thread
};

// The response to a request whose deadline has passed.
Response too_late();

class Batcher {
 public:
  Batcher(const BatchOptions& options, Metrics& metrics);
  // Jobs that wait are dropped without a call of done.
  ~Batcher();
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  // False if too many rows wait; the job is then unchanged. `admitted` jobs were accepted before (images that became
  // rows) and are always taken.
  bool submit(RowJob& job, bool admitted = false);
  std::size_t waiting_rows() const;

 private:
  using Jobs = std::vector<RowJob>;

  void work();
  Jobs take(std::unique_lock<std::mutex>& lock);
  void move_alike(Jobs& jobs, std::size_t& rows);
  void predict(Jobs& jobs);

  BatchOptions options_;
  Metrics& metrics_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<RowJob> queue_;
  std::size_t waiting_rows_ = 0;
  bool stopping_ = false;
  std::vector<WorkerThread> threads_;
};

}  // namespace annulus::server
