// The safetensors container: every element type, and every way a header can lie.
#include "annulus/store/formats/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "annulus/store/features/feature_file.h"
#include "annulus/store/features/feature_formats.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/sample_features.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(ANNULUS_TEST_DATA) / "features" / (name + ".safetensors");
}

class SafetensorsFixture : public testing::TestWithParam<const char*> {};

TEST_P(SafetensorsFixture, HoldsTheNumbersOfTheScript) {
  const std::string type = GetParam();
  const FeatureSet set = read_features(fixture(type));
  EXPECT_EQ(copied(set.labels()), (std::vector<std::int32_t>{0, 1, 2, 0, 1, 2}));
  const auto rows = rows_of(set);
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      const auto cycle = static_cast<float>((i * 5 + j * 3) % 16);
      const float expected = type == "BOOL"   ? static_cast<float>((i * 5 + j * 3) % 2 == 0)
                             : type == "U8"   ? cycle + 1.0F
                             : type[0] == 'I' ? cycle - 7.0F
                                              : (cycle - 7.0F) / 4.0F;
      EXPECT_EQ(rows(i, j), expected) << i << " " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, SafetensorsFixture,
                         testing::Values("F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"),
                         [](const auto& test) { return test.param; });

TEST(Safetensors, ReadsUnalignedArrays) {
  const FeatureSet set = read_features(fixture("unaligned"));
  EXPECT_EQ(rows_of(set)(0, 0), -1.75F);
  EXPECT_EQ(copied(set.labels()), (std::vector<std::int32_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(copied(set.class_names()), (std::vector<std::string>{"auk", "Bülbül", "cuckoo"}));
  EXPECT_EQ(copied(set.is_train()), (std::vector<std::uint8_t>{1, 0, 1, 1, 0, 1}));
}

TEST(Safetensors, LooksAtAlignedRowsWhereTheyLie) {
  const FileBytes file = map_file(fixture("F32"));
  const FeatureSetParts parts = safetensors_features(file, true);
  const auto* const data = reinterpret_cast<const std::byte*>(parts.features.data());
  EXPECT_GE(data, file.bytes.data());
  EXPECT_LT(data, file.bytes.data() + file.bytes.size());
}

TEST(Safetensors, WritesWhatItReads) {
  const ScratchFolder folder;
  const std::vector<TensorLayout> layout = {{"wide", ElementType::kF64, {1, 2}}, {"none", ElementType::kU8, {0}}};
  SafetensorsWriter writer(folder / "x", layout, {{"key", "a \"text\""}});
  const std::array<double, 2> numbers = {1.5, -2.25};
  writer.write(std::as_bytes(std::span(numbers)).first(3));
  writer.write(std::as_bytes(std::span(numbers)).subspan(3));
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
  writer.commit();
  const Safetensors file(map_file(folder / "x"));
  EXPECT_EQ(file.metadata().at("key"), "a \"text\"");
  EXPECT_EQ(file.at("none").elements(), 0U);
  ASSERT_EQ(file.at("wide").shape, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(std::memcmp(file.at("wide").bytes.data(), numbers.data(), 16), 0);
  expect_error(ErrorKind::kFormat, "expected an array \"other\"", [&] { static_cast<void>(file.at("other")); });
}

TEST(Safetensors, AChecksumIsFilledInAndChecked) {
  const ScratchFolder folder;
  const std::vector<TensorLayout> layout = {{"a", ElementType::kU8, {3}}};
  const std::map<std::string, std::string> metadata = {{kChecksumEntry, ""}, {"key", "\"annulus_sha256\":\"0000"}};
  const auto write = [&](SafetensorsWriter&& writer) {
    const std::array<std::uint8_t, 3> bytes = {1, 2, 3};
    writer.write(std::as_bytes(std::span(bytes)));
    writer.commit();
  };
  write({folder / "x", layout, metadata});
  std::string text;
  write({text, layout, metadata});
  EXPECT_EQ(text, content_of(folder / "x"));
  const Safetensors file(map_file(folder / "x"));
  check_checksum(file);
  // Anybody can compute it.
  std::string zeroed = text;
  const std::string stated = file.metadata().at(kChecksumEntry);
  ASSERT_EQ(stated.size(), 64U);
  zeroed.replace(zeroed.find(stated), stated.size(), std::string(stated.size(), '0'));
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span(zeroed))), stated);
  check_checksum(Safetensors(map_file(fixture("F32"))));  // has none
  const auto rejected = [&](const std::string& other) {
    std::string changed = text;
    changed.replace(changed.find(stated), stated.size(), other);
    expect_error(ErrorKind::kFormat, "checksum", [&] { check_checksum(Safetensors(in_memory(changed))); });
  };
  rejected(std::string(64, '0'));
  rejected("short" + std::string(59, ' '));
}

