// A process of its own for each test confines itself.
#include "server/decode/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "tests/fixtures/hostile_decoders.h"

namespace annulus::server {
namespace {

// Confines the process and ends it with the exit code that `act` gives.
template <class Act>
[[noreturn]] void confined(const Act& act) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) std::_Exit(101);
  limit_process(std::size_t{1} << 30);
  confine_process(ends[1]);
  std::_Exit(act(ends[1]));
}

class SandboxDeathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (runs_sanitized()) GTEST_SKIP() << "a sanitizer needs calls that the filter ends";
  }
};

TEST_F(SandboxDeathTest, LeavesWhatADecoderNeeds) {
  EXPECT_EXIT(confined([](int descriptor) {
                const char byte = 'x';
                if (::write(descriptor, &byte, 1) != 1) return 1;
                void* const memory =
                    ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                if (memory == MAP_FAILED || ::munmap(memory, 1 << 20) != 0) return 2;
                int seen = 0;
                std::thread([&seen] { seen = 1; }).join();
                if (seen != 1) return 3;
                timespec time{};
                return ::clock_gettime(CLOCK_MONOTONIC, &time) == 0 ? 42 : 4;
              }),
              ::testing::ExitedWithCode(42), "");
}

TEST_F(SandboxDeathTest, RefusesFiles) {
  EXPECT_EXIT(confined([](int) { return ::open("/dev/null", O_RDONLY) < 0 && errno == EACCES ? 42 : 1; }),
              ::testing::ExitedWithCode(42), "");
}

TEST_F(SandboxDeathTest, OtherDescriptorsAreOutOfReach) {
  EXPECT_EXIT(confined([](int descriptor) {
                const char byte = 'x';
                return static_cast<int>(::write(descriptor + 100, &byte, 1));
              }),
              ::testing::KilledBySignal(SIGSYS), "");
}

TEST_F(SandboxDeathTest, MemoryCannotBecomeCode) {
  EXPECT_EXIT(confined([](int) {
                ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                return 0;
              }),
              ::testing::KilledBySignal(SIGSYS), "");
}

TEST_F(SandboxDeathTest, SignalsToOthersEndIt) {
  EXPECT_EXIT(confined([](int) { return ::kill(1, 0); }), ::testing::KilledBySignal(SIGSYS), "");
}

TEST_F(SandboxDeathTest, NoCoreDumps) {
  EXPECT_EXIT(
      [] {
        limit_process(std::size_t{1} << 30);
        rlimit limit{};
        std::_Exit(::getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0 ? 42 : 1);
      }(),
      ::testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace annulus::server
