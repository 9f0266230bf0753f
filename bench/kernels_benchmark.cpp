// Kernel rates: exponentials, the streaming softmax gradient beside them, products, normal numbers, Adam.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/random.h"
#include "annulus/kernels/adam.h"
#include "annulus/kernels/gaussian.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/virtual_softmax.h"
#include "bench/softmax_problem.h"

namespace annulus {
namespace {

std::size_t argument(const benchmark::State& state, std::size_t index) {
  return static_cast<std::size_t>(state.range(index));
}

// The least any softmax must do: exponentials of numbers in the nearest cache, summed.
void exponentials(benchmark::State& state) {
  std::vector<float> row(2048);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = -0.01F * static_cast<float>(i);
  for (auto _ : state) benchmark::DoNotOptimize(exponential_sum(row));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(row.size()));
}
BENCHMARK(exponentials);

// Items are exponentials: compare with the rate above.
void virtual_softmax(benchmark::State& state) {
  const std::size_t classes = argument(state, 0);
  const std::size_t noise_rows = argument(state, 1);
  constexpr std::size_t kExamples = 32;
  SoftmaxProblem problem(kExamples, noise_rows, classes);
  for (auto _ : state) benchmark::DoNotOptimize(problem.run());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kExamples * noise_rows * classes));
}
BENCHMARK(virtual_softmax)->Args({5, 200})->Args({20, 200})->Args({200, 200})->Args({1000, 200})->Args({21000, 64});

// Items are floating-point operations.
void product(benchmark::State& state) {
  const auto a = normal_matrix(argument(state, 0), argument(state, 2), 1);
  const auto b = normal_matrix(argument(state, 1), argument(state, 2), 2);
  Matrix<float> c(a.rows(), b.rows());
  for (auto _ : state) {
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, a.view(), b.view(), 0.0F, c.view(), 1);
    benchmark::DoNotOptimize(c.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(2 * a.rows() * b.rows() * a.cols()));
}
BENCHMARK(product)->Args({256, 1000, 384})->Args({256, 200, 2048})->Args({5, 200, 640});

void normal_numbers(benchmark::State& state) {
  std::vector<float> numbers(1 << 14);
  std::uint64_t first = 0;
  for (auto _ : state) {
    fill_gaussian({1, RandomUse::kSynthetic, 0}, first, numbers);
    first += numbers.size();
    benchmark::DoNotOptimize(numbers.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(numbers.size()));
}
BENCHMARK(normal_numbers);

// Items are parameters updated.
void adam_weight_norm(benchmark::State& state) {
  const std::size_t count = argument(state, 0);
  auto rows = normal_matrix(5, count, 1);
  for (std::size_t j = 0; j < count; ++j) rows(3, j) = std::abs(rows(3, j));
  float gain = 1.0F;
  float first = 0.0F;
  float second = 0.0F;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        adam_weight_norm_row<float>(AdamStep<float>::at(1e-3, 10), count, rows.row(0).data(), &gain, rows.row(1).data(),
                                    {rows.row(2).data(), rows.row(3).data(), &first, &second}, rows.row(4).data()));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(count));
}
BENCHMARK(adam_weight_norm)->Arg(384)->Arg(2048);

}  // namespace
}  // namespace annulus
