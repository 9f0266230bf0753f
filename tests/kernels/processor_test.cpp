// What is said of the processor is what /proc says.
#include "annulus/kernels/processor.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace annulus {
namespace {

TEST(Processor, FastVectorsAreThoseWithFusedMultiplyAdd) {
  std::ifstream file("/proc/cpuinfo");
  std::stringstream text;
  text << file.rdbuf();
  const std::string facts = text.str();
  if (facts.find("GenuineIntel") == std::string::npos && facts.find("AuthenticAMD") == std::string::npos) {
    EXPECT_TRUE(has_fast_vectors()) << vector_instructions();
    return;
  }
  const bool avx2 = facts.find(" avx2 ") != std::string::npos && facts.find(" fma ") != std::string::npos;
  EXPECT_EQ(has_fast_vectors(), avx2) << vector_instructions();
  EXPECT_EQ(vector_instructions().starts_with("AVX"), avx2) << vector_instructions();
}

}  // namespace
}  // namespace annulus
