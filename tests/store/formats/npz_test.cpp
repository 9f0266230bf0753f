// .npz archives as NumPy writes them, under the array names that others use, and archives that lie.
#include "annulus/store/formats/npz.h"

#include <gtest/gtest.h>
#include <zip.h>

#include <string>

#include "annulus/store/features/feature_file.h"
#include "annulus/store/features/feature_formats.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/sample_features.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

using Names = std::vector<std::string>;
using Labels = std::vector<std::int32_t>;

FeatureSet read_fixture(const std::string& name) {
  return read_features(std::filesystem::path(ANNULUS_TEST_DATA) / "features" / (name + ".npz"));
}

struct Case {
  const char* name;
  Names class_names;
  Labels labels;
};

class NpzFixture : public testing::TestWithParam<Case> {};

TEST_P(NpzFixture, HoldsTheNumbersOfTheScript) {
  const FeatureSet set = read_fixture(GetParam().name);
  EXPECT_EQ(copied(set.class_names()), GetParam().class_names);
  EXPECT_EQ(copied(set.labels()), GetParam().labels);
  const auto rows = rows_of(set);
  ASSERT_EQ(rows.rows(), 6U);
  ASSERT_EQ(rows.cols(), 5U);
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      EXPECT_EQ(rows(i, j), (static_cast<float>((i * 5 + j * 3) % 16) - 7.0F) / 4.0F);
    }
  }
}

const Labels kInTurn = {0, 1, 2, 0, 1, 2};
const Names kNumbers = {"0", "1", "2"};
INSTANTIATE_TEST_SUITE_P(Archives, NpzFixture,
                         testing::Values(Case{"stored_f4", kNumbers, kInTurn}, Case{"deflated_f8", kNumbers, kInTurn},
                                         Case{"f2_text_labels", {"Bülbül", "auk", "cuckoo"}, {1, 0, 2, 1, 0, 2}},
                                         Case{"bytes_labels", {"x", "yy", "z"}, kInTurn},
                                         Case{"big_endian_text", {"auk", "Bülbül", "cuckoo"}, kInTurn},
                                         Case{"coop", kNumbers, kInTurn}, Case{"msn", kNumbers, kInTurn},
                                         Case{"targets_u1", kNumbers, kInTurn},
                                         Case{"sparse_labels", {"3", "10", "200"}, {2, 0, 1, 0, 2, 1}},
                                         Case{"full", {"auk", "Bülbül", "cuckoo", "unseen"}, kInTurn},
                                         Case{"unlabelled", {}, {}}),
                         [](const auto& test) { return test.param.name; });

TEST(Npz, ReadsEveryColumn) {
  const FeatureSet set = read_fixture("full");
  EXPECT_EQ(copied(set.is_train()), (std::vector<std::uint8_t>{1, 0, 1, 1, 0, 1}));
  EXPECT_EQ(set.paths()[5], "5/bild ä.jpg");
  EXPECT_EQ(set.provenance().at("backbone"), "tiny");
}

TEST(Npz, SaysWhatIsWrongWithTheData) {
  constexpr auto kInput = ErrorKind::kInput;
  expect_error(ErrorKind::kFormat, "pickled Python objects", [] { read_fixture("pickled_labels"); });
  expect_error(kInput, "found -1 at row 0", [] { read_fixture("negative_labels"); });
  expect_error(kInput, "label 2 at row 2 is beyond the 2 class names", [] { read_fixture("label_beyond_names"); });
  expect_error(kInput, "expected 6 values, one for each feature row, but found 5",
               [] { read_fixture("short_labels"); });
  expect_error(kInput, "found NaN at row 3, column 0", [] { read_fixture("nan"); });
  expect_error(kInput, "found infinity at row", [] { read_fixture("infinity"); });
  expect_error(kInput, "row 4 holds only zeros", [] { read_fixture("zero_row"); });
  expect_error(kInput, "expected features of shape (rows, dimension), found (30)", [] { read_fixture("flat"); });
  expect_error(ErrorKind::kFormat, "features or feature_list or embs", [] { read_fixture("no_features"); });
}

