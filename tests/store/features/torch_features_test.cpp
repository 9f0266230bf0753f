// Features in PyTorch files: every way of writing them, and files that are something else.
#include <gtest/gtest.h>

#include <string>

#include "annulus/store/features/feature_file.h"
#include "annulus/store/features/feature_formats.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/sample_features.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

using namespace std::string_literals;

std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(ANNULUS_TEST_DATA) / "reproduce" / name;
}

// An unsigned length of four bytes, then the text.
std::string text(const std::string& value) {
  return "X" + std::string(1, static_cast<char>(value.size())) + "\0\0\0"s + value;
}

TEST(TorchFeatures, EveryWayOfWritingGivesTheSame) {
  const FeatureSet pickled = read_features(fixture("torch_save/pickled.pth"));
  EXPECT_EQ(pickled.rows(), 12U);
  EXPECT_EQ(pickled.dimension(), 8U);
  EXPECT_EQ(pickled.classes(), 12U);
  EXPECT_EQ(pickled.class_names()[11], "11");
  for (const char* name : {"torch_save/zip.pth", "torch_save/legacy.pth", "torch_save/view.pth"}) {
    const FeatureSet other = read_features(fixture(name));
    expect_same_bits(other, pickled);
    EXPECT_EQ(std::vector(other.labels().begin(), other.labels().end()),
              std::vector(pickled.labels().begin(), pickled.labels().end()))
        << name;
  }
  // Rows were normalised before they were written.
  const auto rows = rows_of(pickled);
  double squares = 0.0;
  for (const float value : rows.row(5)) squares += static_cast<double>(value) * static_cast<double>(value);
  EXPECT_NEAR(squares, 1.0, 1e-5);
}

TEST(TorchFeatures, AZipFileIsKnownByItsContent) {
  const ScratchFolder folder;
  folder.write("features.bin", content_of(fixture("torch_save/zip.pth")));
  EXPECT_EQ(read_features(folder / "features.bin").rows(), 12U);
  write_features(full_set(4, 3), folder / "a.npz");
  EXPECT_FALSE(is_torch_archive(in_memory(content_of(folder / "a.npz")).bytes));
}

TEST(TorchFeatures, OtherFilesAreRejectedInOneSentence) {
  const ScratchFolder folder;
  expect_error(ErrorKind::kFormat, "no_features.pth: expected a dict with a tensor named features, found none among",
               [&] { read_features(fixture("torch_save/no_features.pth")); });
  expect_error(ErrorKind::kFormat, "expected a PyTorch checkpoint",
               [&] { read_features(folder.write("a.pth", "1,2,3\n")); });
  expect_error(ErrorKind::kFormat, "expected a PyTorch checkpoint", [&] { read_features(folder.write("b.pth", "")); });
  // The dict {"featurez": floats, "targets": integers} with its second name changed to "features".
  std::string swapped = content_of(fixture("torch_save/pickled.pth"));
  swapped[swapped.find("features") + 7] = 'z';
  swapped.replace(swapped.find("\x8c\x07targets"), 9,
                  "\x8c\x08"
                  "features");
  expect_error(ErrorKind::kInput, "expected features of shape [rows, dimension], found [12]",
               [&] { read_features(folder.write("c.pth", swapped)); });
}

TEST(TorchFeatures, AHostilePickleIsNamedAndNotRun) {
  const ScratchFolder folder;
  const auto proof = folder / "was_run";
  const std::string call = "cos\nsystem\n" + text("touch " + proof.string()) + "\x85R";
  expect_error(ErrorKind::kFormat, "found os.system; nothing was run",
               [&] { read_features(folder.write("a.pth", "\x80\x02}(" + text("features") + call + "u.")); });
  // Bytes that Python would hand to torch.load, which would run them.
  const std::string inner = "\x80\x02" + call + ".";
  const std::string storage = "ctorch.storage\n_load_from_bytes\n" + text(inner) + "\x85R";
  const std::string tensor =
      "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + "K\0K\x01K\x01\x86K\x01K\x01\x86\x89}tR"s;
  expect_error(ErrorKind::kFormat, "expected a storage in PyTorch's older format",
               [&] { read_features(folder.write("b.pth", "\x80\x02}(" + text("features") + tensor + "u.")); });
  EXPECT_FALSE(std::filesystem::exists(proof));
}

TEST(TorchFeatures, ATensorMayNotShowMoreThanItsStorageHolds) {
  const ScratchFolder folder;
  std::string bytes = content_of(fixture("torch_save/pickled.pth"));
  // The shape (12, 8) of the features becomes (200, 8).
  const std::size_t at = bytes.find("K\0K\x0cK\x08\x86"s);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 3] = '\xc8';
  expect_error(ErrorKind::kFormat, "reaches element 1599 of a storage of 96",
               [&] { read_features(folder.write("a.pth", bytes)); });
}

}  // namespace
}  // namespace annulus
