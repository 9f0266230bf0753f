// The trained head of a model and its metric survive the disk; metrics that make no sense are rejected.
#include "annulus/store/models/head_arrays.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <span>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

constexpr std::size_t kDimension = 4;

Head<float> head_in_a_metric() {
  Head<float> head = initial_head<float>(HeadKind::kCosine, 3, kDimension, 42, 0);
  head.transform.power = 0.5F;
  head.transform.centre = {0.1F, 0.2F, 0.3F, 0.4F};
  head.transform.metrics = {{{1.0F, 0.0F, 0.0F, 0.0F, 0.0F, 1.0F, 0.0F, 0.0F}, {0.5F, 0.25F}},
                            {{0.0F, 0.0F, 0.6F, 0.8F}, {0.75F}}};
  return head;
}

// As the arrays of a file alone.
Head<float> through_a_file(const Head<float>& head, const FeatureTransform& of_head) {
  const ScratchFolder folder;
  std::vector<TensorLayout> layout;
  lay_out_trained_head(head, layout);
  for (const TensorLayout& array : layout) {
    const ArrayShape* const known = trained_head_array(array.name);
    EXPECT_NE(known, nullptr) << array.name;
    if (known == nullptr) continue;
    EXPECT_EQ(known->type, array.type) << array.name;
    EXPECT_EQ(known->dimensions, array.shape.size()) << array.name;
  }
  SafetensorsWriter writer(folder / "head", layout, {});
  write_trained_head(head, writer);
  writer.commit();
  const std::optional<Head<float>> read = read_trained_head(Safetensors(map_file(folder / "head")), of_head);
  return read ? read->clone() : Head<float>{};
}

TEST(HeadArrays, AMetricSurvivesTheDisk) {
  const Head<float> head = head_in_a_metric();
  const Head<float> read = through_a_file(head, {0.5F, {}, {}});
  ASSERT_EQ(read.classes(), 3U);
  EXPECT_EQ(std::memcmp(read.direction.data(), head.direction.data(), 3 * kDimension * sizeof(float)), 0);
  EXPECT_EQ(read.gain, head.gain);
  EXPECT_EQ(read.transform.power, 0.5F);
  EXPECT_EQ(read.transform.centre, head.transform.centre);
  EXPECT_EQ(read.transform.metrics, head.transform.metrics);
}

TEST(HeadArrays, WithoutAMetricTheTransformIsThatOfTheHeadBesideIt) {
  Head<float> head = head_in_a_metric();
  head.transform = {};
  const FeatureTransform beside{0.6F, {1.0F, 2.0F, 3.0F, 4.0F}, {}};
  const Head<float> read = through_a_file(head, beside);
  EXPECT_EQ(read.transform.power, 0.6F);
  EXPECT_EQ(read.transform.centre, beside.centre);
  EXPECT_TRUE(read.transform.metrics.empty());
}

TEST(HeadArrays, OtherArraysAreNotItsOwn) {
  EXPECT_EQ(trained_head_array("direction"), nullptr);
  EXPECT_EQ(trained_head_array(""), nullptr);
}

TEST(HeadArrays, MetricsThatMakeNoSenseAreRejected) {
  const Head<float> beside = initial_head<float>(HeadKind::kLinear, 3, kDimension, 1, 0);
  check_trained_head(head_in_a_metric(), beside, ErrorKind::kInput, "the model");
  const auto rejected = [&](std::string_view words, const std::function<void(FeatureTransform&)>& change) {
    Head<float> head = head_in_a_metric();
    change(head.transform);
    expect_error(ErrorKind::kInput, words, [&] { check_trained_head(head, beside, ErrorKind::kInput, "the model"); });
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  rejected("\"metric_centre\"", [](FeatureTransform& transform) { transform.centre.pop_back(); });
  rejected("\"metric_centre\"", [](FeatureTransform& transform) { transform.centre[0] = kInfinity; });
  rejected("shrink by less than 1", [](FeatureTransform& transform) { transform.metrics[1].shrink[0] = 1.0F; });
  rejected("finite axes of 4", [](FeatureTransform& transform) { transform.metrics[0].axes[3] = kInfinity; });
  rejected("finite axes of 4", [](FeatureTransform& transform) { transform.metrics[0].axes.pop_back(); });
}

TEST(HeadArrays, RanksThatDoNotAddUpAreRejected) {
  const auto read = [](std::vector<std::int32_t> ranks) {
    const ScratchFolder folder;
    const Head<float> head = head_in_a_metric();
    std::vector<TensorLayout> layout;
    lay_out_trained_head(head, layout);
    layout.back().shape = {ranks.size()};
    SafetensorsWriter writer(folder / "head", layout, {});
    writer.write(std::as_bytes(std::span(head.direction.data(), 3 * kDimension)));
    writer.write(std::as_bytes(std::span(head.gain)));
    const std::vector<float> centre_axes_and_shrink(kDimension + 3 * kDimension + 3, 0.5F);
    writer.write(std::as_bytes(std::span(centre_axes_and_shrink)));
    writer.write(std::as_bytes(std::span(ranks)));
    writer.commit();
    read_trained_head(Safetensors(map_file(folder / "head")), {});
  };
  read({1, 2});
  for (const auto& ranks : {std::vector<std::int32_t>{1, 1}, {3, 1}, {1, 1, 1, 0}, {-1, 4}, {4}}) {
    expect_error(ErrorKind::kFormat, "axes", [&] { read(ranks); });
  }
}

}  // namespace
}  // namespace annulus
