// Fields of the library in the words of the command line.
#include "cli/field_flags.h"

#include <gtest/gtest.h>

#include "cli/recipe_options.h"

namespace annulus::cli {
namespace {

// A subcommand with the options of the method.
class FieldFlags : public testing::Test {
 protected:
  void SetUp() override { add_recipe_options(app_, options_); }

  // What the subcommand says when the library rejects the options.
  std::string complaint() {
    try {
      make_recipe(options_, 0, 1);
    } catch (const Error& error) {
      return message_for(error, app_);
    }
    return "no error";
  }

  CLI::App app_;
  RecipeOptions options_;
};

TEST_F(FieldFlags, FieldsAreNamedByTheOptionThatSetsThem) {
  EXPECT_EQ(flag_of("learning_rate", app_), "--lr");
  EXPECT_EQ(flag_of("search_learning_rate", app_), "--search-lr");
  EXPECT_EQ(flag_of("virtual_count", app_), "--virtual");
  EXPECT_EQ(flag_of("label_smoothing", app_), "--label-smoothing");
  EXPECT_EQ(flag_of("epochs", app_), "--epochs");
}

TEST_F(FieldFlags, AFieldThatNoOptionSetsKeepsItsName) {
  EXPECT_EQ(flag_of("false_reject", app_), "false_reject");
  EXPECT_EQ(flag_of("base_classes", app_), "base_classes");
  app_.add_option("--false-reject");
  EXPECT_EQ(flag_of("false_reject", app_), "--false-reject");
  EXPECT_EQ(flag_of("from", app_), "--from") << "an option of annulus backbones get, which the sentence names";
}

TEST_F(FieldFlags, EveryCheckOfARecipeNamesAnOption) {
  const auto complains = [this](auto RecipeOptions::*field, auto value, const std::string& sentence) {
    options_ = RecipeOptions();
    options_.*field = value;
    EXPECT_EQ(complaint(), sentence);
  };
  constexpr std::size_t kNone = 0;
  complains(&RecipeOptions::virtual_count, kNone, "expected --virtual to be 1 or more, found 0");
  complains(&RecipeOptions::epochs, kNone, "expected --epochs to be 1 or more, found 0");
  complains(&RecipeOptions::batch, kNone, "expected --batch to be 1 or more, found 0");
  complains(&RecipeOptions::search_epochs, kNone, "expected --search-epochs to be 1 or more, found 0");
  complains(&RecipeOptions::epsilon, -1.0, "expected --epsilon to be from 0 to 1000000, found -1");
  complains(&RecipeOptions::threshold, 1.5, "expected --threshold to be above 0 and at most 1, found 1.5");
  complains(&RecipeOptions::learning_rate, 0.0, "expected --lr to be above 0 and at most 1000000, found 0");
  complains(&RecipeOptions::search_learning_rate, -1.0,
            "expected --search-lr to be above 0 and at most 1000000, found -1");
  complains(&RecipeOptions::label_smoothing, 2.0, "expected --label-smoothing to be from 0 to 1, found 2");
  complains(&RecipeOptions::search_tolerance, 0.0, "expected --search-tolerance to be from 1e-06 to 1000000, found 0");
  complains(&RecipeOptions::search_range, std::vector<double>{3.0, 1.0},
            "expected --search-range to be two radii, 0 <= low < high <= 1000000, found 3,1");
}

}  // namespace
}  // namespace annulus::cli