std::string file_with(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  std::string content(8, '\0');
  std::memcpy(content.data(), &length, 8);
  return content + header + data;
}

std::string tensor(const std::string& name, const std::string& type, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

void expect_rejected(const std::string& content, std::string_view words) {
  expect_error(ErrorKind::kFormat, words, [&] { Safetensors{in_memory(content)}; });
}

TEST(Safetensors, AcceptsAnEmptyHeader) {
  const std::string content = file_with("{}  ");
  EXPECT_TRUE(Safetensors(in_memory(content)).tensors().empty());
}

TEST(Safetensors, RejectsOffsetsThatLie) {
  const std::string data(8, 'x');
  expect_rejected(file_with("{" + tensor("a", "U8", "[9]", "[0,9]") + "}", data), "claims the bytes [0, 9] of 8");
  expect_rejected(file_with("{" + tensor("a", "U8", "[4]", "[8,4]") + "}", data), "claims the bytes [8, 4]");
  expect_rejected(file_with("{" + tensor("a", "U8", "[8]", "[0]") + "}", data), "claims the bytes [0]");
  expect_rejected(file_with("{" + tensor("a", "U8", "[8]", "[0,8,8]") + "}", data), "claims the bytes [0, 8, 8]");
  expect_rejected(file_with("{" + tensor("a", "U8", "[8]", "[18446744073709551608,18446744073709551615]") + "}", data),
                  "claims the bytes");
  expect_rejected(file_with("{" + tensor("a", "F32", "[3]", "[0,8]") + "}", data), "does not fit its 8 bytes");
  expect_rejected(file_with("{" + tensor("a", "F32", "[4611686018427387906]", "[0,8]") + "}", data), "does not fit");
  expect_rejected(file_with("{" + tensor("a", "U8", "[4294967296,4294967296,0,8]", "[0,8]") + "}", data),
                  "does not fit");
  expect_rejected(
      file_with("{" + tensor("a", "U8", "[4]", "[0,4]") + "," + tensor("b", "U8", "[5]", "[3,8]") + "}", data),
      "expected array \"b\" to start at byte 4");
  expect_rejected(
      file_with("{" + tensor("a", "U8", "[4]", "[0,4]") + "," + tensor("b", "U8", "[3]", "[5,8]") + "}", data),
      "expected array \"b\" to start at byte 4");
  expect_rejected(file_with("{" + tensor("a", "U8", "[4]", "[0,4]") + "}", data), "expected 4 bytes of data, found 8");
}

TEST(Safetensors, RejectsHeadersOfAnotherShape) {
  expect_rejected("", "only 0 bytes");
  expect_rejected(std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}", 10), "claims 18446744073709551615 bytes");
  expect_rejected(file_with(" {}"), "other data");
  expect_rejected(file_with("[]"), "other data");
  expect_rejected(file_with("{\"a\":" + std::string(100000, '[')), "a list");
  expect_rejected(file_with("{\"a\":{\"shape\":" + std::string(100000, '[')), "a list");
  std::string nested = "{";
  for (int i = 0; i < 20000; ++i) nested += "\"shape\":{";
  expect_rejected(file_with(nested), "an object inside");
  expect_rejected(file_with("{\"a\":1}"), "a number");
  expect_rejected(file_with("{\"a\":null}"), "null");
  expect_rejected(file_with("{\"a\":{}}"), "without its dtype");
  expect_rejected(file_with("{\"a\":{\"dtype\":\"U8\",\"shape\":[0]}}"), "without its dtype, shape or data_offsets");
  expect_rejected(file_with("{\"a\":{\"type\":\"U8\"}}"), "unknown field \"type\"");
  expect_rejected(file_with("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}"), "field \"dtype\" twice");
  expect_rejected(file_with("{" + tensor("a", "U8", "[-1]", "[0,0]") + "}"), "a negative number");
  expect_rejected(file_with("{" + tensor("a", "U8", "[0.5]", "[0,0]") + "}"), "not a size");
  expect_rejected(file_with("{" + tensor("a", "U8", "[1e3]", "[0,0]") + "}"), "not a size");
  expect_rejected(file_with("{" + tensor("a", "C64", "[0]", "[0,0]") + "}"), "\"C64\", which is not supported");
  expect_rejected(file_with("{" + tensor("a", "U8", "[0]", "[0,0]") + "," + tensor("a", "U8", "[0]", "[0,0]") + "}"),
                  "the name \"a\" twice");
  expect_rejected(file_with("{\"__metadata__\":{\"k\":1}}"), "a number");
  expect_rejected(file_with("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}"), "metadata name \"k\" twice");
  expect_rejected(file_with("{\"a\":{\"dtype\":\"\xFF\"}}"), "invalid JSON");
  expect_rejected(file_with("{} {}"), "invalid JSON");
  std::string shape = "[1";
  for (int i = 0; i < 100; ++i) shape += ",1";
  expect_rejected(file_with("{" + tensor("a", "U8", shape + "]", "[0,1]") + "}", "x"), "more than 32 numbers");
}

void expect_features_rejected(const std::string& content, ErrorKind kind, std::string_view words) {
  expect_error(kind, words, [&] { FeatureSet(safetensors_features(in_memory(content), false)); });
}

TEST(SafetensorsFeatures, ChecksColumnsAndText) {
  const std::string features = tensor("features", "U8", "[2,2]", "[0,4]");
  const auto with = [&](const std::string& more, const std::string& data) {
    return file_with("{" + features + "," + more + "}", "abcd" + data);
  };
  constexpr auto kInput = ErrorKind::kInput;
  constexpr auto kFormat = ErrorKind::kFormat;
  expect_features_rejected(file_with("{}"), kFormat, "expected an array \"features\"");
  expect_features_rejected(file_with("{" + tensor("features", "U8", "[4]", "[0,4]") + "}", "abcd"), kInput,
                           "found [4]");
  expect_features_rejected(file_with("{" + tensor("features", "U8", "[0,4]", "[0,0]") + "}"), kInput, "0 rows");
  expect_features_rejected(with(tensor("labels", "U8", "[3]", "[4,7]"), "abc"), kInput, "expected 2 labels");
  expect_features_rejected(with(tensor("labels", "I8", "[2]", "[4,6]"), "\xFF\x01"), kInput, "found -1 at row 0");
  expect_features_rejected(with(tensor("labels", "F16", "[2]", "[4,8]"), "abcd"), kInput, "expected integers");
  expect_features_rejected(with(tensor("labels", "U8", "[1,2]", "[4,6]"), "ab"), kInput, "expected one value per row");
  expect_features_rejected(with(tensor("is_train", "U8", "[2]", "[4,6]"), "ab"), kInput, "found 97");
  expect_features_rejected(with(tensor("paths", "I8", "[2]", "[4,6]"), "[]"), kFormat, "expected paths as JSON");
  expect_features_rejected(with(tensor("paths", "U8", "[5]", "[4,9]"), "[\"a\"]"), kInput, "expected 2 paths");
  expect_features_rejected(with("\"__metadata__\":{\"class_names\":\"[[]]\"}", ""), kFormat, "found an array");
  expect_features_rejected(with("\"__metadata__\":{\"class_names\":\"[1]\"}", ""), kFormat, "found a number");
  expect_features_rejected(with("\"__metadata__\":{\"provenance\":\"[]\"}", ""), kFormat, "JSON object");
  expect_features_rejected(with("\"__metadata__\":{\"format\":\"annulus-features\",\"version\":\"2\"}", ""), kFormat,
                           "found \"2\"");
  expect_features_rejected(with("\"__metadata__\":{\"format\":\"annulus-model\"}", ""), kFormat, "found a model");
}

}  // namespace
}  // namespace annulus
