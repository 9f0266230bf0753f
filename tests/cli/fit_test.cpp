// fit: from a feature file to a model file.
#include <chrono>
#include <thread>

#include "annulus/store/models/model_file.h"
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

std::string fit_model(const Scratch& scratch, const std::string& features, const std::vector<std::string>& more,
                      const std::string& name) {
  std::vector<std::string> arguments{"fit", features, "-o", scratch / name};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome fit = run_annulus(scratch, quickly(arguments));
  EXPECT_EQ(fit.exit_code, 0) << fit.err;
  return scratch / name;
}

TEST(Fit, PrintsWhatItFoundAndWritesAModel) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const Outcome fit = run_annulus(scratch, quickly({"fit", features, "-o", scratch / "model.safetensors"}));
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  EXPECT_NE(fit.out.find("learnt 6 classes from 36 examples of 16 dimensions"), std::string::npos) << fit.out;
  const Model model = read_model(scratch / "model.safetensors");
  ASSERT_EQ(model.class_names.size(), 6U);
  EXPECT_EQ(model.class_names[5], "class-005");
  EXPECT_EQ(model.head.dimension(), 16U);
  EXPECT_GT(model.epsilon, 0.0);
  EXPECT_EQ(model.training.recipe, "default");
  EXPECT_EQ(model.training.virtual_count, 4U);
  EXPECT_EQ(model.provenance.at("generator"), "annulus synthetic");
}

TEST(Fit, LearnsHowExamplesDifferFromAPoolWithoutLabels) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const auto fit = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"fit", features, "--shots", "1", "-o", scratch / "model.safetensors"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_annulus(scratch, quickly(arguments));
  };
  const Outcome with = fit({"--unlabelled", features});
  ASSERT_EQ(with.exit_code, 0) << with.err;
  EXPECT_NE(with.out.find("unlabelled examples used"), std::string::npos) << with.out;
  const Model model = read_model(scratch / "model.safetensors");
  EXPECT_FALSE(model.provenance.at("unlabelled_examples").empty());
  EXPECT_EQ(model.provenance.at("metric_prior").size(), 64U);
  const Outcome json = fit({"--unlabelled", features, "--json"});
  EXPECT_TRUE(nlohmann::json::parse(json.out).at("unlabelled").at("used").get<bool>());
  const Outcome both = fit({"--unlabelled", features, "--metric", "none"});
  EXPECT_NE(both.exit_code, 0);
  EXPECT_NE(both.err.find("--metric"), std::string::npos) << both.err;
  const Outcome missing = fit({"--unlabelled", scratch / "nothing.npz"});
  EXPECT_NE(missing.exit_code, 0);
  EXPECT_NE(missing.err.find("nothing.npz"), std::string::npos) << missing.err;
}

TEST(Fit, QuietPrintsNothing) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const Outcome fit = run_annulus(scratch, quickly({"fit", features, "-q", "-o", scratch / "model.safetensors"}));
  EXPECT_EQ(fit.exit_code, 0);
  EXPECT_EQ(fit.out, "");
  EXPECT_EQ(fit.err, "");
}

TEST(Fit, JsonListsEveryProbe) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const Outcome fit =
      run_annulus(scratch, quickly({"fit", features, "--shots", "2", "-o", scratch / "m.safetensors", "--json"}));
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  const auto json = nlohmann::json::parse(fit.out);
  EXPECT_EQ(json["examples"], 12);
  EXPECT_EQ(json["classes"], 6);
  EXPECT_GE(json["probes"].size(), 2U);
  EXPECT_TRUE(json["target"].is_number());
  EXPECT_TRUE(json["training_accuracy"].is_number());
}

TEST(Fit, SameSeedSameFileWhateverTheThreads) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string one = fit_model(scratch, features, {"--shots", "3", "--seed", "4", "--threads", "1"}, "1.st");
  const std::string two = fit_model(scratch, features, {"--shots", "3", "--seed", "4", "--threads", "2"}, "2.st");
  const std::string four = fit_model(scratch, features, {"--shots", "3", "--seed", "4", "--threads", "4"}, "4.st");
  const std::string other = fit_model(scratch, features, {"--shots", "3", "--seed", "5"}, "3.st");
  EXPECT_FALSE(read_text(one).empty());
  EXPECT_EQ(read_text(one), read_text(two));
  EXPECT_EQ(read_text(one), read_text(four));
  EXPECT_NE(read_text(one), read_text(other));
}