TEST(Npz, RejectsABombBeforeItExpands) {
  expect_error(ErrorKind::kFormat, "expands to 16777344 bytes", [] { read_fixture("bomb"); });
}

// An archive of the given entries, made by libzip.
std::string archive_of(const std::vector<std::pair<std::string, std::string>>& entries) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const target = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_source_keep(target);
  zip_t* const archive = zip_open_from_source(target, ZIP_TRUNCATE, &error);
  for (const auto& [name, content] : entries) {
    zip_source_t* const source = zip_source_buffer(archive, content.data(), content.size(), 0);
    const auto index = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    EXPECT_GE(index, 0) << name;
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  EXPECT_EQ(zip_close(archive), 0);
  zip_source_open(target);
  zip_stat_t status;
  zip_source_stat(target, &status);
  std::string content(status.size, '\0');
  zip_source_read(target, content.data(), content.size());
  zip_source_close(target);
  zip_source_free(target);
  return content;
}

std::string array(const std::string& descr, std::vector<std::size_t> shape, const std::string& data) {
  return npy_header(descr, shape) + data;
}

void expect_rejected(const std::string& content, ErrorKind kind, std::string_view words) {
  expect_error(kind, words, [&] { FeatureSet(npz_features(in_memory(content))); });
}

const std::string kTwoByTwo = array("|u1", {2, 2}, "abcd");

TEST(Npz, AcceptsTheSmallestArchive) {
  const std::string content = archive_of({{"features.npy", kTwoByTwo}, {"readme.txt", "hello"}});
  const FeatureSet set(npz_features(in_memory(content)));
  EXPECT_EQ(rows_of(set)(1, 1), 100.0F);
}

TEST(Npz, RejectsSizesThatDisagree) {
  expect_rejected(archive_of({{"features.npy", array("<f4", {99999, 99999}, "abcd")}}), ErrorKind::kFormat,
                  "needs 39999200004 bytes, but the archive holds 4");
  expect_rejected(archive_of({{"features.npy", "\x93NUMPY"}}), ErrorKind::kFormat, "ends too early");
  expect_rejected(archive_of({}), ErrorKind::kFormat, "found none of them");
}

TEST(Npz, RejectsADamagedArray) {
  std::string content = archive_of({{"features.npy", kTwoByTwo}});
  content[content.find("abcd")] = 'x';
  expect_rejected(content, ErrorKind::kFormat, "is damaged: CRC error");
}

TEST(Npz, RejectsTwoArraysOfOneName) {
  std::string content = archive_of({{"features.npy", kTwoByTwo}, {"featurez.npy", kTwoByTwo}});
  for (std::size_t at = content.find("featurez"); at != std::string::npos; at = content.find("featurez")) {
    content[at + 7] = 's';
  }
  expect_rejected(content, ErrorKind::kFormat, "two arrays named \"features\"");
}

TEST(Npz, ChecksTextColumns) {
  constexpr auto kInput = ErrorKind::kInput;
  const auto with = [](const std::string& name, const std::string& content) {
    return archive_of({{"features.npy", kTwoByTwo}, {name + ".npy", content}});
  };
  expect_rejected(with("class_names", array("|S1", {2}, "aa")), kInput, "found \"a\" twice");
  expect_rejected(with("class_names", array("|u1", {2}, "ab")), kInput, "expected text, found the type |u1");
  expect_rejected(with("paths", array("|S1", {3}, "abc")), kInput, "expected 2 values");
  expect_rejected(with("is_train", array("|u1", {2}, "ab")), kInput, "is_train to be 0 or 1, found 97");
  expect_rejected(with("labels", array("<f4", {2}, "12345678")), kInput, "expected integers, found the type <f4");
  expect_rejected(with("labels", array("<u8", {2}, std::string(16, '\xFF'))), kInput, "too large for a label");
  expect_rejected(with("provenance", array("|S2", {}, "[]")), ErrorKind::kFormat, "expected a JSON object");
}

}  // namespace
}  // namespace annulus
