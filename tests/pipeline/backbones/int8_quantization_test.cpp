// The text of a quantization, and networks that are made from it.
#include "annulus/pipeline/backbones/int8_quantization.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/small_network.h"

namespace annulus {
namespace {

TEST(QuantizationText, IsReadAsItWasWritten) {
  const Quantization quantization{7, {{"x", {-1.5F, 2.0F}}}};
  const std::string text = quantization_to_text(quantization);
  EXPECT_EQ(text, "int8 1, weights of 7 bits\n-1.5 2 x\n");
  EXPECT_EQ(quantization_from_text(text, "t").weight_bits, 7);
  EXPECT_EQ(quantization_from_text(text, "t").ranges, quantization.ranges);
  for (const char* broken : {"", "int8", "int8 1, weights of ", "int8 1, weights of 9 bits\n",
                             "int8 2, weights of 8 bits\n", "int8 1, weights of 8 bits\nx\n"}) {
    EXPECT_THROW(quantization_from_text(broken, "t"), Error) << broken;
  }
  EXPECT_TRUE(usual_weight_bits() == 7 || usual_weight_bits() == 8);
}

class QuantizedFiles : public NeedsOnnxRuntime {};

TEST_F(QuantizedFiles, EqualRangesGiveEqualFiles) {
  const std::string file = small_network();
  const auto made = [&] {
    RangeRun run(bytes_in(file), "small");
    const Matrix<float> inputs = small_inputs(4);
    for (std::size_t i = 0; i < inputs.rows(); ++i) run.add(inputs.row(i), kSmallSide, kSmallSide);
    std::string bytes;
    write_int8(bytes_in(file), "small", "abc", {8, run.ranges()}, [&](std::span<const std::byte> part) {
      bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
    });
    return bytes;
  };
  const std::string first = made();
  EXPECT_EQ(first, made());
  EXPECT_NE(first.find("annulus.float32_sha256"), std::string::npos);
  EXPECT_NE(first.find("int8 1, weights of 8 bits"), std::string::npos);
}

}  // namespace
}  // namespace annulus
