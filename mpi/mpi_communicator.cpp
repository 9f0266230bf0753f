// A Communicator over MPI, in a shared object of its own: the program opens it only when it is one of several processes
// of a fit.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "annulus/base/distributed/communicator.h"
#include "annulus/base/version.h"

namespace annulus {
namespace {

constexpr std::size_t kMostNumbers = std::size_t{1} << 28;  // of one call: MPI counts in int

MPI_Datatype type_of(const float*) { return MPI_FLOAT; }
MPI_Datatype type_of(const double*) { return MPI_DOUBLE; }

// Calls body(start, count) for pieces that MPI can count.
template <class T, class Body>
void in_pieces(std::span<T> numbers, const Body& body) {
  for (std::size_t first = 0; first < numbers.size(); first += kMostNumbers) {
    body(numbers.data() + first, static_cast<int>(std::min(kMostNumbers, numbers.size() - first)));
  }
}

// Calls of MPI that wait keep a core busy, also where the process they wait for needs it. These look for a moment, then
// sleep between looks.
void wait_for(std::span<MPI_Request> requests) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kBusy = std::chrono::microseconds(200);
  constexpr timespec kNap{0, 30000};
  const auto start = Clock::now();
  for (int done = 0;;) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) return;
    if (Clock::now() - start > kBusy) nanosleep(&kNap, nullptr);
  }
}

void wait_for(MPI_Request request) { wait_for(std::span<MPI_Request>(&request, 1)); }

class PendingReduction : public Communicator::Pending {
 public:
  template <class T>
  PendingReduction(std::span<T> numbers, MPI_Op operation, MPI_Comm members) {
    in_pieces(numbers, [&](T* start, int count) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Iallreduce(MPI_IN_PLACE, start, count, type_of(start), operation, members, &request);
      requests_.push_back(request);
    });
    // Messages move while the library is called: one call gets them going.
    int done = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
  }
  ~PendingReduction() override { finish(); }
  PendingReduction(const PendingReduction&) = delete;
  PendingReduction& operator=(const PendingReduction&) = delete;

  void wait() override { finish(); }

 private:
  void finish() {
    if (requests_.empty() || std::uncaught_exceptions() > 0) return;
    wait_for(requests_);
    requests_.clear();
  }

  std::vector<MPI_Request> requests_;
};

class MpiCommunicator : public Communicator {
 public:
  explicit MpiCommunicator(MPI_Comm members) : members_(members) {
    MPI_Comm_rank(members, &rank_);
    MPI_Comm_size(members, &size_);
  }
  // After an error the others may be waiting for this process: no call that waits for them, annulus_end_communicator
  // ends them.
  ~MpiCommunicator() override {
    if (std::uncaught_exceptions() > 0) return;
    if (members_ == MPI_COMM_WORLD) {
      MPI_Finalize();
    } else {
      MPI_Comm_free(&members_);
    }
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  std::size_t rank() const override { return static_cast<std::size_t>(rank_); }
  std::size_t size() const override { return static_cast<std::size_t>(size_); }

  void sum(std::span<double> numbers) override { reduce(numbers, MPI_SUM); }
  void sum(std::span<float> numbers) override { reduce(numbers, MPI_SUM); }
  void largest(std::span<double> numbers) override { reduce(numbers, MPI_MAX); }
  void largest(std::span<float> numbers) override { reduce(numbers, MPI_MAX); }
  std::unique_ptr<Pending> start_sum(std::span<double> numbers) override { return start(numbers, MPI_SUM); }
  std::unique_ptr<Pending> start_sum(std::span<float> numbers) override { return start(numbers, MPI_SUM); }
  std::unique_ptr<Pending> start_largest(std::span<double> numbers) override { return start(numbers, MPI_MAX); }
  std::unique_ptr<Pending> start_largest(std::span<float> numbers) override { return start(numbers, MPI_MAX); }

  void broadcast(std::span<std::byte> bytes) override {
    in_pieces(bytes, [&](std::byte* start, int count) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibcast(start, count, MPI_BYTE, 0, members_, &request);
      wait_for(request);
    });
  }

  void send(std::size_t from, std::span<float> numbers) override {
    constexpr int kTag = 1;
    in_pieces(numbers, [&](float* start, int count) {
      if (rank() == from) MPI_Send(start, count, MPI_FLOAT, 0, kTag, members_);
      if (rank() == 0) MPI_Recv(start, count, MPI_FLOAT, static_cast<int>(from), kTag, members_, MPI_STATUS_IGNORE);
    });
  }

  void barrier() override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(members_, &request);
    wait_for(request);
  }

  std::unique_ptr<Communicator> split(std::size_t group) override {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(members_, static_cast<int>(group), rank_, &part);
    return std::make_unique<MpiCommunicator>(part);
  }

 private:
  template <class T>
  std::unique_ptr<Pending> start(std::span<T> numbers, MPI_Op operation) {
    return std::make_unique<PendingReduction>(numbers, operation, members_);
  }
  template <class T>
  void reduce(std::span<T> numbers, MPI_Op operation) {
    PendingReduction(numbers, operation, members_).wait();
  }

  MPI_Comm members_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace
}  // namespace annulus

// What the program looks up by name. The version must be its own: a class is no interface between different builds.
extern "C" {
const char* annulus_communicator_version() { return annulus::kVersion; }

annulus::Communicator* annulus_open_communicator() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  return new annulus::MpiCommunicator(MPI_COMM_WORLD);
}

// Ends every process of the job, wherever it is waiting. Does not come back while MPI is open, and does nothing
// otherwise.
void annulus_end_communicator(int code) {
  int begun = 0;
  int over = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&over);
  if (begun != 0 && over == 0) MPI_Abort(MPI_COMM_WORLD, code);
}
}
