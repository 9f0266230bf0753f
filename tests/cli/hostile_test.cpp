// More than 200 files that are broken, empty or something else, each shown to a subcommand: one sentence that names the
// file, an exit code, and nothing written.
#include <fmt/format.h>

#include <set>

#include "tests/fixtures/program.h"

namespace annulus {
namespace {

constexpr std::size_t kCuts = 40;
constexpr std::size_t kLeastInputs = 200;

struct Input {
  std::string name;
  std::string bytes;
};

// The file cut off at evenly spaced places, from nothing to all but the last byte.
void add_partitions(const std::string& name, const std::string& bytes, std::vector<Input>& inputs) {
  for (std::size_t i = 0; i < kCuts; ++i) {
    inputs.push_back({fmt::format("cut{}-{}", i, name), bytes.substr(0, (bytes.size() - 1) * i / (kCuts - 1))});
  }
}

// safetensors: a length, a JSON text of that length, numbers.
void add_broken_headers(const std::string& name, const std::string& bytes, std::vector<Input>& inputs) {
  constexpr std::size_t kLengthBytes = 8;
  for (std::size_t i = 1; i < kLengthBytes; ++i) {
    std::string changed = bytes;
    changed[i] = '\xff';
    inputs.push_back({fmt::format("length{}-{}", i, name), changed});
  }
  const std::size_t header = bytes.find('\0', kLengthBytes) - kLengthBytes;
  for (std::size_t i = 0; i < kCuts; ++i) {
    std::string changed = bytes;
    changed[kLengthBytes + std::min(header, std::size_t{400}) * i / kCuts] = '\x01';  // no JSON text holds that
    inputs.push_back({fmt::format("header{}-{}", i, name), changed});
  }
}

std::vector<Input> bad_tables() {
  std::vector<Input> inputs;
  const std::vector<std::string> csv{
      "",
      "\n",
      "\xff\xfe\xfd",
      "label,f0,f1\n",
      "label,f0,f1\na,1,2\n",
      "label,f0,f1\na,1,2\na,2,1\n",
      "label,f0,f1\na,1,2\nb,3\n",
      "label,f0,f1\na,1,2\nb,3,4,5\n",
      "label,f0,f1\na,one,2\nb,3,4\n",
      "label,f0,f1\na,1,2\nb,nan,4\n",
      "label,f0,f1\na,1,2\nb,inf,4\n",
      "label,f0,f1\na,1,2\nb,1e999,4\n",
      "label,f0,f1\na,1,2\nb,,4\n",
      "label,f0,f1\na,0,0\nb,0,0\n",
      "label,f0,f1\na,1,2\nb,\"3,4\n",
      "label\na\nb\n",
      "f0,f1\n1,2\n3,4\n",
      std::string("label,f0,f1\na,1,2\nb,3,\0\n", 24),
  };
  for (std::size_t i = 0; i < csv.size(); ++i) inputs.push_back({fmt::format("table{}.csv", i), csv[i]});
  const std::vector<std::string> libsvm{"",
                                        "a\n",
                                        "1 0:1\n2 1:1\n",
                                        "1 1:x\n2 1:1\n",
                                        "1 1:nan\n2 1:1\n",
                                        "1 2:1 1:1\n",
                                        "1 1:1\n1 1:2\n",
                                        "1 1\n2 1:1\n",
                                        "1 99999999999:1\n2 1:1\n"};
  for (std::size_t i = 0; i < libsvm.size(); ++i) inputs.push_back({fmt::format("lines{}.libsvm", i), libsvm[i]});
  for (const char* name : {"words.npz", "words.npy", "words.safetensors", "words.pth", "words.pt", "words.dat"}) {
    inputs.push_back({name, "nothing but words"});
  }
  return inputs;
}

class Hostile : public ::testing::Test {
 protected:
  void SetUp() override {
    features_ = write_small_features(scratch_);
    write_small_features(scratch_, small_data(), "features.npz");
    model_ = scratch_ / "model.safetensors";
    ASSERT_EQ(run_annulus(scratch_, quickly({"fit", features_, "-q", "-o", model_})).exit_code, 0);
  }

  // Shows the input to the command, in which "?" stands for its path.
  void expect_rejected(const Input& input, std::vector<std::string> command) {
    const std::string path = scratch_ / input.name;
    std::ofstream(path, std::ios::binary) << input.bytes;
    std::replace(command.begin(), command.end(), std::string("?"), path);
    const std::set<std::string> before = files();
    const Outcome outcome = run_annulus(scratch_, command);
    const std::string what = fmt::format("{} {}: ", command.front(), input.name);
    EXPECT_TRUE(outcome.exit_code >= 2 && outcome.exit_code <= 5) << what << outcome.exit_code << " " << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("annulus: ")) << what << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << what << outcome.err;
    EXPECT_NE(outcome.err.find(input.name), std::string::npos) << what << outcome.err;
    EXPECT_EQ(outcome.out, "") << what;
    EXPECT_EQ(files(), before) << what;
    std::filesystem::remove(path);
    inputs_.insert(input.bytes);
  }

  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch_.folder())) {
      const std::string name = entry.path().filename().string();
      if (name != ".out" && name != ".err") names.insert(entry.path().string());
    }
    return names;
  }

  Scratch scratch_;
  std::string features_;
  std::string model_;
  std::set<std::string> inputs_;  // that were shown
};

TEST_F(Hostile, EveryOneOfManyBadInputsGetsASentence) {
  const std::string out = scratch_ / "written";
  const std::vector<std::vector<std::string>> learning = {
      {"fit", "?", "-q", "-o", out},
      {"audit", "?", "-q", "--json", out},
      {"add-class", model_, "?", "--name", "new", "-q", "-o", out},
      {"predict", model_, "?", "-q", "-o", out},
  };
  const std::vector<std::vector<std::string>> using_models = {
      {"predict", "?", features_, "-q", "-o", out},
      {"export", "?", "-q", "--card", out},
      {"add-class", "?", features_, "--name", "new", "-q", "-o", out},
      {"remove-class", "?", "--name", "class-000", "-q", "-o", out},
  };
  std::vector<Input> data;
  add_partitions("features.safetensors", read_text(features_), data);
  add_partitions("features.npz", read_text(scratch_ / "features.npz"), data);
  add_broken_headers("features.safetensors", read_text(features_), data);
  for (std::size_t i = 0; i < data.size(); ++i) expect_rejected(data[i], learning[i % learning.size()]);
  // Tables that other subcommands might make something of: to learn from they are all bad.
  for (const Input& input : bad_tables()) expect_rejected(input, learning.front());
  std::vector<Input> models;
  add_partitions("model.safetensors", read_text(model_), models);
  add_broken_headers("model.safetensors", read_text(model_), models);
  models.push_back({"features-not-a-model.safetensors", read_text(features_)});
  for (std::size_t i = 0; i < models.size(); ++i) expect_rejected(models[i], using_models[i % using_models.size()]);
  EXPECT_GE(inputs_.size(), kLeastInputs) << "distinct inputs";
}

}  // namespace
}  // namespace annulus
