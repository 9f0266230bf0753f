// What is written is what is read, in both formats and both number types; and how a file's format is found.
#include "annulus/store/features/feature_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/sample_features.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

struct Case {
  const char* name;
  WriteOptions options;
};

class RoundTrip : public testing::TestWithParam<Case> {};

TEST_P(RoundTrip, KeepsEverything) {
  const ScratchFolder folder;
  // Several blocks and a part of one; an odd dimension leaves the arrays after the features unaligned.
  for (const auto& [rows, dimension] : {std::pair<std::size_t, std::size_t>{5, 7}, {600, 1027}}) {
    const FeatureSet written = full_set(rows, dimension);
    const auto path = folder / GetParam().name;
    write_features(written, path, GetParam().options);
    const FeatureSet read = read_features(path);
    expect_same_but_features(read, written);
    if (GetParam().options.type == FeatureType::kFloat32) {
      expect_same_bits(read, written);
    } else {
      const auto a = rows_of(read);
      const auto b = rows_of(written);
      for (std::size_t i = 0; i < rows * dimension; ++i) {
        ASSERT_NEAR(a.data()[i], b.data()[i], 0.0005 * std::fabs(b.data()[i]) + 3e-8) << i;
      }
    }
    EXPECT_EQ(folder.files(), 1U) << "a temporary file was left behind";
  }
}

TEST_P(RoundTrip, KeepsUnlabelledFeatures) {
  const ScratchFolder folder;
  const FeatureSet written(sample_parts(3, 4));
  write_features(written, folder / GetParam().name, GetParam().options);
  const FeatureSet read = read_features(folder / GetParam().name);
  EXPECT_FALSE(read.labelled());
  expect_same_but_features(read, written);
}

TEST_P(RoundTrip, SameContentGivesSameBytes) {
  const ScratchFolder folder;
  const auto path = folder / GetParam().name;
  write_features(full_set(4, 3), path, GetParam().options);
  const std::string first = content_of(path);
  write_features(read_features(path), path, GetParam().options);
  EXPECT_EQ(content_of(path), first);
}

constexpr auto kF32 = FeatureType::kFloat32;
constexpr auto kF16 = FeatureType::kFloat16;
INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip,
                         testing::Values(Case{"f32.safetensors", {kF32, false}}, Case{"f16.safetensors", {kF16, false}},
                                         Case{"f32.npz", {kF32, false}}, Case{"f16.npz", {kF16, false}},
                                         Case{"deflated.npz", {kF32, true}}));

TEST(FeatureFile, RejectsWhatFloat16CannotHold) {
  const ScratchFolder folder;
  Matrix<float> features(2, 2);
  for (std::size_t i = 0; i < 4; ++i) features.data()[i] = 70000.0F;
  expect_error(ErrorKind::kInput, "too large for float16", [&] {
    write_features(FeatureSet(parts_of(features.clone())), folder / "a.npz", {FeatureType::kFloat16, false});
  });
  for (std::size_t i = 0; i < 4; ++i) features.data()[i] = 1e-20F;
  expect_error(ErrorKind::kInput, "row 0 is too small for float16", [&] {
    write_features(FeatureSet(parts_of(features.clone())), folder / "a.safetensors", {FeatureType::kFloat16, false});
  });
  EXPECT_EQ(folder.files(), 0U);
}

TEST(FeatureFile, RejectsTextThatCouldNotBeReadBack) {
  const ScratchFolder folder;
  const auto write_with = [&](const std::function<void(FeatureSetParts&)>& change) {
    FeatureSetParts parts = sample_parts(2, 2);
    parts.labels = {0, 1};
    parts.class_names = {"a", "b"};
    change(parts);
    write_features(FeatureSet(std::move(parts)), folder / "x.npz");
  };
  expect_error(ErrorKind::kInput, "class 1 is not UTF-8",
               [&] { write_with([](FeatureSetParts& parts) { parts.class_names[1] = "\xFF"; }); });
  expect_error(ErrorKind::kInput, "path of row 1 is not UTF-8", [&] {
    write_with([](FeatureSetParts& parts) { parts.paths = {"a", "\xC0\x80"}; });
  });
  expect_error(ErrorKind::kInput, "\"a\" twice",
               [&] { write_with([](FeatureSetParts& parts) { parts.class_names[1] = "a"; }); });
  EXPECT_EQ(folder.files(), 0U);
}

TEST(FeatureFile, RejectsUnknownNames) {
  const ScratchFolder folder;
  expect_error(ErrorKind::kUsage, ".safetensors or .npz", [&] { write_features(full_set(2, 2), folder / "x.pkl"); });
  const auto path = folder.write("x.dat", "some text");
  expect_error(ErrorKind::kFormat, "expected features as", [&] { read_features(path); });
  expect_error(ErrorKind::kFormat, ".npz format", [&] { read_features(folder.write("x.npz", "some text")); });
  expect_error(ErrorKind::kFormat, ".npy format", [&] { read_features(folder.write("x.npy", "")); });
  expect_error(ErrorKind::kIo, "cannot be opened", [&] { read_features(folder / "missing.npz"); });
  expect_error(ErrorKind::kIo, "found a folder", [&] { read_features(folder.path()); });
}

TEST(FeatureFile, KnowsFormatsByContent) {
  const ScratchFolder folder;
  write_features(full_set(4, 3), folder / "a.npz");
  write_features(full_set(4, 3), folder / "b.safetensors");
  std::filesystem::rename(folder / "a.npz", folder / "a.features");
  std::filesystem::rename(folder / "b.safetensors", folder / "b.features");
  expect_same_but_features(read_features(folder / "a.features"), read_features(folder / "b.features"));
}

}  // namespace
}  // namespace annulus
