// add-class, add-examples and remove-class, with the real program.
#include "annulus/store/models/model_file.h"
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

std::string fit_model(const Scratch& scratch, const std::string& features, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"fit", features, "-o", scratch / "model.safetensors"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome fit = run_annulus(scratch, quickly(arguments));
  EXPECT_EQ(fit.exit_code, 0) << fit.err;
  return scratch / "model.safetensors";
}

TEST(Update, RemovesAClassAndLearnsItAgain) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = fit_model(scratch, features);
  const std::string fewer = scratch / "fewer.safetensors";
  const std::string again = scratch / "again.safetensors";
  const Outcome removed =
      run_annulus(scratch, {"remove-class", model, "--name", "class-002", "--name", "class-004", "-o", fewer});
  ASSERT_EQ(removed.exit_code, 0) << removed.err;
  EXPECT_NE(removed.out.find("removed class-002, class-004: 4 classes left"), std::string::npos) << removed.out;
  EXPECT_EQ(read_model(fewer).support.rows(), 24U);

  const Outcome added = run_annulus(scratch, {"add-class", fewer, features, "--name", "class-002", "-o", again});
  ASSERT_EQ(added.exit_code, 0) << added.err;
  EXPECT_NE(added.out.find("learnt 6 examples of class-002, 6 of them correct: 5 classes"), std::string::npos)
      << added.out;
  EXPECT_NE(added.out.find("most similar: class-0"), std::string::npos) << added.out;
  EXPECT_NE(added.out.find("examples learnt before: "), std::string::npos) << added.out;
  const Model updated = read_model(again);
  EXPECT_EQ(updated.class_names.back(), "class-002");
  EXPECT_EQ(updated.support.rows(), 30U);
  EXPECT_EQ(updated.training.updates.classes_added, 1U);
  EXPECT_EQ(updated.training.updates.classes_removed, 2U);
  EXPECT_EQ(updated.temperature, read_model(model).temperature);
  const Outcome predicted = run_annulus(scratch, {"predict", again, features, "--format", "jsonl"});
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_NE(predicted.out.find("class-002"), std::string::npos);
}

TEST(Update, RowsOfAnotherClassAndUnlabelledOnesUnderANewName) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = fit_model(scratch, features);
  const std::string output = scratch / "out.safetensors";
  const Outcome picked = run_annulus(
      scratch, {"add-class", model, features, "--class", "class-001", "--name", "twin", "-o", output, "--json"});
  ASSERT_EQ(picked.exit_code, 0) << picked.err;
  const auto json = nlohmann::json::parse(picked.out);
  EXPECT_EQ(json["most_alike"]["name"], "class-001");
  EXPECT_EQ(json["examples_learnt"], 6);  // test examples are left out
  EXPECT_EQ(json["old_examples"], 36);
  EXPECT_EQ(json["old_examples_checked"], 36);
  EXPECT_EQ(json["classes"], 7);
  EXPECT_TRUE(json["changed_classes"].is_array());

  const FeatureSet whole = make_synthetic(small_data());
  Matrix<float> rows(3, whole.dimension());
  whole.copy_rows(0, rows.view());
  write_features(FeatureSet(parts_of(std::move(rows))), scratch / "three.safetensors");
  const Outcome unlabelled =
      run_annulus(scratch, {"add-examples", model, scratch / "three.safetensors", "--name", "class-000", "--in-place"});
  ASSERT_EQ(unlabelled.exit_code, 0) << unlabelled.err;
  EXPECT_EQ(read_model(model).support.rows(), 39U);
  EXPECT_EQ(read_model(model).training.updates.examples_added, 3U);
}

TEST(Update, SaysHowManyOfManyRowsItLearnt) {
  const Scratch scratch;
  const std::string model = fit_model(scratch, write_small_features(scratch));
  SyntheticOptions options = small_data();
  options.classes = 2;
  options.train_rows = 70;
  options.test_rows = 1;
  options.seed = 9;
  write_features(make_synthetic(options), scratch / "many.safetensors");
  const std::vector<std::string> arguments{"add-class", model,       scratch / "many.safetensors",
                                           "--class",   "class-001", "--name",
                                           "herons",    "-o",        scratch / "out.safetensors"};
  const Outcome added = run_annulus(scratch, arguments);
  ASSERT_EQ(added.exit_code, 0) << added.err;
  EXPECT_NE(added.out.find("learnt 64 of the 70 examples of herons, "), std::string::npos) << added.out;
  std::vector<std::string> as_json = arguments;
  as_json.emplace_back("--json");
  const Outcome told = run_annulus(scratch, as_json);
  const auto json = nlohmann::json::parse(told.out);
  EXPECT_EQ(json["examples_given"], 70);
  EXPECT_EQ(json["examples_learnt"], 64);
  EXPECT_LE(json["examples_learnt_correct"], json["examples_learnt"]);
}

