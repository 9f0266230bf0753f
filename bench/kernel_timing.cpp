// Times kernels named on standard input, on one thread:
//   kernel B R N ROUNDS          the streaming softmax gradient and as many bare exponentials, in turn
//   product M N K TRANSPOSES     a matrix product M x K by K x N; TRANSPOSES: nt (b is stored N x K), tn (a is K x M)
//   normals COUNT                standard normal numbers
//   copy COUNT                   float numbers from one place of memory to another
// Answers are lines of JSON with medians of the thread's processor time in seconds.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/kernels/gaussian.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/virtual_softmax.h"
#include "bench/job_loop.h"
#include "bench/softmax_problem.h"
#include "bench/stopwatch.h"

namespace annulus {
namespace {

// Repeats short work until it has taken a few milliseconds; returns the median seconds of one piece.
template <class Work>
double repeated_seconds(const Work& work) {
  constexpr double kLeastSeconds = 0.03;
  constexpr std::size_t kLeastRounds = 5;
  work();
  std::vector<double> rounds;
  for (double sum = 0.0; sum < kLeastSeconds || rounds.size() < kLeastRounds; sum += rounds.back()) {
    rounds.push_back(thread_seconds_of(work));
  }
  return median(rounds);
}

std::string time_kernel(JobWords& words) {
  const std::size_t examples = words.count("a number of training examples");
  const std::size_t noise_rows = words.count("a number of noise rows");
  const std::size_t classes = words.count("a number of classes");
  const std::size_t rounds = words.count("a number of rounds");
  SoftmaxProblem problem(examples, noise_rows, classes);
  double loss = 0.0;  // printed, so that no call may be left out
  const auto gradient = [&] { loss += problem.run(); };
  // Exponentials of a row that stays in the nearest cache: the least any softmax must do.
  std::vector<float> row(2000);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = -0.01F * static_cast<float>(i);
  const std::size_t wanted = examples * noise_rows * classes;
  const std::size_t calls = (wanted + row.size() - 1) / row.size();
  float sum = 0.0F;
  const auto exponentials = [&] {
    for (std::size_t call = 0; call < calls; ++call) {
      row[call % row.size()] -= 1e-6F;  // the calls differ, so none may be left out
      sum += exponential_sum(row);
    }
  };
  gradient();
  exponentials();
  std::vector<double> gradient_seconds;
  std::vector<double> exponential_seconds;
  for (std::size_t round = 0; round < rounds; ++round) {
    gradient_seconds.push_back(thread_seconds_of(gradient));
    exponential_seconds.push_back(thread_seconds_of(exponentials));
  }
  const double more = static_cast<double>(calls * row.size()) / static_cast<double>(wanted);
  return fmt::format(R"({{"seconds": {:.9f}, "exponential_seconds": {:.9f}, "exponentials": {}, "sum": {:.1f}}})",
                     median(gradient_seconds), median(exponential_seconds) / more, wanted,
                     loss + static_cast<double>(sum));
}

std::string time_product(JobWords& words) {
  const std::size_t m = words.count("a number of rows");
  const std::size_t n = words.count("a number of columns");
  const std::size_t k = words.count("an inner dimension");
  const auto transposes = words.next<std::string>("nt or tn");
  if (transposes != "nt" && transposes != "tn") fail(ErrorKind::kUsage, "expected nt or tn, found \"{}\"", transposes);
  const bool first = transposes == "tn";
  const auto a = first ? normal_matrix(k, m, 1) : normal_matrix(m, k, 1);
  const auto b = first ? normal_matrix(k, n, 2) : normal_matrix(n, k, 2);
  Matrix<float> c(m, n);
  const double seconds = repeated_seconds([&] {
    gemm(first ? Transpose::kYes : Transpose::kNo, first ? Transpose::kNo : Transpose::kYes, 1.0F, a.view(), b.view(),
         0.0F, c.view(), 1);
  });
  return fmt::format(R"({{"seconds": {:.9f}, "flops": {}}})", seconds, 2 * m * n * k);
}

std::string time_normals(JobWords& words) {
  std::vector<float> numbers(words.count("a count"));
  std::uint64_t first = 0;
  const double seconds = repeated_seconds([&] {
    fill_gaussian({1, RandomUse::kSynthetic, 0}, first, numbers);
    first += numbers.size();
  });
  return fmt::format(R"({{"seconds": {:.9f}, "numbers": {}}})", seconds, numbers.size());
}

std::string time_copy(JobWords& words) {
  const std::size_t count = words.count("a count");
  std::vector<float> from(count, 1.0F);
  std::vector<float> to(count, 0.0F);
  float sum = 0.0F;  // printed, so that no copy may be left out
  const double seconds = repeated_seconds([&] {
    std::copy(from.begin(), from.end(), to.begin());
    sum += to[count / 2];
    from[count / 2] += 1.0F;
  });
  return fmt::format(R"({{"seconds": {:.9f}, "bytes": {}, "sum": {:.1f}}})", seconds, 2 * sizeof(float) * count,
                     static_cast<double>(sum));
}

}  // namespace
}  // namespace annulus

int main() {
  return annulus::run_jobs("kernel_timing", {{"kernel", annulus::time_kernel},
                                             {"product", annulus::time_product},
                                             {"normals", annulus::time_normals},
                                             {"copy", annulus::time_copy}});
}
