// Every reader against files cut at every byte and files with one byte changed: an Error or a result, nothing else.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "annulus/base/random.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/store/features/feature_formats.h"
#include "annulus/store/formats/npy.h"
#include "annulus/store/formats/safetensors.h"
#include "annulus/store/models/model_file.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/sample_features.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

using Reader = std::function<void(const FileBytes&)>;

struct Case {
  std::string name;
  std::string content;
  Reader read;
  bool binary = true;  // a text that ends early may still be a text
};

Reader features_by(FeatureSetParts (*read)(const FileBytes&)) {
  return [read](const FileBytes& file) { FeatureSet{read(file)}; };
}

// Without its checksum, so that what the readers themselves see is tested.
std::string unchecked(std::string content) {
  const std::size_t at = content.find(kChecksumEntry);
  if (at != std::string::npos) content[at] = 'x';
  return content;
}

std::string written(const std::string& name, WriteOptions options = {}) {
  const ScratchFolder folder;
  write_features(full_set(4, 3), folder / name, options);
  return content_of(folder / name);
}

std::string written_model() {
  const ScratchFolder folder;
  Model model;
  model.head = initial_head<float>(HeadKind::kCosine, 2, 3, 1, 0);
  model.class_names = {"auk", "owl"};
  write_model(model, folder / "model");
  return content_of(folder / "model");
}

std::vector<Case> cases() {
  const auto fixture = [](const char* name) {
    return content_of(std::filesystem::path(ANNULUS_TEST_DATA) / "features" / name);
  };
  const auto torch = [](const char* name) {
    return content_of(std::filesystem::path(ANNULUS_TEST_DATA) / "reproduce" / "torch_save" / name);
  };
  return {
      {"safetensors", written("a.safetensors"),
       [](const FileBytes& file) { FeatureSet{safetensors_features(file, false)}; }},
      {"npz", written("a.npz"), features_by(&npz_features)},
      {"deflated npz", written("a.npz", {FeatureType::kFloat16, true}), features_by(&npz_features)},
      {"NumPy's npz", fixture("full.npz"), features_by(&npz_features)},
      {"npy", fixture("f4.npy"), features_by(&npy_features)},
      {"Fortran npy", fixture("fortran_big_endian_f8.npy"), features_by(&npy_features)},
      {"pickled tensors", torch("pickled.pth"), features_by(&torch_features)},
      {"torch.save", torch("zip.pth"), features_by(&torch_features)},
      {"torch.save before 1.6", torch("legacy.pth"), features_by(&torch_features)},
      {"model", unchecked(written_model()), [](const FileBytes& file) { read_model(file); }},
      {"csv", "path,f,label\n\"a\",1.5,owl\nb,2e3,auk\n", features_by(&csv_features), false},
      {"libsvm", "1 1:2 3:4.5\n-1 2:1e3\n", features_by(&libsvm_features), false},
  };
}

// Copied to the heap, so that a sanitizer sees a read beyond the end.
bool is_accepted(const Case& test, const std::string& content) {
  const std::vector<char> copy(content.begin(), content.end());
  try {
    test.read(in_memory({copy.data(), copy.size()}));
    return true;
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()), "");
    return false;
  }
}

TEST(DamagedFiles, TheUndamagedOnesAreAccepted) {
  for (const Case& test : cases()) EXPECT_TRUE(is_accepted(test, test.content)) << test.name;
}

TEST(DamagedFiles, NoBinaryFileMayEndEarly) {
  for (const Case& test : cases()) {
    for (std::size_t size = 0; size < test.content.size(); ++size) {
      const bool accepted = is_accepted(test, test.content.substr(0, size));
      EXPECT_FALSE(accepted && test.binary) << test.name << " cut to " << size << " bytes";
    }
  }
}

TEST(DamagedFiles, ChangedBytesAreFoundOrHarmless) {
  for (const Case& test : cases()) {
    const RandomStream random{1, RandomUse::kSynthetic, 0};
    std::size_t rejected = 0;
    for (std::uint64_t trial = 0; trial < 3000; ++trial) {
      std::string content = test.content;
      const auto at = static_cast<std::size_t>(random.below(2 * trial, content.size()));
      content[at] = static_cast<char>(content[at] ^ static_cast<char>(1 + random.below(2 * trial + 1, 255)));
      if (!is_accepted(test, content)) ++rejected;
    }
    EXPECT_GT(rejected, 0U) << test.name;
  }
}

// Everything that Annulus writes as safetensors; only the name of the entry itself is not covered.
TEST(DamagedFiles, NoFlippedBitPassesTheChecksum) {
  for (const std::string name : {"model", "features"}) {
    const std::string content = name == "model" ? written_model() : written("a.safetensors");
    const auto read = [&](const std::string& text) {
      if (name == "model") {
        read_model(in_memory(text));
      } else {
        FeatureSet{safetensors_features(in_memory(text), true)};
      }
    };
    read(content);
    read(unchecked(content));
    const std::size_t key = content.find(kChecksumEntry);
    const std::size_t key_end = key + std::string_view(kChecksumEntry).size();
    for (std::size_t at = 0; at < content.size(); ++at) {
      if (at >= key && at < key_end) continue;
      std::string flipped = content;
      flipped[at] = static_cast<char>(flipped[at] ^ static_cast<char>(1 << at % 8));
      EXPECT_THROW(read(flipped), Error) << name << ", byte " << at;
    }
    std::string last = content;
    last.back() = static_cast<char>(last.back() ^ 1);
    expect_error(ErrorKind::kFormat, "do not match its checksum", [&] { read(last); });
  }
}

}  // namespace
}  // namespace annulus
