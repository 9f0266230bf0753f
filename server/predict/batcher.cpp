// Takes the oldest job and those behind it that can be predicted together with it.
#include "server/predict/batcher.h"

#include <algorithm>
#include <utility>

namespace annulus::server {
namespace {

// Jobs looked at behind the first: bounds the time that the queue is locked.
constexpr std::size_t kLookAhead = 1024;

bool alike(const RowJob& a, const RowJob& b) {
  return a.model == b.model && a.explain == b.explain && a.all_classes == b.all_classes &&
         a.rows.cols() == b.rows.cols();
}

BatchResult failed(Response response) { return {{}, std::move(response)}; }

std::vector<Prediction> predictions_of(const RowJob& first, ConstMatrixView<float> rows) {
  return first.model->predictor(first.explain, first.all_classes).predict(rows);
}

void predict_alone(RowJob& job) {
  BatchResult result;
  try {
    result.predictions = predictions_of(job, job.rows.view());
  } catch (const Error& error) {
    result = failed(error_response(error));
  } catch (const std::exception&) {
    result = failed(error_response(500, "a defect of this program, or not enough memory"));
  }
  job.done(std::move(result));
}

}  // namespace

Response too_late() { return error_response(504, "the request waited longer than its deadline"); }

Batcher::Batcher(const BatchOptions& options, Metrics& metrics) : options_(options), metrics_(metrics) {
  for (int i = 0; i < options.threads; ++i) threads_.emplace_back("batches", [this] { work(); });
}

Batcher::~Batcher() {
  std::deque<RowJob> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
  }
  ready_.notify_all();
  threads_.clear();
}

bool Batcher::submit(RowJob& job, bool admitted) {
  const std::size_t rows = job.rows.rows();
  {
    const std::lock_guard lock(mutex_);
    if (!admitted && waiting_rows_ > 0 && waiting_rows_ + rows > options_.max_queue_rows) return false;
    waiting_rows_ += rows;
    queue_.push_back(std::move(job));
  }
  ready_.notify_one();
  return true;
}

std::size_t Batcher::waiting_rows() const {
  const std::lock_guard lock(mutex_);
  return waiting_rows_;
}

// Moves what is like the first of `jobs` and still fits from the queue behind it.
void Batcher::move_alike(Jobs& jobs, std::size_t& rows) {
  std::size_t looked = 0;
  for (auto job = queue_.begin(); job != queue_.end() && rows < options_.max_rows && looked < kLookAhead; ++looked) {
    if (!alike(jobs.front(), *job) || rows + job->rows.rows() > options_.max_rows) {
      ++job;
      continue;
    }
    rows += job->rows.rows();
    waiting_rows_ -= job->rows.rows();
    jobs.push_back(std::move(*job));
    job = queue_.erase(job);
  }
}

Batcher::Jobs Batcher::take(std::unique_lock<std::mutex>& lock) {
  Jobs jobs;
  ready_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  if (stopping_) return jobs;
  jobs.push_back(std::move(queue_.front()));
  queue_.pop_front();
  std::size_t rows = jobs.front().rows.rows();
  waiting_rows_ -= rows;
  move_alike(jobs, rows);
  const Clock::time_point until = Clock::now() + options_.max_wait;
  while (options_.max_wait.count() > 0 && rows < options_.max_rows && !stopping_ && Clock::now() < until) {
    ready_.wait_until(lock, until);
    move_alike(jobs, rows);
  }
  return jobs;
}

void Batcher::work() {
  for (;;) {
    try {
      Jobs jobs;
      {
        std::unique_lock lock(mutex_);
        jobs = take(lock);
        if (stopping_) return;
      }
      predict(jobs);
    } catch (const std::exception&) {
      // Not enough memory, most likely: the requests of these jobs get status 500 as they are given back.
    }
  }
}

void Batcher::predict(Jobs& jobs) {
  const Clock::time_point now = Clock::now();
  const auto late =
      std::stable_partition(jobs.begin(), jobs.end(), [now](const RowJob& job) { return job.deadline > now; });
  for (auto job = late; job != jobs.end(); ++job) {
    metrics_.rejected("deadline");
    job->done(failed(too_late()));
  }
  jobs.erase(late, jobs.end());
  if (jobs.empty()) return;
  std::size_t count = 0;
  for (const RowJob& job : jobs) count += job.rows.rows();
  metrics_.batch(count);
  if (jobs.size() == 1) return predict_alone(jobs.front());

  Matrix<float> rows(count, jobs.front().rows.cols());
  std::size_t at = 0;
  for (const RowJob& job : jobs) {
    for (std::size_t i = 0; i < job.rows.rows(); ++i, ++at) {
      std::copy(job.rows.row(i).begin(), job.rows.row(i).end(), rows.row(at).begin());
    }
  }
  std::vector<Prediction> predictions;
  try {
    predictions = predictions_of(jobs.front(), rows.view());
  } catch (const std::exception&) {
    // One of them is at fault: the others must not suffer for it.
    for (RowJob& job : jobs) predict_alone(job);
    return;
  }
  at = 0;
  for (RowJob& job : jobs) {
    const auto begin = predictions.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(job.rows.rows());
    at += job.rows.rows();
    job.done({{std::make_move_iterator(begin), std::make_move_iterator(end)}, {}});
  }
}

}  // namespace annulus::server