TEST(Fit, LearnsFromKRowsOfEveryClassAndNeverFromTestExamples) {
  const Scratch scratch;
  // The test examples are the same numbers under wrong labels: a fit that looked at them could not reach 100 %.
  const FeatureSet whole = make_synthetic(small_data());
  Matrix<float> features(whole.rows() * 2, whole.dimension());
  whole.copy_rows(0, features.view().rows_at(0, whole.rows()));
  whole.copy_rows(0, features.view().rows_at(whole.rows(), whole.rows()));
  FeatureSetParts parts = parts_of(std::move(features));
  for (std::size_t i = 0; i < 2 * whole.rows(); ++i) {
    const std::int32_t label = whole.labels()[i % whole.rows()];
    parts.labels.push_back(i < whole.rows() ? label : (label + 1) % 6);
    parts.is_train.push_back(i < whole.rows() ? 1 : 0);
  }
  write_features(FeatureSet(std::move(parts)), scratch / "marked.npz");
  const auto fit = [&](const std::string& shots) {
    const Outcome outcome = run_annulus(scratch, {"fit", scratch / "marked.npz", "--recipe", "baseline", "--lr", "1",
                                                  "--shots", shots, "-o", scratch / "m.safetensors", "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  EXPECT_EQ(fit("all")["examples"], 66);
  EXPECT_EQ(fit("all")["training_accuracy"], 100.0);
  EXPECT_EQ(fit("4")["examples"], 24);
}

TEST(Fit, KnobsChangeTheModel) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::vector<std::vector<std::string>> knobs{{"--noise-shape", "spherical"},
                                                    {"--metric", "none"},
                                                    {"--noise", "independent"},
                                                    {"--noise", "grouped", "--group", "7"},
                                                    {"--antithetic"},
                                                    {"--label-smoothing", "0.3"},
                                                    {"--lr", "0.01"},
                                                    {"--batch", "8"},
                                                    {"--head", "linear"},
                                                    {"--epsilon", "0.75"},
                                                    {"--threshold", "0.05"},
                                                    {"--search-range", "0,0.2"},
                                                    {"--recipe", "baseline"},
                                                    {"--recipe", "paper"},
                                                    {"--virtual", "6"},
                                                    {"--epochs", "9"},
                                                    {"--search-tolerance", "2"},
                                                    {"--search-epochs", "30"}};
  const Model plain = read_model(fit_model(scratch, features, {}, "plain.st"));
  for (const auto& knob : knobs) {
    const Model model = read_model(fit_model(scratch, features, knob, "changed.st"));
    const float* numbers = model.head.direction.data();
    const bool same = model.epsilon == plain.epsilon && model.head.kind == plain.head.kind &&
                      std::equal(numbers, numbers + 6 * 16, plain.head.direction.data());
    EXPECT_FALSE(same) << knob[0] << " changed nothing";
  }
}

TEST(Fit, CentringChangesTheModelUnlessAMetricCentresAnyway) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const auto direction = [&](const std::vector<std::string>& options) {
    const Model model = read_model(fit_model(scratch, features, options, "m.st"));
    return std::vector<float>(model.head.direction.data(), model.head.direction.data() + 6 * 16);
  };
  EXPECT_NE(direction({"--transform", "centre", "--metric", "none"}),
            direction({"--transform", "none", "--metric", "none"}));
  EXPECT_EQ(direction({"--transform", "centre"}), direction({"--transform", "none"}));
}

TEST(Fit, FilesThatCannotBeWrittenAreErrorsBeforeTheWork) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  std::filesystem::create_directories(scratch / "folder");
  const std::vector<std::vector<std::string>> commands{
      {"fit", features, "-o", scratch / "nowhere/m.safetensors"},
      {"fit", features, "-o", scratch / "folder"},
      {"fit", features, "-o", scratch / "m.safetensors", "--json", scratch / "nowhere/fit.json"},
      {"evaluate", features, "--shots", "2", "--csv", scratch / "nowhere/runs.csv"}};
  for (const auto& command : commands) {
    const Outcome outcome = run_annulus(scratch, command);
    EXPECT_EQ(outcome.exit_code, 5) << command.back();
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << "nothing was begun: " << outcome.err;
    EXPECT_NE(outcome.err.find(command.back()), std::string::npos) << outcome.err;
  }
  EXPECT_FALSE(std::filesystem::exists(scratch / "m.safetensors"));
  EXPECT_TRUE(std::filesystem::is_empty(scratch / "folder"));
}

TEST(Fit, SaysFirstWhatToExpectAndTheRestOnRequest) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = scratch / "m.safetensors";
  const Outcome brief = run_annulus(scratch, {"fit", features, "-o", model});
  const Outcome full = run_annulus(scratch, {"fit", features, "-o", model, "--verbose"});
  ASSERT_EQ(brief.exit_code, 0) << brief.err;
  ASSERT_EQ(full.exit_code, 0) << full.err;
  const std::string first_line = brief.out.substr(0, brief.out.find('\n'));
  EXPECT_NE(first_line.find(" of 100 new examples of these classes right"), std::string::npos) << brief.out;
  EXPECT_EQ(brief.out.find("epsilon"), std::string::npos) << brief.out;
  for (const char* words :
       {" of 100 new examples", "epsilon ", "(T ", "metric of ", "training accuracy", "temperature "}) {
    EXPECT_NE(full.out.find(words), std::string::npos) << words << " in " << full.out;
  }
}

TEST(Fit, AGivenEpsilonSkipsTheSearch) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = scratch / "m.safetensors";
  const Outcome fit =
      run_annulus(scratch, {"fit", features, "--epsilon", "1.25", "--epochs", "4", "-o", model, "--json"});
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  const auto json = nlohmann::json::parse(fit.out);
  EXPECT_EQ(json["epsilon"], 1.25);
  EXPECT_FALSE(json.contains("probes"));
  EXPECT_EQ(read_model(model).epsilon, 1.25);
}

TEST(Fit, InterruptLeavesNoFile) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = scratch / "model.safetensors";
  // A training of weeks; the first progress line, after five seconds at most, shows that it is under way.
  Child child(scratch, annulus_command({"fit", features, "--epochs", "1000000000", "--epsilon", "1", "-o", model}));
  while (child.err_so_far().find("left") == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  child.signal(SIGINT);
  const Outcome outcome = child.wait();
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_TRUE(outcome.err.ends_with("annulus: stopped at the user's request\n")) << outcome.err;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.folder())) {
    files.push_back(entry.path().filename().string());
  }
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (std::vector<std::string>{".err", ".out", "features.safetensors"}));
}

}  // namespace
}  // namespace annulus
