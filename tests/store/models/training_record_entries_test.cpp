// Records survive as named values, records of the first format version become the same, and other types are rejected.
#include "annulus/store/models/training_record_entries.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

TEST(TrainingRecordEntries, RoundTripIsExact) {
  for (const std::string& name : recipe_names()) {
    TrainingRecord record = record_of(recipe_named(name));
    record.version = "9";
    record.training_accuracy = 0.1 + 0.2;
    record.seed = ~std::uint64_t{0};
    record.shots = "all";
    record.held_out = {20, 0.75, 0.125};
    record.updates = {1, 2, 3, 4};
    record.notes = {{"python_labels", "<i8"}};
    EXPECT_EQ(record_of_entries(parse_value_map(to_json(record_entries(record)), "here"), "here"), record) << name;
  }
  EXPECT_EQ(to_json(record_entries({})), "{}");
}

TEST(TrainingRecordEntries, HaveTheirTypes) {
  RecordEntries entries = record_entries(record_of(recipe_named("default")));
  EXPECT_EQ(entries["recipe"], JsonValue(std::string("default")));
  EXPECT_EQ(entries["virtual_examples"], JsonValue(true));
  EXPECT_EQ(entries["transform"], JsonValue(std::string("auto")));
  EXPECT_EQ(entries["epochs"], JsonValue(std::uint64_t{10}));
  EXPECT_EQ(entries["least_final_steps"], JsonValue(std::uint64_t{60}));
  EXPECT_EQ(entries["from_prototypes"], JsonValue(true));
  EXPECT_EQ(entries["label_smoothing"], JsonValue(0.1));
  EXPECT_FALSE(entries.contains("update_classes_added"));
}

TEST(TrainingRecordEntries, OtherTextIsKeptAndOtherValuesAreLeftOut) {
  const TrainingRecord record =
      record_of_entries(parse_value_map(R"({"mine":"x","yours":3,"epochs":7})", "here"), "here");
  EXPECT_EQ(record.notes, (std::map<std::string, std::string>{{"mine", "x"}}));
  EXPECT_EQ(record.epochs, 7U);
}

TEST(TrainingRecordEntries, ANoteDoesNotReplaceAField) {
  TrainingRecord record;
  record.epochs = 7;
  record.notes["epochs"] = "8";
  EXPECT_EQ(record_entries(record)["epochs"], JsonValue(std::uint64_t{7}));
}

TEST(TrainingRecordEntries, RejectsOtherTypes) {
  const std::map<std::string, std::string> wrong{
      {R"({"epochs":"7"})", "\"epochs\" to be a number of 0 or more"},
      {R"({"epochs":7.5})", "\"epochs\" to be a number of 0 or more"},
      {R"({"epochs":-7})", "\"epochs\" to be a number of 0 or more"},
      {R"({"learning_rate":true})", "\"learning_rate\" to be a number"},
      {R"({"antithetic":1})", "\"antithetic\" to be true or false"},
      {R"({"recipe":1})", "\"recipe\" to be text"},
      {R"({"head":"quadratic"})", "\"head\" to be a known name, found {\"head\":\"quadratic\"}"},
      {R"({"transform":2})", "\"transform\" to be a known name"},
      {R"({"update_classes_added":"1"})", "\"update_classes_added\" to be a number of 0 or more"}};
  for (const auto& [text, words] : wrong) {
    expect_error(ErrorKind::kFormat, words, [&] { record_of_entries(parse_value_map(text, "here"), "here"); });
  }
}

TEST(TrainingRecordEntries, ReadsTheTextOfTheFirstVersion) {
  const TrainingRecord record = record_of_text({{"recipe", "default"},
                                                {"method", "ibm2"},
                                                {"conditioning", "auto"},
                                                {"companion_ridge", "0.7 at penalty 0.5"},
                                                {"companion_mean_rows", "20"},
                                                {"rows", "24"},
                                                {"seed", "18446744073709551615"},
                                                {"search_range", "0,10"},
                                                {"search_expand", "true"},
                                                {"held_out_rows", "24"},
                                                {"held_out_accuracy", "0.7916666666666664"},
                                                {"grown_classes_added", "1"},
                                                {"grown_classes_removed", "2"},
                                                {"grown_rows_added", "3"},
                                                {"grown_rows_removed", "4"},
                                                {"python_labels", "<i8"}},
                                               "here");
  TrainingRecord expected;
  expected.recipe = "default";
  expected.virtual_examples = true;
  expected.transform = TransformKind::kAuto;
  expected.ensemble_ridge_weight = 0.7;
  expected.ensemble_ridge_penalty = 0.5;
  expected.ensemble_prototype_shots = 20.0;
  expected.examples = 24;
  expected.seed = ~std::uint64_t{0};
  expected.search.lowest = 0.0;
  expected.search.highest = 10.0;
  expected.search.expand = true;
  expected.held_out.examples = 24;
  expected.held_out.accuracy = 0.7916666666666664;
  expected.updates = {1, 2, 3, 4};
  expected.notes = {{"python_labels", "<i8"}};
  EXPECT_EQ(record, expected);
}

TEST(TrainingRecordEntries, AMethodOfTheFirstVersionIsARecipeToday) {
  const auto read = [](const char* recipe) {
    return record_of_text({{"recipe", recipe}, {"method", "baseline"}, {"companion_ridge", "0.7 at penalty 0.5"}}, "x");
  };
  EXPECT_EQ(read("default").recipe, "baseline");
  EXPECT_EQ(read("default").virtual_examples, false);
  EXPECT_EQ(read("default").ensemble_ridge_weight, std::nullopt);
  EXPECT_EQ(read("paper").recipe, "paper");
  EXPECT_EQ(read("paper").virtual_examples, false);
  EXPECT_EQ(record_of_text({{"method", "baseline"}}, "x").recipe, std::nullopt);
}

TEST(TrainingRecordEntries, RejectsOddTextOfTheFirstVersion) {
  const std::map<std::string, std::string> odd{{"virtual", "many"}, {"batch", "-3"},          {"seed", "x"},
                                               {"rows", "7 "},      {"learning_rate", ""},    {"antithetic", "yes"},
                                               {"head", "round"},   {"companion_ridge", "1"}, {"search_range", "0"}};
  for (const auto& [key, value] : odd) {
    expect_error(ErrorKind::kFormat, "here: expected ", [&] { record_of_text({{key, value}}, "here"); });
  }
}

}  // namespace
}  // namespace annulus
