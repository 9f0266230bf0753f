// .npy arrays as NumPy writes them, and headers that nobody should write.
#include "annulus/store/formats/npy.h"

#include <gtest/gtest.h>

#include <string>

#include "annulus/store/features/feature_file.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/sample_features.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(ANNULUS_TEST_DATA) / "features" / name;
}

// The formula of make_feature_fixtures.py.
int fixture_integer(std::size_t i, std::size_t j, int lowest) {
  return static_cast<int>((i * 5 + j * 3) % 16) + lowest;
}

class NpyFixture : public testing::TestWithParam<const char*> {};

TEST_P(NpyFixture, HoldsTheNumbersOfTheScript) {
  const std::string name = GetParam();
  const FeatureSet set = read_features(fixture(name + ".npy"));
  ASSERT_EQ(set.rows(), 6U);
  ASSERT_EQ(set.dimension(), 5U);
  EXPECT_FALSE(set.labelled());
  const auto rows = rows_of(set);
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      const bool is_integer = name.size() == 2 && name[0] != 'f';
      const float expected = name == "b1"     ? static_cast<float>(1 - fixture_integer(i, j, 0) % 2)
                             : !is_integer    ? static_cast<float>(fixture_integer(i, j, -7)) / 4.0F
                             : name[0] == 'u' ? static_cast<float>(fixture_integer(i, j, 1))
                                              : static_cast<float>(fixture_integer(i, j, -7));
      EXPECT_EQ(rows(i, j), expected) << name << " " << i << " " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, NpyFixture,
                         testing::Values("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1",
                                         "big_endian_f4", "big_endian_f2", "fortran_f4", "fortran_f2",
                                         "fortran_big_endian_f8", "version_2", "version_3", "pooled"));

TEST(Npy, TakesLabelsFromANeighbour) {
  const FeatureSet integers = read_features(fixture("pair_features.npy"));
  EXPECT_EQ(copied(integers.labels()), (std::vector<std::int32_t>{0, 1, 2, 0, 1, 2}));
  const FeatureSet text = read_features(fixture("text_features.npy"));
  // Sorted by bytes: upper case comes first.
  EXPECT_EQ(copied(text.class_names()), (std::vector<std::string>{"Bülbül", "auk", "cuckoo"}));
  EXPECT_EQ(copied(text.labels()), (std::vector<std::int32_t>{1, 0, 2, 1, 0, 2}));
}

TEST(Npy, TakesLabelsFromANamedFile) {
  const ScratchFolder folder;
  EXPECT_EQ(read_features(fixture("f4.npy"), {fixture("pair_labels.npy")}).classes(), 3U);
  const auto lines = folder.write("labels.txt", "owl\r\n7\nowl\n7\nowl\nape");
  const FeatureSet set = read_features(fixture("f4.npy"), {lines});
  EXPECT_EQ(copied(set.class_names()), (std::vector<std::string>{"7", "ape", "owl"}));
  EXPECT_EQ(copied(set.labels()), (std::vector<std::int32_t>{2, 0, 2, 0, 2, 1}));
  expect_error(ErrorKind::kInput, "expected 6 labels",
               [&] { read_features(fixture("f4.npy"), {folder.write("few.txt", "1\n2\n")}); });
  expect_error(ErrorKind::kInput, "labels.npy: expected labels of 0 or more, found -1 at row 0", [&] {
    folder.write("labels.npy", npy_header("<i1", std::array<std::size_t, 1>{1}) + '\xFF');
    read_features(fixture("f4.npy"), {folder / "labels.npy"});
  });
  expect_error(ErrorKind::kUsage, "holds its own labels",
               [&] { read_features(fixture("stored_f4.npz"), {fixture("pair_labels.npy")}); });
}

TEST(Npy, RejectsWhatIsNotAPlainArray) {
  expect_error(ErrorKind::kFormat, "\"<c8\"", [] { read_features(fixture("complex.npy")); });
  expect_error(ErrorKind::kFormat, "records", [] { read_features(fixture("record.npy")); });
}

