// A Team of threads within one process: what MPI does between processes, for tests.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "annulus/base/team.h"

namespace annulus {

// Where the members of a team meet. When one of them fails, those who wait for it fail, too.
struct MeetingPlace {
  MeetingPlace(std::size_t members, std::shared_ptr<std::atomic<bool>> shared_failure)
      : size(members), slots(members), failed(std::move(shared_failure)) {}

  void meet() {
    std::unique_lock lock(mutex);
    const std::size_t own = round;
    if (++arrived == size) {
      arrived = 0;
      ++round;
      changed.notify_all();
      return;
    }
    while (round == own) {
      if (failed->load()) throw std::runtime_error("another member failed");
      changed.wait_for(lock, std::chrono::milliseconds(5));
    }
  }

  std::size_t size;
  std::vector<void*> slots;  // one a member; written before one meeting, read before the next
  std::shared_ptr<std::atomic<bool>> failed;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t arrived = 0;
  std::size_t round = 0;
  std::map<std::size_t, std::shared_ptr<MeetingPlace>> parts;
  std::map<std::size_t, std::deque<std::vector<float>>> parcels;  // of each sender
};

class ThreadTeam : public Team {
 public:
  ThreadTeam(std::shared_ptr<MeetingPlace> place, std::size_t rank) : place_(std::move(place)), rank_(rank) {}

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return place_->size; }
  void sum(std::span<double> numbers) override { combine(numbers, std::plus<>()); }
  void sum(std::span<float> numbers) override { combine(numbers, std::plus<>()); }
  void largest(std::span<double> numbers) override { combine(numbers, kLarger); }
  void largest(std::span<float> numbers) override { combine(numbers, kLarger); }
  std::unique_ptr<Pending> start_sum(std::span<double> numbers) override { return start(numbers, std::plus<>()); }
  std::unique_ptr<Pending> start_sum(std::span<float> numbers) override { return start(numbers, std::plus<>()); }
  std::unique_ptr<Pending> start_largest(std::span<double> numbers) override { return start(numbers, kLarger); }
  std::unique_ptr<Pending> start_largest(std::span<float> numbers) override { return start(numbers, kLarger); }

  void broadcast(std::span<std::byte> bytes) override {
    place_->slots[rank_] = bytes.data();
    place_->meet();
    if (rank_ != 0) std::copy_n(static_cast<const std::byte*>(place_->slots[0]), bytes.size(), bytes.begin());
    place_->meet();
  }

  void hand_over(std::size_t from, std::span<float> numbers) override {
    std::unique_lock lock(place_->mutex);
    auto& parcels = place_->parcels[from];
    if (rank_ == from) {
      parcels.emplace_back(numbers.begin(), numbers.end());
      place_->changed.notify_all();
      return;
    }
    while (parcels.empty()) {
      if (place_->failed->load()) throw std::runtime_error("another member failed");
      place_->changed.wait_for(lock, std::chrono::milliseconds(5));
    }
    std::copy_n(parcels.front().begin(), numbers.size(), numbers.begin());
    parcels.pop_front();
  }

  void meet() override { place_->meet(); }

  std::unique_ptr<Team> split(std::size_t group) override {
    place_->slots[rank_] = &group;
    place_->meet();
    std::size_t members = 0;
    std::size_t before = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      if (*static_cast<const std::size_t*>(place_->slots[i]) != group) continue;
      if (i < rank_) ++before;
      ++members;
    }
    std::shared_ptr<MeetingPlace> part;
    {
      const std::lock_guard lock(place_->mutex);
      auto& found = place_->parts[group];
      if (!found) found = std::make_shared<MeetingPlace>(members, place_->failed);
      part = found;
    }
    place_->meet();
    if (rank_ == 0) place_->parts.clear();
    place_->meet();
    return std::make_unique<ThreadTeam>(part, before);
  }

 private:
  struct Done : Pending {
    void wait() override {}
  };
  static constexpr auto kLarger = [](auto a, auto b) { return std::max(a, b); };

  template <class T, class Operation>
  std::unique_ptr<Pending> start(std::span<T> numbers, const Operation& operation) {
    combine(numbers, operation);
    return std::make_unique<Done>();
  }

  template <class T, class Operation>
  void combine(std::span<T> numbers, const Operation& operation) {
    place_->slots[rank_] = numbers.data();
    place_->meet();
    const auto* first = static_cast<const T*>(place_->slots[0]);
    std::vector<T> result(first, first + numbers.size());
    for (std::size_t i = 1; i < size(); ++i) {
      const auto* other = static_cast<const T*>(place_->slots[i]);
      for (std::size_t j = 0; j < result.size(); ++j) result[j] = operation(result[j], other[j]);
    }
    place_->meet();
    std::copy(result.begin(), result.end(), numbers.begin());
  }

  std::shared_ptr<MeetingPlace> place_;
  std::size_t rank_;
};

// Runs body(team) on as many threads; the first failure is thrown here.
inline void run_team(std::size_t size, const std::function<void(Team&)>& body) {
  const auto failed = std::make_shared<std::atomic<bool>>(false);
  const auto place = std::make_shared<MeetingPlace>(size, failed);
  std::vector<std::exception_ptr> errors(size);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadTeam team(place, rank);
      try {
        body(team);
      } catch (...) {
        errors[rank] = std::current_exception();
        failed->store(true);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace annulus
