// Bad input of every kind: the exit code and the sentence.
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

constexpr int kUsage = 2;
constexpr int kInput = 3;
constexpr int kFormat = 4;
constexpr int kIo = 5;

TEST(Errors, ASubcommandIsNeededAndMustBeKnown) {
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
                   "\"class-000\" has 6 training examples, but 7 are needed");
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
                   "expected features of 16 dimensions");
  EXPECT_FALSE(std::filesystem::exists(scratch / "out.txt"));
  expect_complaint(run_annulus(scratch, {"evaluate", "--train", features, "--test", other}), kInput, "16 dimensions");
}

TEST(Errors, NamesAndNumbersThatMakeNoSense) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string output = scratch / "m.safetensors";
  const std::vector<std::pair<std::string, std::string>> bad{
      {"--recipe", "secret"},      {"--head", "round"},       {"--shots", "few"},  {"--shots", "-1"},
      {"--epochs", "0"},           {"--virtual", "0"},        {"--epsilon", "-1"}, {"--epsilon", "nan"},
      {"--threshold", "1.5"},      {"--search-range", "3,1"}, {"--threads", "-3"}, {"--lr", "inf"},
      {"--search-tolerance", "0"}, {"--search-range", "1"},   {"--recipe", "svm"}, {"--noise", "loud"}};
  for (const auto& [name, value] : bad) {
    const Outcome outcome = run_annulus(scratch, {"fit", features, "-o", output, name, value});
    expect_complaint(outcome, kUsage, name);
    EXPECT_EQ(outcome.err.find('_'), std::string::npos) << outcome.err;  // no field in the library's words
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

// The library names fields; the program says which option sets them.
TEST(Errors, OptionsAreNamedAsTheUserTypesThem) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = scratch / "m.safetensors";
  const auto fit = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"fit", features, "-q", "-o", model});
    return run_annulus(scratch, options);
  };
  expect_complaint(fit({"--lr", "-1"}), kUsage, "annulus: expected --lr to be above 0 and at most 1000000, found -1\n");
  expect_complaint(fit({"--virtual", "0"}), kUsage, "annulus: expected --virtual to be 1 or more, found 0\n");
  expect_complaint(run_annulus(scratch, {"ablate", features, "-q", "--what", "virtual", "--values", "x"}), kUsage,
                   "expected --values of the ablation virtual to be numbers from");
  expect_complaint(run_annulus(scratch, {"ablate", features, "-q", "--what", "classes", "--values", "1"}), kUsage,
                   "expected no --values for the ablation classes, found \"1\"");
  ASSERT_EQ(fit({"--epochs", "2", "--epsilon", "0.1"}).exit_code, 0);
  expect_complaint(run_annulus(scratch, {"predict", model, features, "--false-reject", "1.5"}), kUsage,
                   "annulus: expected --false-reject to be a rate from 0 to less than 1, found 1.5\n");
}

TEST(Errors, AnOutputThatIsAnInputIsRejected) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = scratch / "m.safetensors";
  ASSERT_EQ(run_annulus(scratch, quickly({"fit", features, "-q", "-o", model})).exit_code, 0);
  std::filesystem::create_symlink(model, scratch / "link");
  std::filesystem::create_hard_link(model, scratch / "hard");
  const std::string before = read_text(model);
  for (const std::string& output : {model, scratch / "link", scratch / "hard", scratch / "./m.safetensors"}) {
    expect_complaint(run_annulus(scratch, {"predict", model, features, "-o", output}), 2, "output that is no input");
    EXPECT_EQ(read_text(model), before) << output;
  }
  expect_complaint(run_annulus(scratch, quickly({"fit", features, "-o", features})), 2, "output that is no input");
}

TEST(Errors, AHomeThatCannotBeMadeIsAnErrorOfTheSystem) {
  const Scratch scratch;
  const Outcome started =
      Child(scratch, {"env", "HOME=/dev/null/home", "ANNULUS_STUDIO=", "STATE_DIRECTORY=", "ANNULUS_OFFLINE=1",
                      ANNULUS_PROGRAM, "studio", "--no-open"})
          .wait();
  if (started.exit_code == 2) {
    expect_complaint(started, 2, "built without the studio's page");
  } else {
    expect_complaint(started, 5, "/dev/null/home/annulus-studio: expected a folder");
  }
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
