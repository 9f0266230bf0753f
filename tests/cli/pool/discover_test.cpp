// discover from the command line: groups, names, a feature file that fit takes, what a model does not know.
#include <cmath>
#include <fstream>

#include "tests/fixtures/program.h"

namespace annulus {
namespace {

SyntheticOptions clear_classes(std::size_t classes) {
  SyntheticOptions options = small_data();
  options.classes = classes;
  options.train_rows = 14;
  options.dimension = 24;
  options.noise = 0.3;
  return options;
}

TEST(DiscoverProgram, GroupsAndLabelsThatFitTakes) {
  const Scratch scratch;
  const std::string pool = write_small_features(scratch, clear_classes(6), "pool.safetensors");
  const Outcome first = run_annulus(scratch, {"discover", pool, "--jsonl", "-", "--html", scratch / "groups.html"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const auto groups = parse_json_lines(first.out);
  ASSERT_GE(groups.size(), 3U);
  EXPECT_NE(read_text(scratch / "groups.html").find("group-001"), std::string::npos);

  std::ofstream(scratch / "names.csv") << "group-001,daisy\ngroup-002,rose\ngroup-003,daisy\n";
  const std::string labelled = scratch / "labelled.safetensors";
  const Outcome named = run_annulus(scratch, {"discover", pool, "--names", scratch / "names.csv", "-o", labelled,
                                              "--csv", scratch / "groups.csv", "--json"});
  ASSERT_EQ(named.exit_code, 0) << named.err;
  const FeatureSet set = read_features(labelled);
  EXPECT_EQ(std::vector<std::string>(set.class_names().begin(), set.class_names().end()),
            (std::vector<std::string>{"daisy", "rose"}));
  EXPECT_EQ(set.rows(), groups[0]["size"].get<std::size_t>() + groups[1]["size"].get<std::size_t>() +
                            groups[2]["size"].get<std::size_t>());
  const std::string table = read_text(scratch / "groups.csv");
  EXPECT_EQ(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')), set.rows() + 1);
  EXPECT_EQ(run_annulus(scratch, quickly({"fit", labelled, "-o", scratch / "model.safetensors", "-q"})).exit_code, 0);
}

TEST(DiscoverProgram, TheSameOnAnyNumberOfThreads) {
  const Scratch scratch;
  const std::string pool = write_small_features(scratch, clear_classes(8), "pool.safetensors");
  const Outcome one = run_annulus(scratch, {"discover", pool, "--threads", "1"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.out, run_annulus(scratch, {"discover", pool, "--threads", "3"}).out);
}

TEST(DiscoverProgram, WithAModelOnlyWhatItDoesNotKnow) {
  const Scratch scratch;
  const std::string known = write_small_features(scratch, clear_classes(5), "known.safetensors");
  const std::string pool = write_small_features(scratch, clear_classes(9), "pool.safetensors");
  const std::string model = scratch / "model.safetensors";
  ASSERT_EQ(run_annulus(scratch, quickly({"fit", known, "-o", model, "-q"})).exit_code, 0);
  const Outcome outcome = run_annulus(scratch, {"discover", pool, "--model", model, "--false-reject", "0.2", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_LT(json["grouped"], json["examples"]);
  EXPECT_GE(json["grouped"], 2);
  EXPECT_EQ(json["unknown_to"], model);
}

TEST(DiscoverProgram, NamesWhatIsWrong) {
  const Scratch scratch;
  const std::string pool = write_small_features(scratch, clear_classes(4), "pool.safetensors");
  expect_complaint(run_annulus(scratch, {"discover", pool, "--links", scratch / "links", "-q"}), 2, "--links");
  std::ofstream(scratch / "names.csv") << "group-999,daisy\n";
  expect_complaint(run_annulus(scratch, {"discover", pool, "--names", scratch / "names.csv", "-q"}), 3, "group-999");
}

}  // namespace
}  // namespace annulus
