// Position tables resized by the three rules, against PyTorch's numbers.
#include "annulus/vision/networks/position_table.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace annulus {
namespace {

// 0, 7, 14, 5, ...: numbers without order.
std::vector<float> numbers() {
  std::vector<float> table;
  for (int i = 0; i < 16; ++i) table.push_back(static_cast<float>(i * 7 % 16));
  return table;
}

// What torch.nn.functional.interpolate(mode="bicubic") of PyTorch 1.13 makes of a 4x4 table.
void expect_resized(int to, PositionResize how, const std::vector<float>& expected) {
  const auto found = resize_positions(numbers(), 4, to, 1, how);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 2e-5F) << i;
}

TEST(PositionTable, ResizesByTheRatioOfSizes) {
  expect_resized(3, PositionResize::kExact,
                 {2.300519F, 11.141207F, 5.675477F, 11.158567F, 8.359375F, 7.126161F, 5.710202F, 7.143519F, 8.576843F});
  expect_resized(
      5, PositionResize::kExact,
      {-1.213299F, 4.247066F,  12.334127F, 12.503753F, 4.696252F, 9.475729F, 3.584474F, 7.593501F,  9.520076F,
       0.139090F,  11.651877F, 9.807751F,  8.359375F,  7.610752F, 6.939251F, 5.910589F, 13.948579F, 9.825001F,
       5.701429F,  13.739418F, 3.331751F,  9.796254F,  6.257001F, 2.717753F, 9.182253F});
}

TEST(PositionTable, ResizesWithTheOffsetOfDino) {
  expect_resized(3, PositionResize::kOffset,
                 {2.027059F, 10.671607F, 6.960563F, 11.386858F, 7.878816F, 6.585505F, 5.916287F, 8.552176F, 8.175976F});
}

TEST(PositionTable, ResizesWithAntialiasing) {
  expect_resized(3, PositionResize::kAntialias,
                 {3.268200F, 9.706634F, 6.228236F, 10.234093F, 8.480174F, 7.189932F, 7.283156F, 7.717391F, 8.151628F});
  expect_resized(
      5, PositionResize::kAntialias,
      {-0.852069F, 4.515373F,  11.716345F, 12.145932F, 4.783653F, 9.161563F, 4.273141F, 7.618274F,  9.141775F,
       0.828818F,  11.086538F, 9.632574F,  8.437500F,  7.648085F, 6.956731F, 6.240127F, 13.170374F, 9.662385F,
       6.154395F,  13.084644F, 3.524039F,  9.503608F,  6.326923F, 3.150238F, 9.129808F});
}

TEST(PositionTable, TreatsEveryChannelAlike) {
  std::vector<float> doubled;
  for (const float value : numbers()) doubled.insert(doubled.end(), {value, -2 * value});
  const auto one = resize_positions(numbers(), 4, 7, 1, PositionResize::kOffset);
  const auto two = resize_positions(doubled, 4, 7, 2, PositionResize::kOffset);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_FLOAT_EQ(two[2 * i], one[i]);
    EXPECT_FLOAT_EQ(two[2 * i + 1], -2 * one[i]);
  }
}

TEST(PositionTable, RecognisesSineAndCosine) {
  std::vector<float> table = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1};
  EXPECT_TRUE(is_sine_cosine_table(table, 8));
  table[3] = 0.01F;
  EXPECT_FALSE(is_sine_cosine_table(table, 8));
  EXPECT_FALSE(is_sine_cosine_table({}, 8));
}

}  // namespace
}  // namespace annulus