TEST(Update, TheSameFileWhateverTheThreads) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = fit_model(scratch, features);
  for (const char* threads : {"1", "2"}) {
    const Outcome added = run_annulus(scratch, {"add-class", model, features, "--class", "class-003", "--name", "new",
                                                "-q", "--threads", threads, "-o", scratch / threads});
    ASSERT_EQ(added.exit_code, 0) << added.err;
    EXPECT_EQ(added.out, "");
  }
  EXPECT_EQ(read_text(scratch / "1"), read_text(scratch / "2"));
}

TEST(Update, BaselinesAndPlainHeadsTooCanBeUpdated) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::vector<std::vector<std::string>> kinds{{"--recipe", "baseline"},
                                                    {"--recipe", "ibm2"},
                                                    {"--recipe", "paper"},
                                                    {"--head", "linear"},
                                                    {"--recipe", "ibm2", "--head", "linear"}};
  for (const auto& kind : kinds) {
    const std::string model = fit_model(scratch, features, kind);
    const Outcome added =
        run_annulus(scratch, {"add-class", model, features, "--class", "class-003", "--name", "new", "--in-place"});
    EXPECT_EQ(added.exit_code, 0) << kind.back() << ": " << added.err;
    EXPECT_EQ(read_model(model).class_names.back(), "new");
  }
}

TEST(Update, StripsItsOutput) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = fit_model(scratch, features);
  EXPECT_TRUE(read_model(model).trained.has_value());
  const std::string output = scratch / "out.safetensors";
  const Outcome removed = run_annulus(scratch, {"remove-class", model, "--name", "class-002", "--strip", "-o", output});
  ASSERT_EQ(removed.exit_code, 0) << removed.err;
  EXPECT_TRUE(read_model(output).support.empty());
  EXPECT_FALSE(read_model(output).trained.has_value());
  EXPECT_TRUE(read_model(output).unknown.empty());
  expect_complaint(run_annulus(scratch, {"add-class", output, features, "--name", "class-002", "--in-place"}), 3,
                   "expected a model with its training examples");
  // Losing a class takes no rows.
  const Outcome again = run_annulus(scratch, {"remove-class", output, "--name", "class-001", "--in-place"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_model(output).class_names.size(), 4U);
}

TEST(Update, OneSentenceForWhatItCannotDo) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = fit_model(scratch, features);
  const std::string before = read_text(model);
  SyntheticOptions wide = small_data();
  wide.dimension = 17;
  const std::string other = write_small_features(scratch, wide, "wide.safetensors");
  const auto complains = [&](std::vector<std::string> arguments, int code, const std::string& part) {
    expect_complaint(run_annulus(scratch, std::move(arguments)), code, part);
  };
  complains({"add-class", model, features, "--name", "class-001", "--in-place"}, 3, "which the model has");
  complains({"add-class", model, features, "--name", "nobody", "--in-place"}, 3, "choose one with --class");
  complains({"add-class", model, features, "--name", "x", "--class", "nobody", "--in-place"}, 3, "\"nobody\"");
  complains({"add-examples", model, features, "--name", "x", "--class", "class-001", "--in-place"}, 3, "found \"x\"");
  complains({"add-class", model, other, "--name", "x", "--class", "class-001", "--in-place"}, 3, "16 dimensions");
  complains({"add-class", model, features, "--name", "x", "--class", "class-001"}, 2, "found neither");
  complains({"add-class", model, features, "--name", "x", "--in-place", "-o", scratch / "o"}, 2, "found both");
  complains({"add-class", model, scratch / "none.npz", "--name", "x", "--in-place"}, 5, "none.npz");
  complains({"add-class", features, features, "--name", "x", "--in-place"}, 4, "expected an Annulus model");
  complains({"remove-class", model, "--name", "x", "--in-place"}, 3, "found \"x\"");
  complains({"remove-class", model, "--name", "class-000", "--name", "class-001", "--name", "class-002", "--name",
             "class-003", "--name", "class-004", "--in-place"},
            3, "at least two classes");
  complains({"remove-class", model, "--in-place"}, 2, "--name is required");
  EXPECT_EQ(read_text(model), before);
}

TEST(Update, FeaturesOfAnotherBackboneAreRejected) {
  const Scratch scratch;
  const FeatureSet whole = make_synthetic(small_data());
  const auto write = [&](const std::string& backbone) {
    Matrix<float> rows(whole.rows(), whole.dimension());
    whole.copy_rows(0, rows.view());
    FeatureSetParts parts = parts_of(std::move(rows));
    parts.labels.assign(whole.labels().begin(), whole.labels().end());
    parts.provenance["backbone_sha256"] = backbone;
    write_features(FeatureSet(std::move(parts)), scratch / (backbone + ".safetensors"));
    return scratch / (backbone + ".safetensors");
  };
  const std::string model = fit_model(scratch, write("first"));
  expect_complaint(
      run_annulus(scratch, {"add-class", model, write("second"), "--class", "1", "--name", "x", "--in-place"}), 3,
      "expected features by the backbone of checksum");
}

}  // namespace
}  // namespace annulus
