// Temperatures, answers of unknown, and explanations, from fit to predict.
#include <sstream>
#include <string>

#include "annulus/learn/calibration/calibration.h"
#include "annulus/store/models/model_file.h"
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

std::string fit_model(const Scratch& scratch, const std::string& features, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"fit", features, "-q", "-o", scratch / "model.safetensors"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome fit = run_annulus(scratch, quickly(arguments));
  EXPECT_EQ(fit.exit_code, 0) << fit.err;
  return scratch / "model.safetensors";
}

// The small features under other names of classes, all rows to be predicted.
std::string write_renamed(const Scratch& scratch, const std::vector<std::string>& names) {
  const FeatureSet set = make_synthetic(small_data());
  Matrix<float> rows(set.rows(), set.dimension());
  set.copy_rows(0, rows.view());
  FeatureSetParts parts = parts_of(std::move(rows));
  parts.labels.assign(set.labels().begin(), set.labels().end());
  parts.class_names = names;
  for (std::size_t i = 0; i < set.rows(); ++i) parts.paths.push_back("pictures/" + std::to_string(i) + ".jpg");
  write_features(FeatureSet(std::move(parts)), scratch / "renamed.safetensors");
  return scratch / "renamed.safetensors";
}

TEST(Unknown, FitTellsItsTemperatureUnlessToldNotTo) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string file = scratch / "m.safetensors";
  const Outcome fit = run_annulus(scratch, quickly({"fit", features, "-o", file, "--verbose"}));
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  EXPECT_NE(fit.out.find("\ntemperature "), std::string::npos) << fit.out;
  EXPECT_NE(fit.out.find(": 36 examples held out, "), std::string::npos) << fit.out;
  EXPECT_NE(fit.out.find("calibration error "), std::string::npos) << fit.out;
  const Model model = read_model(file);
  EXPECT_NE(model.temperature, 1.0);
  EXPECT_EQ(model.unknown.quantiles.size(), kUnknownQuantiles);

  const Outcome json = run_annulus(scratch, quickly({"fit", features, "-o", file, "--json"}));
  const auto told = nlohmann::json::parse(json.out);
  EXPECT_EQ(told["temperature"], model.temperature);
  EXPECT_EQ(told["held_out"]["examples"], 36);
  EXPECT_TRUE(told["held_out"]["ece"].is_number());
  ASSERT_EQ(told["catch_rates"].size(), 5U);
  EXPECT_EQ(told["catch_rates"][2]["false_reject"], 0.05);
  const double caught = *unknown_catch_rate(model.unknown, 0.05);
  EXPECT_EQ(told["catch_rates"][2]["caught"], 100.0 * caught);
  EXPECT_NE(fit.out.find(fmt::format("about {:.0f} % are caught at a false-rejection rate of 5 %", 100.0 * caught)),
            std::string::npos)
      << fit.out;

  const Outcome plain = run_annulus(scratch, quickly({"fit", features, "--no-calibrate", "-o", file}));
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.out.find("temperature"), std::string::npos) << plain.out;
  EXPECT_EQ(plain.out.find("caught"), std::string::npos) << plain.out;
  EXPECT_EQ(read_model(file).temperature, 1.0);
  EXPECT_TRUE(read_model(file).unknown.empty());

  // The paper's recipes know nothing of it; of one example per class nothing known can be held out, but whole classes
  // can.
  fit_model(scratch, features, {"--recipe", "paper"});
  EXPECT_EQ(read_model(scratch / "model.safetensors").temperature, 1.0);
  EXPECT_TRUE(read_model(scratch / "model.safetensors").unknown.empty());
  fit_model(scratch, features, {"--shots", "1"});
  EXPECT_NE(read_model(scratch / "model.safetensors").temperature, 1.0);
  EXPECT_FALSE(read_model(scratch / "model.safetensors").unknown.empty());
}

TEST(Unknown, RejectedRowsAreMarkedInEveryFormat) {
  const Scratch scratch;
  const std::string features =
      write_renamed(scratch, {"unknown", "class-1", "class-2", "class-3", "class-4", "class-5"});
  const std::string model = fit_model(scratch, features, {"--shots", "5"});
  const Outcome jsonl = run_annulus(
      scratch, {"predict", model, features, "--false-reject", "0.4", "--format", "jsonl", "--top", "2", "-q"});
  ASSERT_EQ(jsonl.exit_code, 0) << jsonl.err;
  const auto rows = parse_json_lines(jsonl.out);
  std::size_t rejected = 0;
  std::size_t named_unknown = 0;
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 7U) << row;
    EXPECT_EQ(row["best"], row["top"][0]["label"]);
    EXPECT_EQ(row["label"], row["unknown"].get<bool>() ? nlohmann::json("unknown") : row["best"]);
    EXPECT_TRUE(row["unknown_score"].is_number());
    if (row["unknown"].get<bool>()) ++rejected;
    if (!row["unknown"].get<bool>() && row["label"] == "unknown") ++named_unknown;
  }
  EXPECT_GT(rejected, 5U);
  EXPECT_LT(rejected, 50U);
  EXPECT_GT(named_unknown, 0U);  // the class of that name is told apart

  const Outcome text = run_annulus(scratch, {"predict", model, features, "--false-reject", "0.4", "--top", "2", "-q"});
  std::size_t marked = 0;
  for (std::size_t at = 0; (at = text.out.find("\tunknown (best: ", at)) != std::string::npos; ++at) ++marked;
  EXPECT_EQ(marked, rejected);

  const Outcome csv = run_annulus(
      scratch, {"predict", model, features, "--false-reject", "0.4", "--format", "csv", "--top", "2", "-q"});
  EXPECT_TRUE(
      csv.out.starts_with("path,label,probability,label_2,probability_2,unknown,unknown_score,best\npictures/0.jpg,"))
      << csv.out;
  std::size_t ones = 0;
  std::istringstream lines(csv.out);
  for (std::string line; std::getline(lines, line);) {
    std::size_t column = 0;
    for (int i = 0; i < 5; ++i) column = line.find(',', column) + 1;
    if (line.compare(column, 2, "1,") == 0) ++ones;
  }
  EXPECT_EQ(ones, rejected);
}

