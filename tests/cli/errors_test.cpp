// Bad input of every kind: the exit code and the sentence.
#include "tests/cli/program.h"

namespace annulus {
namespace {

constexpr int kUsage = 2;
constexpr int kInput = 3;
constexpr int kFormat = 4;
constexpr int kIo = 5;

TEST(Errors, AVerbIsNeededAndMustBeKnown) {
  const Scratch scratch;
  expect_complaint(run_annulus(scratch, {}), kUsage, "annulus --help");
  expect_complaint(run_annulus(scratch, {"fry", "x"}), kUsage, "\"fry\" is unknown");
  expect_complaint(run_annulus(scratch, {"fit", "--nonsense"}), kUsage, "annulus fit --help");
}

TEST(Errors, MissingFileAndFolder) {
  const Scratch scratch;
  const std::string output = scratch / "m.safetensors";
  expect_complaint(run_annulus(scratch, {"fit", scratch / "nowhere.npz", "-o", output}), kIo, "nowhere.npz");
  expect_complaint(run_annulus(scratch, {"predict", scratch / "none.safetensors", scratch / "x.npz"}), kIo,
                   "none.safetensors");
  const std::string folder = scratch.folder().string();
  expect_complaint(run_annulus(scratch, {"predict", folder, scratch / "x.npz"}), kIo, folder);
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST(Errors, FilesThatAreSomethingElse) {
  const Scratch scratch;
  std::ofstream(scratch / "bad.npz") << "PK\3\4 but nothing of a zip file follows";
  expect_complaint(run_annulus(scratch, {"fit", scratch / "bad.npz", "-o", scratch / "m.safetensors"}), kFormat,
                   "bad.npz");
  const std::string features = write_small_features(scratch);
  expect_complaint(run_annulus(scratch, {"predict", features, features}), kFormat, "features.safetensors");
}

TEST(Errors, DataThatCannotBeLearntFrom) {
  const Scratch scratch;
  const std::string output = scratch / "m.safetensors";
  std::ofstream(scratch / "one.csv") << "label,f0,f1\na,1,2\na,2,1\n";
  expect_complaint(run_annulus(scratch, {"fit", scratch / "one.csv", "-o", output}), kInput, "at least two classes");
  std::ofstream(scratch / "nan.csv") << "label,f0,f1\na,1,2\nb,nan,1\n";
  expect_complaint(run_annulus(scratch, {"fit", scratch / "nan.csv", "-o", output}), kInput, "line 3, column 2");
  const std::string features = write_small_features(scratch);
  expect_complaint(run_annulus(scratch, {"fit", features, "--shots", "7", "-o", output}), kInput,
                   "\"class-000\" has 6 training rows, but 7 are needed");
  expect_complaint(run_annulus(scratch, {"evaluate", features, "--shots", "1,7"}), kInput, "7 are needed");
}

TEST(Errors, FeaturesOfAnotherDimension) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = scratch / "m.safetensors";
  ASSERT_EQ(run_annulus(scratch, quickly({"fit", features, "-o", model})).exit_code, 0);
  SyntheticOptions wide = small_data();
  wide.dimension = 20;
  const std::string other = write_small_features(scratch, wide, "wide.npz");
  expect_complaint(run_annulus(scratch, {"predict", model, other, "-o", scratch / "out.txt"}), kInput,
                   "expected features of 16 numbers");
  EXPECT_FALSE(std::filesystem::exists(scratch / "out.txt"));
  expect_complaint(run_annulus(scratch, {"evaluate", "--train", features, "--test", other}), kInput, "16 numbers");
}

TEST(Errors, NamesAndNumbersThatMakeNoSense) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string output = scratch / "m.safetensors";
  const std::vector<std::pair<std::string, std::string>> bad{
      {"--recipe", "secret"},      {"--head", "round"},       {"--shots", "few"},  {"--shots", "-1"},
      {"--epochs", "0"},           {"--virtual", "0"},        {"--epsilon", "-1"}, {"--epsilon", "nan"},
      {"--threshold", "1.5"},      {"--search-range", "3,1"}, {"--threads", "-3"}, {"--lr", "inf"},
      {"--search-tolerance", "0"}, {"--search-range", "1"},   {"--method", "svm"}, {"--noise", "loud"}};
  for (const auto& [name, value] : bad) {
    const Outcome outcome = run_annulus(scratch, {"fit", features, "-o", output, name, value});
    expect_complaint(outcome, kUsage, name);
    EXPECT_NE(outcome.err.find(value.substr(0, 3)), std::string::npos) << outcome.err;
  }
  expect_complaint(run_annulus(scratch, {"evaluate", features, "--methods", "ncm,magic"}), kUsage,
                   "\"magic\" is unknown; expected one of ncm, simpleshot, knn,");
  expect_complaint(run_annulus(scratch, {"evaluate", features, "--subsets", "0"}), kUsage, "--subsets");
  expect_complaint(run_annulus(scratch, {"evaluate"}), kUsage, "--train and --test");
  expect_complaint(run_annulus(scratch, {"evaluate", "--train", features}), kUsage, "--train and --test");
  expect_complaint(run_annulus(scratch, {"demo-generated", "--ways", "1"}), kUsage, "at least 2 classes");
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST(Errors, OutputThatCannotBeWritten) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  expect_complaint(run_annulus(scratch, quickly({"fit", features, "-q", "-o", scratch / "no/such/m.safetensors"})), kIo,
                   "no/such/m.safetensors");
  expect_complaint(run_annulus(scratch, {"evaluate", features, "-q", "--methods", "ncm", "--json", "/proc/no/r.json"}),
                   kIo, "/proc/no/r.json");
  const std::string command = ANNULUS_PROGRAM " evaluate " + features + " --methods ncm > /dev/full";
  expect_complaint(Child(scratch, {"bash", "-c", command}).wait(), kIo, "standard output");
}

}  // namespace
}  // namespace annulus
