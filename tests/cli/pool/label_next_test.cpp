// label-next from the command line: from nothing, from labelled features, from a model.
#include <set>

#include "tests/fixtures/program.h"

namespace annulus {
namespace {

std::string write_pool(const Scratch& scratch, std::size_t classes, const std::string& name) {
  SyntheticOptions options = small_data();
  options.classes = classes;
  options.train_rows = 12;
  return write_small_features(scratch, options, name);
}

TEST(LabelNextProgram, ChoosesFromNothing) {
  const Scratch scratch;
  const std::string pool = write_pool(scratch, 6, "pool.safetensors");
  const Outcome outcome = run_annulus(scratch, {"label-next", pool, "-n", "6", "--jsonl", "-", "--csv",
                                                scratch / "next.csv", "--html", scratch / "next.html"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto choices = parse_json_lines(outcome.out);
  ASSERT_EQ(choices.size(), 6U);
  std::set<std::size_t> rows;
  for (const auto& choice : choices) {
    rows.insert(choice["row"].get<std::size_t>());
    EXPECT_EQ(choice["reason"], "typical");
  }
  EXPECT_EQ(rows.size(), 6U);
  EXPECT_TRUE(read_text(scratch / "next.csv").starts_with("rank,row,reason,guess,uncertainty,stands_for\n1,"));
  EXPECT_NE(read_text(scratch / "next.html").find("<!DOCTYPE html>"), std::string::npos);
}

TEST(LabelNextProgram, ChoosesBesideLabelledFeaturesAndAModel) {
  const Scratch scratch;
  const std::string pool = write_pool(scratch, 6, "pool.safetensors");
  const std::string labelled = write_pool(scratch, 4, "labelled.safetensors");
  const Outcome beside = run_annulus(scratch, {"label-next", labelled, pool, "-n", "5", "--json"});
  ASSERT_EQ(beside.exit_code, 0) << beside.err;
  const auto json = nlohmann::json::parse(beside.out);
  EXPECT_EQ(json["choices"].size(), 5U);
  EXPECT_FALSE(json["choices"][0]["guess"].is_null());
  EXPECT_GT(json["labelled"], 0);

  const std::string model = scratch / "model.safetensors";
  ASSERT_EQ(run_annulus(scratch, quickly({"fit", labelled, "-o", model, "-q"})).exit_code, 0);
  const Outcome by_model = run_annulus(scratch, {"label-next", model, pool, "-n", "5", "--json"});
  ASSERT_EQ(by_model.exit_code, 0) << by_model.err;
  EXPECT_EQ(nlohmann::json::parse(by_model.out)["choices"].size(), 5U);
}

TEST(LabelNextProgram, TheSameOnAnyNumberOfThreads) {
  const Scratch scratch;
  const std::string pool = write_pool(scratch, 6, "pool.safetensors");
  const Outcome one = run_annulus(scratch, {"label-next", pool, "--threads", "1"});
  EXPECT_EQ(one.out, run_annulus(scratch, {"label-next", pool, "--threads", "3"}).out);
  EXPECT_TRUE(one.out.starts_with("label these 20 of ")) << one.out;
}

TEST(LabelNextProgram, NamesWhatIsWrong) {
  const Scratch scratch;
  const std::string pool = write_pool(scratch, 6, "pool.safetensors");
  expect_complaint(run_annulus(scratch, {"label-next", scratch / "missing.npz", "-q"}), 5, "missing.npz");
  expect_complaint(run_annulus(scratch, {"label-next", pool, "--new-classes", "2", "-q"}), 2, "--new-classes");
  SyntheticOptions other = small_data();
  other.dimension = 20;
  const std::string wide = write_small_features(scratch, other, "wide.safetensors");
  expect_complaint(run_annulus(scratch, {"label-next", wide, pool, "-q"}), 3, "20 dimensions");
}

}  // namespace
}  // namespace annulus