TEST(Unknown, TheNoteCountsRejectedRowsApart) {
  const Scratch scratch;
  const std::string model = fit_model(scratch, write_small_features(scratch));
  const std::string renamed =
      write_renamed(scratch, {"class-000", "class-001", "class-002", "class-003", "class-004", "heron"});
  const Outcome predict = run_annulus(scratch, {"predict", model, renamed, "--false-reject", "0.3"});
  ASSERT_EQ(predict.exit_code, 0) << predict.err;
  EXPECT_NE(predict.err.find(" labelled examples, those not rejected; rejected "), std::string::npos) << predict.err;
  EXPECT_NE(predict.err.find(" of 55 examples of known classes ("), std::string::npos) << predict.err;
  EXPECT_NE(predict.err.find(" of 11 of unknown classes ("), std::string::npos) << predict.err;
  const double caught = *unknown_catch_rate(read_model(model).unknown, 0.3);
  EXPECT_NE(
      predict.err.find(fmt::format("about {:.0f} % are caught at a false-rejection rate of 30 %\n", 100.0 * caught)),
      std::string::npos)
      << predict.err;

  const Outcome none = run_annulus(scratch, {"predict", model, renamed, "--false-reject", "0", "--format", "jsonl"});
  EXPECT_NE(none.err.find(" of 55 labelled examples\n"), std::string::npos) << none.err;
  EXPECT_EQ(none.err.find("caught"), std::string::npos) << none.err;
  for (const auto& row : parse_json_lines(none.out)) EXPECT_EQ(row.size(), 4U);
  expect_complaint(run_annulus(scratch, {"predict", model, renamed, "--false-reject", "1.5"}), 2, "--false-reject");
}

TEST(Unknown, AModelThatCannotTellSaysSoOnceWhenAsked) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = fit_model(scratch, features, {"--strip"});
  EXPECT_NE(read_model(model).temperature, 1.0);
  const Outcome asked =
      run_annulus(scratch, {"predict", model, features, "--false-reject", "0.1", "--format", "jsonl"});
  ASSERT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_NE(asked.err.find("cannot reject unknown inputs"), std::string::npos) << asked.err;
  for (const auto& row : parse_json_lines(asked.out)) EXPECT_EQ(row.size(), 4U);
  const Outcome silent = run_annulus(scratch, {"predict", model, features});
  EXPECT_EQ(silent.err.find("unknown inputs"), std::string::npos) << silent.err;
  expect_complaint(run_annulus(scratch, {"predict", model, features, "--explain"}), 3,
                   "expected a model with its training examples");
}

TEST(Explain, NamesNeighboursRunnerUpAndRadius) {
  const Scratch scratch;
  const std::string features =
      write_renamed(scratch, {"class-0", "class-1", "class-2", "class-3", "class-4", "class-5"});
  const std::string model = fit_model(scratch, features);
  const Outcome jsonl =
      run_annulus(scratch, {"predict", model, features, "--explain", "--false-reject", "0", "--format", "jsonl"});
  ASSERT_EQ(jsonl.exit_code, 0) << jsonl.err;
  const auto rows = parse_json_lines(jsonl.out);
  ASSERT_EQ(rows.size(), 66U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& explain = rows[i]["explain"];
    ASSERT_EQ(explain["nearest"].size(), 3U);
    // Every row was trained on, so it is its own nearest neighbour.
    EXPECT_EQ(explain["nearest"][0]["path"], rows[i]["path"]);
    EXPECT_NEAR(explain["nearest"][0]["cosine"].get<double>(), 1.0, 1e-3);
    EXPECT_GE(explain["nearest"][0]["cosine"], explain["nearest"][1]["cosine"]);
    EXPECT_EQ(explain["nearest"][0]["label"], "class-" + std::to_string(i / 11));
    EXPECT_EQ(explain["runner_up"], rows[i]["top"][1]);
    EXPECT_GE(explain["boundary_distance"].get<double>(), 0.0);
    EXPECT_EQ(explain["epsilon"], read_model(model).epsilon);
  }
  const Outcome text = run_annulus(scratch, {"predict", model, features, "--explain", "--false-reject", "0"});
  EXPECT_NE(text.out.find("\tnearest: pictures/0.jpg (class-0, cosine 1.000), "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("\trunner-up: class-"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("; distance to the decision boundary "), std::string::npos) << text.out;
  const Outcome csv = run_annulus(
      scratch, {"predict", model, features, "--explain", "--false-reject", "0", "--top", "1", "--format", "csv"});
  EXPECT_TRUE(csv.out.starts_with(
      "path,label,probability,near_1,near_label_1,near_cosine_1,near_2,near_label_2,near_cosine_2,near_3,near_label_3,"
      "near_cosine_3,runner_up,runner_up_probability,boundary_distance,epsilon\npictures/0.jpg,"))
      << csv.out;
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), ','), 67 * 15);
}

}  // namespace
}  // namespace annulus
