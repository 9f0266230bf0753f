// Matrix products against three plain loops: transposes, strides, alpha, beta, tiles and threads.
#include "annulus/kernels/gemm.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>

#include "annulus/base/random.h"
#include "tests/fixtures/plain_products.h"

namespace annulus {
namespace {

TEST(Gemm, EqualsPlainLoops) {
  for (const Transpose transpose_a : {Transpose::kNo, Transpose::kYes}) {
    for (const Transpose transpose_b : {Transpose::kNo, Transpose::kYes}) {
      for (const std::size_t rows : {1U, 5U, 300U}) {
        for (const std::size_t cols : {1U, 7U, 530U}) {
          expect_product<float>(rows, cols, 17, transpose_a, transpose_b, 1.5F, 0.0F);
          expect_product<float>(rows, cols, 33, transpose_a, transpose_b, 1.0F, 1.0F);
          expect_product<double>(rows, cols, 17, transpose_a, transpose_b, 1.5, 0.5);
        }
      }
    }
  }
}

TEST(Gemm, BetaZeroOverwritesWhateverWasThere) {
  const auto a = random_matrix<float>(4, 4, 1);
  Matrix<float> c(4, 4);
  for (std::size_t i = 0; i < 16; ++i) c.data()[i] = std::numeric_limits<float>::quiet_NaN();
  gemm(Transpose::kNo, Transpose::kNo, 1.0F, a.view(), a.view(), 0.0F, c.view(), 1);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(c.data()[i], c.data()[i]);
}

TEST(Gemm, SameBitsWhateverTheThreads) {
  const auto a = random_matrix<float>(700, 65, 1);
  const auto b = random_matrix<float>(1100, 65, 2);
  Matrix<float> one(700, 1100);
  gemm(Transpose::kNo, Transpose::kYes, 1.0F, a.view(), b.view(), 0.0F, one.view(), 1);
  for (const int threads : {2, 4}) {
    Matrix<float> many(700, 1100);
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, a.view(), b.view(), 0.0F, many.view(), threads);
    EXPECT_EQ(std::memcmp(one.data(), many.data(), 700 * 1100 * sizeof(float)), 0);
  }
}

// The stack of this thread, and how often a signal was handled on it and elsewhere.
std::uintptr_t stack_start = 0;
std::uintptr_t stack_end = 0;
volatile std::sig_atomic_t on_stack = 0;
volatile std::sig_atomic_t elsewhere = 0;

void look_at_stack(int) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here >= stack_start && here < stack_end) {
    on_stack = on_stack + 1;
  } else {
    elsewhere = elsewhere + 1;
  }
}

// oneDNN puts the stack pointer elsewhere while it multiplies: a signal handled then would overwrite the heap.
TEST(Gemm, SignalsWaitUntilAProductIsDone) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  void* start = nullptr;
  std::size_t size = 0;
  ASSERT_EQ(pthread_attr_getstack(&attributes, &start, &size), 0);
  pthread_attr_destroy(&attributes);
  stack_start = reinterpret_cast<std::uintptr_t>(start);
  stack_end = stack_start + size;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = look_at_stack;
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  const Matrix<float> a = random_matrix<float>(200, 512, 1);
  const Matrix<float> b = random_matrix<float>(150, 512, 2);
  Matrix<float> first(200, 150);
  gemm(Transpose::kNo, Transpose::kYes, 1.0F, a.view(), b.view(), 0.0F, first.view(), 1);
  Matrix<float> c(200, 150);
  std::atomic<bool> done = false;
  std::thread sender([&done, receiver = pthread_self()] {
    while (!done.load()) {
      pthread_kill(receiver, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  for (int i = 0; i < 20000 && on_stack + elsewhere < 200; ++i) {
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, a.view(), b.view(), 0.0F, c.view(), 1);
  }
  done = true;
  sender.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(elsewhere, 0);
  EXPECT_GE(on_stack, 200);
  EXPECT_EQ(std::memcmp(c.data(), first.data(), sizeof(float) * 200 * 150), 0);
}

}  // namespace
}  // namespace annulus
