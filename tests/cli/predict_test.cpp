// predict: named rows in every format.
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

std::string fit_model(const Scratch& scratch, const std::string& features) {
  const std::string model = scratch / "model.safetensors";
  const Outcome fit =
      run_annulus(scratch, {"fit", features, "--recipe", "baseline", "--lr", "1", "--no-calibrate", "-q", "-o", model});
  EXPECT_EQ(fit.exit_code, 0) << fit.err;
  return model;
}

TEST(Predict, JsonLinesHaveExactlyTheFieldsPromised) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = fit_model(scratch, features);
  const Outcome predict = run_annulus(scratch, {"predict", model, features, "--format", "jsonl", "--top", "3"});
  ASSERT_EQ(predict.exit_code, 0) << predict.err;
  const auto rows = parse_json_lines(predict.out);
  ASSERT_EQ(rows.size(), 66U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].size(), 4U) << rows[i];
    EXPECT_EQ(rows[i]["row"], i);
    ASSERT_EQ(rows[i]["top"].size(), 3U);
    EXPECT_EQ(rows[i]["top"][0]["label"], rows[i]["label"]);
    EXPECT_EQ(rows[i]["top"][0]["probability"], rows[i]["probability"]);
    EXPECT_GE(rows[i]["top"][0]["probability"], rows[i]["top"][1]["probability"]);
    EXPECT_EQ(rows[i]["top"][2].size(), 2U);
  }
  EXPECT_TRUE(predict.out.starts_with("{\"row\":0,\"label\":")) << predict.out.substr(0, 60);
  EXPECT_NE(predict.err.find("% of 30 labelled examples that are not training examples\n"), std::string::npos)
      << predict.err;
}

TEST(Predict, ProbabilitiesSumToOneAndMostRowsAreRight) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = fit_model(scratch, features);
  const Outcome predict = run_annulus(scratch, {"predict", model, features, "--format", "jsonl", "--top", "99"});
  ASSERT_EQ(predict.exit_code, 0) << predict.err;
  int right = 0;
  for (const auto& row : parse_json_lines(predict.out)) {
    ASSERT_EQ(row["top"].size(), 6U);
    double sum = 0.0;
    for (const auto& entry : row["top"]) sum += entry["probability"].get<double>();
    EXPECT_NEAR(sum, 1.0, 1e-5);
    const std::string truth = "class-00" + std::to_string(row["row"].get<int>() / 11);
    right += row["label"] == truth ? 1 : 0;
  }
  EXPECT_GT(right, 50);  // of 66
}

TEST(Predict, NamesCommandNeitherTerminalsNorSpreadsheets) {
  const Scratch scratch;
  const std::string model = fit_model(scratch, write_small_features(scratch));
  Matrix<float> rows(5, 16);
  for (std::size_t i = 0; i < rows.rows(); ++i) rows(i, i) = 1.0F;
  FeatureSetParts parts = parts_of(std::move(rows));
  parts.paths = {"=1+2.jpg", "+a,b.jpg", "-c.jpg", "@d.jpg", "e\033[2J\xc2\x9b\u00e9.jpg"};
  const std::string features = scratch / "paths.npz";
  write_features(FeatureSet(std::move(parts)), features);
  const Outcome csv = run_annulus(scratch, {"predict", model, features, "--format", "csv"});
  ASSERT_EQ(csv.exit_code, 0) << csv.err;
  for (const char* cell : {"\n'=1+2.jpg,", "\n\"'+a,b.jpg\",", "\n'-c.jpg,", "\n'@d.jpg,"}) {
    EXPECT_NE(csv.out.find(cell), std::string::npos) << csv.out;
  }
  const Outcome text = run_annulus(scratch, {"predict", model, features});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(text.out.find('\033'), std::string::npos);
  EXPECT_NE(text.out.find("\ne?[2J?\u00e9.jpg\t"), std::string::npos) << text.out;
}

TEST(Predict, NamesRowsByPathWhereThereIsOneAndQuotesCsv) {
  const Scratch scratch;
  const std::string model = fit_model(scratch, write_small_features(scratch));
  Matrix<float> two_rows(2, 16);
  two_rows(0, 3) = two_rows(1, 4) = 1.0F;
  FeatureSetParts parts = parts_of(std::move(two_rows));
  parts.paths = {"birds/a, \"b\".jpg", "birds/c.jpg"};
  const std::string features = scratch / "paths.npz";
  write_features(FeatureSet(std::move(parts)), features);
  const Outcome csv = run_annulus(scratch, {"predict", model, features, "--format", "csv", "--top", "2"});
  ASSERT_EQ(csv.exit_code, 0) << csv.err;
  EXPECT_TRUE(csv.out.starts_with("path,label,probability,label_2,probability_2\n\"birds/a, \"\"b\"\".jpg\",class-"))
      << csv.out;
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 3);
  EXPECT_EQ(csv.err, "");  // no labels, so no accuracy
  const Outcome jsonl = run_annulus(scratch, {"predict", model, features, "--format", "jsonl"});
  const auto rows = parse_json_lines(jsonl.out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1]["path"], "birds/c.jpg");
  EXPECT_FALSE(rows[1].contains("row"));
  const Outcome text = run_annulus(scratch, {"predict", model, features, "--top", "1"});
  EXPECT_NE(text.out.find("\nbirds/c.jpg\tclass-"), std::string::npos) << text.out;
}

TEST(Predict, WritesTheSameLinesToAFileWhateverTheThreads) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = fit_model(scratch, features);
  const Outcome printed = run_annulus(scratch, {"predict", model, features, "--threads", "1", "-q"});
  const Outcome written =
      run_annulus(scratch, {"predict", model, features, "--threads", "2", "-q", "-o", scratch / "out.txt"});
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_EQ(written.out, "");
  EXPECT_EQ(written.err, "");
  EXPECT_FALSE(printed.out.empty());
  EXPECT_EQ(read_text(scratch / "out.txt"), printed.out);
}

TEST(Predict, AccuracyIsMatchedByNameAndLeavesUnknownClassesOut) {
  const Scratch scratch;
  SyntheticOptions easy = small_data();
  easy.noise = 0.05;
  const std::string model = fit_model(scratch, write_small_features(scratch, easy));
  const FeatureSet known = make_synthetic(easy);
  Matrix<float> rows(known.rows(), known.dimension());
  known.copy_rows(0, rows.view());
  FeatureSetParts parts = parts_of(std::move(rows));
  parts.labels.assign(known.labels().begin(), known.labels().end());
  parts.class_names = {"class-001", "class-000", "heron", "class-003", "class-004", "class-005"};
  write_features(FeatureSet(std::move(parts)), scratch / "renamed.npz");
  const Outcome predict = run_annulus(scratch, {"predict", model, scratch / "renamed.npz"});
  ASSERT_EQ(predict.exit_code, 0) << predict.err;
  // 55 of 66 rows have a known name, and of those the 22 rows of the two swapped classes are named wrongly.
  EXPECT_TRUE(predict.err.starts_with("accuracy 60.00 % of 55 labelled examples")) << predict.err;
}

}  // namespace
}  // namespace annulus