std::string array_with(const std::string& literal, char version = '\x01') {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  file += static_cast<char>(literal.size() & 0xFFU);
  file += static_cast<char>(literal.size() >> 8U);
  if (version != '\x01') file += std::string(2, '\0');
  return file + literal;
}

std::string literal(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

void expect_rejected(const std::string& content, ErrorKind kind, std::string_view words) {
  expect_error(kind, words, [&] { FeatureSet(npy_features(in_memory(content))); });
}

TEST(Npy, RejectsHostileShapes) {
  constexpr auto kFormat = ErrorKind::kFormat;
  expect_rejected(array_with(literal("<f4", "(1099511627776, 1099511627776)")), kFormat, "impossibly large");
  expect_rejected(array_with(literal("<f4", "(4611686018427387904, 1)")), kFormat, "impossibly large");
  expect_rejected(array_with(literal("<f4", "(1000000, 1000000)")), kFormat, "bytes of array data, found 0");
  expect_rejected(array_with(literal("<f4", "(-1, 4)")), kFormat, "cannot be understood");
  expect_rejected(array_with(literal("<f4", "(18446744073709551616, 4)")), kFormat, "cannot be understood");
  expect_rejected(array_with(literal("<f4", "(0, 4)")), ErrorKind::kInput, "0 rows");
  expect_rejected(array_with(literal("<f4", "(2, 1)")) + std::string(9, 'x'), kFormat,
                  "8 bytes of array data, found 9");
  expect_rejected(array_with(literal("|S0", "(99999999999,)")), kFormat, "|S0");
  expect_rejected(array_with(literal("<U99999999999", "(1,)")), kFormat, "<U99999999999");
  expect_rejected(array_with(literal("|O", "(1,)")), kFormat, "pickled");
  std::string deep = "(";
  for (int i = 0; i < 40; ++i) deep += "1, ";
  expect_rejected(array_with(literal("<f4", deep + ")")), kFormat, "cannot be understood");
}

TEST(Npy, RejectsHeadersThatAreNotTheDictionary) {
  for (const char* const header :
       {"", "{", "{}", "[]", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)} x",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1, 1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}",
        "{'descr': '<f\\4', 'fortran_order': False, 'shape': (1, 1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1}", "{'descr': '<f4"}) {
    expect_rejected(array_with(header) + std::string(4, 'x'), ErrorKind::kFormat, "cannot be understood");
  }
  expect_rejected(array_with(literal("<f4", "(1, 1)"), '\x04'), ErrorKind::kFormat, "found 4");
  expect_rejected("\x93NUMPY\x02" + std::string(1, '\0') + "\xFF\xFF\xFF\xFF", ErrorKind::kFormat, "4294967295 bytes");
  expect_rejected("not an array at all", ErrorKind::kFormat, "expected a NumPy array");
}

TEST(Npy, ReadsTextOfEveryLength) {
  const std::string content = npy_header("|S3", std::array<std::size_t, 1>{3}) + std::string("abc\0\0\0a\0b", 9);
  const FileBytes file = in_memory(content);
  const ReadBytes read = read_from(file);
  const NpyHeader header = read_npy_header(read, "memory");
  EXPECT_EQ(read_npy_strings(header, read, "memory"), (std::vector<std::string>{"abc", "", std::string("a\0b", 3)}));
}

TEST(Npy, RejectsInvalidCodePoints) {
  const std::string content = npy_header("<U1", std::array<std::size_t, 1>{1}) + std::string("\x00\xD8\x00\x00", 4);
  const FileBytes file = in_memory(content);
  const ReadBytes read = read_from(file);
  const NpyHeader header = read_npy_header(read, "memory");
  expect_error(ErrorKind::kFormat, "code point 0xd800", [&] { read_npy_strings(header, read, "memory"); });
}

}  // namespace
}  // namespace annulus
