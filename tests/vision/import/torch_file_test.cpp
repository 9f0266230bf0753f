// PyTorch files: numbers of every width and stride, and no harm from truncated, damaged or hostile ones.
#include "annulus/vision/import/torch_file.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zip.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "annulus/base/error.h"

namespace annulus {
namespace {

using namespace std::string_literals;

std::string fixture(const std::string& name) {
  std::ifstream stream(std::filesystem::path(ANNULUS_TEST_DATA) / "import" / name, std::ios::binary);
  EXPECT_TRUE(stream) << name;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

TensorFile read(const std::string& bytes, bool inert = false) {
  const auto owner = std::make_shared<const std::string>(bytes);
  return read_torch_file(std::as_bytes(std::span(*owner)), owner, "test.pth", {inert});
}

std::string error_of(const std::string& bytes, bool inert = false) {
  try {
    const TensorFile file = read(bytes, inert);
    for (const auto& [name, tensor] : file.tensors()) {
      const bool whole = tensor.type == NumberType::kInt64 || tensor.type == NumberType::kUint8;
      if (whole) {
        file.read_integers(name);
      } else {
        file.read_floats(name);
      }
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// A zip archive of stored entries in memory.
std::string zip_of(const std::vector<std::pair<std::string, std::string>>& entries, bool compress = false) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* memory = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_source_keep(memory);
  zip_t* archive = zip_open_from_source(memory, ZIP_TRUNCATE, &error);
  for (const auto& [name, data] : entries) {
    const zip_int64_t index =
        zip_file_add(archive, name.c_str(), zip_source_buffer(archive, data.data(), data.size(), 0), ZIP_FL_ENC_UTF_8);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  EXPECT_EQ(zip_close(archive), 0);
  zip_source_open(memory);
  zip_source_seek(memory, 0, SEEK_END);
  std::string bytes(static_cast<std::size_t>(zip_source_tell(memory)), '\0');
  zip_source_seek(memory, 0, SEEK_SET);
  zip_source_read(memory, bytes.data(), bytes.size());
  zip_source_close(memory);
  zip_source_free(memory);
  return bytes;
}

std::string text(const std::string& value) {
  return "X" + std::string(1, static_cast<char>(value.size())) + "\0\0\0"s + value;
}

// A pickled tensor over storage "0".
std::string tensor(const std::string& type, const std::string& elements, const std::string& offset,
                   const std::string& shape, const std::string& stride) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" + type + "\n" + text("0") +
         text("cpu") + elements + "tQ" + offset + shape + stride + "\x89}tR";
}

std::string file_of(const std::string& pickle, const std::string& storage = {}) {
  return zip_of({{"archive/data.pkl", "\x80\x02" + pickle + "."}, {"archive/data/0", storage}});
}

template <class T>
std::string raw(std::initializer_list<T> values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

TEST(TorchFile, ReadsEveryWidth) {
  const auto floats = [&](const char* type, const std::string& storage) {
    return read(file_of(tensor(type, "K\x02", "K\0"s, "K\x02\x85", "K\x01\x85"), storage)).read_floats("");
  };
  EXPECT_EQ(floats("DoubleStorage", raw<double>({1.5, -2})), (std::vector<float>{1.5F, -2}));
  EXPECT_EQ(floats("FloatStorage", raw<float>({1.5F, -2})), (std::vector<float>{1.5F, -2}));
  EXPECT_EQ(floats("HalfStorage", raw<std::uint16_t>({0x3e00, 0xc000})), (std::vector<float>{1.5F, -2}));
  EXPECT_EQ(floats("BFloat16Storage", raw<std::uint16_t>({0x3fc0, 0xc000})), (std::vector<float>{1.5F, -2}));
  const TensorFile whole =
      read(file_of(tensor("LongStorage", "K\x02", "K\0"s, "K\x02\x85", "K\x01\x85"), raw<std::int64_t>({7, -9})));
  EXPECT_EQ(whole.read_integers(""), (std::vector<std::int64_t>{7, -9}));
  EXPECT_THROW(whole.read_floats(""), Error);
}

TEST(TorchFile, FollowsOffsetsAndStrides) {
  // The transpose of rows 1 and 2 of [[0, 1], [2, 3], [4, 5]].
  const std::string pickle = tensor("FloatStorage", "K\x06", "K\x02", "K\x02K\x02\x86", "K\x01K\x02\x86");
  EXPECT_EQ(read(file_of(pickle, raw<float>({0, 1, 2, 3, 4, 5}))).read_floats(""), (std::vector<float>{2, 4, 3, 5}));
}

TEST(TorchFile, ReadsNestedTensorsAndListsOfNumbers) {
  // {"features": tensor, "targets": [3, 1], "more": [tensor]}
  const std::string one = tensor("FloatStorage", "K\x01", "K\0"s, "K\x01\x85", "K\x01\x85");
  const TensorFile file = read(file_of("}(" + text("features") + one + text("targets") +
                                           "](K\x03K\x01"
                                           "e" +
                                           text("more") + "](" + one + "eu",
                                       raw<float>({4})));
  EXPECT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.read_floats("features"), (std::vector<float>{4}));
  EXPECT_EQ(file.read_floats("more.0"), (std::vector<float>{4}));
  EXPECT_EQ(file.read_integers("targets"), (std::vector<std::int64_t>{3, 1}));
  EXPECT_THROW(file.read_floats("nothing"), Error);
}

TEST(TorchFile, AHostilePickleIsNamedAndNotRun) {
  const std::filesystem::path proof =
      std::filesystem::temp_directory_path() / ("annulus_pickle_was_run_" + std::to_string(::getpid()));
  std::filesystem::remove(proof);
  const std::string command = "touch " + proof.string();
  for (const std::string& module : {"os"s, "posix"s}) {
    const std::string call = "c" + module + "\nsystem\n" + text(command) + "\x85R";
    const std::string message = error_of(file_of("}(" + text("x") + call + "u"));
    EXPECT_NE(message.find("found " + module + ".system; nothing was run"), std::string::npos) << message;
    EXPECT_EQ(error_of(file_of("}(" + text("x") + call + "u"), true), "no error");
  }
  EXPECT_NE(error_of(file_of("cbuiltins\neval\n" + text("1") + "\x85R")).find("builtins.eval"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(proof));
}

// A compiled module with a tensor in a module within it, as torch.jit.save writes them.
std::string script_pickle(const std::string& beside = {}) {
  const std::string values = tensor("HalfStorage", "K\x02", "K\0"s, "K\x02\x85", "K\x01\x85");
  const std::string inner = "c__torch__.inner\nInner\n)\x81}(" + text("weight") + values + "ub";
  return "c__torch__.outer\nOuter\n)\x81}(" + text("visual") + inner + beside + "ub";
}
std::string script_of(const std::string& pickle) {
  return zip_of({{"archive/data.pkl", "\x80\x02" + pickle + "."},
                 {"archive/data/0", raw<std::uint16_t>({0x3C00, 0xC000})},
                 {"archive/constants.pkl", "\x80\x02)."},
                 {"archive/code/__torch__/outer.py", "raise SystemExit"}});
}

TEST(TorchFile, CompiledModulesAreNamesWithTensors) {
  const std::string bytes = script_of(script_pickle());
  const TensorFile file = read_torch_file(std::as_bytes(std::span(bytes)), nullptr, "test");
  ASSERT_EQ(file.tensors().size(), 1U);
  EXPECT_EQ(file.read_floats("visual.weight"), (std::vector<float>{1, -2}));
  // The same pickle is an unknown class where there is no compiled module around it.
  EXPECT_NE(error_of(file_of(script_pickle(), raw<std::uint16_t>({0, 0}))).find("__torch__.outer.Outer"),
            std::string::npos);
}

TEST(TorchFile, CompiledModulesHoldNothingElse) {
  const std::string call = text("x") + "cos\nsystem\n" + text("true") + "\x85R";
  const std::string message = error_of(script_of(script_pickle(call)));
  EXPECT_NE(message.find("found os.system; nothing was run"), std::string::npos) << message;
  // A module that is its own attribute.
  const std::string cycle = "c__torch__.outer\nOuter\n)\x81q\0}("s + text("self") + "h\0ub"s;
  EXPECT_NE(error_of(script_of(cycle)), "no error");
}

TEST(TorchFile, TensorsBeyondTheirStorageAreRejected) {
  const std::string eight = raw<float>({1, 2});
  const auto message = [&](const std::string& elements, const std::string& offset, const std::string& shape,
                           const std::string& stride) {
    return error_of(file_of(tensor("FloatStorage", elements, offset, shape, stride), eight));
  };
  EXPECT_NE(message("K\x02", "K\x01", "K\x02\x85", "K\x01\x85").find("reaches element 2 of a storage of 2"),
            std::string::npos);
  // The pickle promises more than the entry holds.
  EXPECT_NE(message("K\x09", "K\0"s, "K\x09\x85", "K\x01\x85").find("expected 9 elements"), std::string::npos);
  // One number shown 2^40 times.
  EXPECT_NE(
      message("K\x02", "K\0"s, "\x8a\x06\0\0\0\0\0\x01\x85"s, "K\0\x85"s).find("elements but its storage holds 2"),
      std::string::npos);
  // Products and strides that overflow.
  EXPECT_NE(message("K\x02", "K\0"s, "\x8a\x08\0\0\0\0\0\0\0\x40\x8a\x08\0\0\0\0\0\0\0\x40\x86"s, "K\0K\0\x86"s)
                .find("too large"),
            std::string::npos);
  EXPECT_NE(
      message("K\x02", "K\0"s, "K\x05\x85", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x85").find("makes no sense"),
      std::string::npos);
  EXPECT_NE(message("K\x02", "K\0"s, "J\xff\xff\xff\xff\x85", "K\x01\x85").find("makes no sense"), std::string::npos);
  EXPECT_NE(message("K\x02", "K\0"s, "K\x02\x85", ")").find("makes no sense"), std::string::npos);
  EXPECT_NE(
      error_of(file_of(tensor("QInt8Storage", "K\x02", "K\0"s, "K\x02\x85", "K\x01\x85"), eight)).find("QInt8Storage"),
      std::string::npos);
}

TEST(TorchFile, ManyPathsToOneObjectDoNotHang) {
  // a = [x]; b = [a] * 10; c = [b] * 10; ... thirty times: 10^30 paths.
  std::string pickle = "]q\0(Ne0"s;
  for (char level = 1; level <= 30; ++level) {
    pickle += "]q"s + level + "(";
    for (int i = 0; i < 10; ++i) pickle += "h"s + static_cast<char>(level - 1);
    pickle += level < 30 ? "e0" : "e";
  }
  EXPECT_NE(error_of(file_of(pickle)).find("refer to each other too often"), std::string::npos);
  // A list that holds itself.
  EXPECT_NE(error_of(file_of("]q\0h\0a"s + std::string(400, 'N') + std::string(400, '0'))).find("nested deeper"),
            std::string::npos);
}

TEST(TorchFile, OtherArchivesAreRejected) {
  EXPECT_NE(error_of(zip_of({{"readme", "hello"}})).find("no data.pkl"), std::string::npos);
  EXPECT_NE(error_of("PK\x03\x04 and nothing").find("expected a PyTorch zip file"), std::string::npos);
  EXPECT_NE(error_of("hello").find("expected a PyTorch checkpoint"), std::string::npos);
  const std::string pickle = "\x80\x02" + std::string(5000, '(') + ".";
  EXPECT_NE(error_of(zip_of({{"archive/data.pkl", pickle}}, true)).find("stored uncompressed"), std::string::npos);
  EXPECT_NE(error_of(zip_of({{"a/data.pkl", "\x80\x02N."}, {"a/byteorder", "big"}})).find("little-endian"),
            std::string::npos);
}

TEST(TorchFile, TruncatedFilesAreRejectedWhereverTheyEnd) {
  for (const char* name : {"dino_plain.pth", "dino_plain_legacy.pth", "clip_script.pt"}) {
    const std::string whole = fixture(name);
    EXPECT_EQ(error_of(whole), "no error");
    for (std::size_t size = 0; size < whole.size(); size += 1 + size / 50) {
      EXPECT_NE(error_of(whole.substr(0, size)), "no error") << name << " cut at " << size;
    }
  }
}

TEST(TorchFile, DamagedBytesNeverCrash) {
  for (const char* name : {"dino_training.pth", "dino_training_legacy.pth", "clip_script.pt"}) {
    const std::string whole = fixture(name);
    std::size_t rejected = 0;
    for (std::size_t at = 0; at < whole.size(); at += 97) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
      rejected += error_of(damaged, true) != "no error" ? 1U : 0U;
    }
    EXPECT_GT(rejected, 0U) << name;
  }
}

TEST(TorchFile, DamagedValuesAreDetected) {
  const std::string storage = raw<float>({0.125F, 8.5F});
  std::string bytes = file_of(tensor("FloatStorage", "K\x02", "K\0"s, "K\x02\x85", "K\x01\x85"), storage);
  const std::size_t at = bytes.find(storage);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 1] = '\x01';
  EXPECT_NE(error_of(bytes).find("archive/data/0 is damaged"), std::string::npos) << error_of(bytes);
}

}  // namespace
}  // namespace annulus
