// Times what a shared fit is made of, under mpirun or by itself:
//   communicator_timing sums                                   sums of 1 to 2^24 floats over all processes
//   communicator_timing step B R D N CLASS_RANKS               one training step on generated rows, gradient and Adam
//   together, on
//                                                      one thread: wall time, and processor time of the first process
// Times are the least of several: others may use the machine. The first process answers by a line of JSON.
// annulus_mpi.so lies beside the program; by itself it needs none.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "annulus/base/folders.h"
#include "annulus/kernels/gaussian.h"
#include "annulus/learn/distributed/parallel_layout.h"
#include "annulus/learn/method/trainer.h"
#include "bench/stopwatch.h"

namespace annulus {
namespace {

double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

double thread_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Communicator* open_communicator() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) return nullptr;
  void* object = dlopen((program_folder() / "annulus_mpi.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (object == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<Communicator* (*)()>(dlsym(object, "annulus_open_communicator"))();
}

std::string time_sums(Communicator& communicator) {
  std::string answer;
  for (std::size_t count = 1; count <= std::size_t{1} << 24; count *= 16) {
    std::vector<float> numbers(count, 1.0F);
    std::vector<double> seconds;
    for (int i = 0; i < (count < 100000 ? 200 : 15); ++i) {
      communicator.barrier();
      seconds.push_back(seconds_of([&] { communicator.sum(std::span<float>(numbers)); }));
    }
    answer +=
        fmt::format(R"({}{{"numbers": {}, "seconds": {:.9f}}})", answer.empty() ? "" : ", ", count, least(seconds));
  }
  return fmt::format(R"({{"processes": {}, "sums": [{}]}})", communicator.size(), answer);
}

std::string time_step(Communicator* communicator, char** words) {
  const auto number = [&](int i) { return static_cast<std::size_t>(std::atoll(words[i])); };
  TrainOptions options;
  options.batch = number(0);
  options.virtual_count = number(1);
  const std::size_t dimension = number(2);
  const std::size_t classes = number(3);
  options.threads = 1;
  options.sharing = NoiseSharing::kShared;
  options.epsilon = 2.0;
  constexpr std::size_t kSteps = 7;
  std::vector<std::int32_t> labels(std::max(classes, kSteps * options.batch));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % classes);
  const Partition partition = communicator == nullptr ? Partition() : Partition(*communicator, labels.size());
  const Slice own = partition.own(labels.size());
  Matrix<float> features(own.count, dimension);
  for (std::size_t i = 0; i < own.count; ++i) {
    fill_gaussian({1, RandomUse::kSynthetic, 0}, (own.first + i) * dimension, features.row(i));
  }
  const auto rows =
      make_training_examples<float>(std::move(features), labels, classes, NoiseShape::kEllipsoidal, {}, partition);
  std::optional<ParallelLayout> layout;
  if (communicator != nullptr) options.layout = &layout.emplace(*communicator, number(4), classes);
  auto head = initial_head<float>(HeadKind::kCosine, classes, dimension, 0, 0, options.layout->class_block(classes));
  options.epochs = 1;
  std::vector<double> steps;
  std::vector<double> busy;
  auto last = std::chrono::steady_clock::now();
  double last_busy = thread_seconds();
  TrainHooks<float> hooks;
  hooks.after_step = [&](const StepRecord<float>& record) {
    const auto now = std::chrono::steady_clock::now();
    const double now_busy = thread_seconds();
    if (record.step > 0) {
      steps.push_back(std::chrono::duration<double>(now - last).count());
      busy.push_back(now_busy - last_busy);
    }
    last = now;
    last_busy = now_busy;
  };
  hooks.order = [&](std::size_t) {
    std::vector<std::uint32_t> order(kSteps * options.batch);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    return order;
  };
  train(head, rows, options, {}, hooks);
  return fmt::format(R"({{"processes": {}, "class_ranks": {}, "seconds": {:.6f}, "processor_seconds": {:.6f}}})",
                     communicator == nullptr ? 1 : communicator->size(),
                     communicator == nullptr ? 1 : layout->class_ranks(), least(steps), least(busy));
}

}  // namespace
}  // namespace annulus

int main(int count, char** words) {
  const std::string job = count > 1 ? words[1] : "";
  if (!(job == "sums" && count == 2) && !(job == "step" && count == 7)) {
    fmt::print(stderr, "usage: communicator_timing sums | step B R D N CLASS_RANKS\n");
    return 2;
  }
  const std::unique_ptr<annulus::Communicator> communicator(annulus::open_communicator());
  if (job == "sums" && !communicator) {
    fmt::print(stderr, "communicator_timing: sums are taken over the processes of mpirun\n");
    return 2;
  }
  const std::string answer =
      job == "sums" ? annulus::time_sums(*communicator) : annulus::time_step(communicator.get(), words + 2);
  if (!communicator || communicator->rank() == 0) fmt::print("{}\n", answer);
  return 0;
}
