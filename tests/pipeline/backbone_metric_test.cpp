// Which metric belongs to features, and what the choices none, data, backbone and a file do to a recipe.
#include "annulus/pipeline/backbone_metric.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "annulus/learn/method/recipe_options.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

const std::string kNetwork(64, 'a');

class BackboneMetrics : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("ANNULUS_CACHE")) before_ = before;
    setenv("ANNULUS_CACHE", folder_.path().c_str(), 1);
    std::filesystem::create_directories(folder_ / "backbones");
  }
  void TearDown() override {
    if (before_.empty()) {
      unsetenv("ANNULUS_CACHE");
    } else {
      setenv("ANNULUS_CACHE", before_.c_str(), 1);
    }
  }

  std::string write(const std::filesystem::path& path) const {
    BackboneMetric metric;
    metric.prior.metric.axes = {1.0F, 0.0F};
    metric.prior.metric.shrink = {0.5F};
    metric.dimension = 2;
    metric.network = {{"backbone", "net"}, {"backbone_sha256", kNetwork}, {"preprocessing", "unit"}};
    return write_metric(metric, path);
  }

  static Recipe chosen(const std::optional<std::string>& metric, const std::string& recipe = "default") {
    RecipeOptions options;
    options.recipe = recipe;
    options.metric = metric;
    Recipe result = make_recipe(options, 0, 1);
    add_metric_prior(metric, {{"backbone", "net"}, {"backbone_sha256", kNetwork}, {"preprocessing", "unit"}}, 2,
                     result);
    return result;
  }

  ScratchFolder folder_;
  std::string before_;
};

TEST_F(BackboneMetrics, TheKeptOneIsUsedWhereTheRecipeLearnsAMetric) {
  EXPECT_EQ(chosen({}).metric.prior, nullptr);
  const std::string checksum = write(kept_metric_file(kNetwork));
  const Recipe recipe = chosen({});
  ASSERT_NE(recipe.metric.prior, nullptr);
  EXPECT_EQ(recipe.metric.prior->checksum, checksum);
  EXPECT_TRUE(recipe.metric.within_classes);
  const Recipe plain = chosen({}, "ibm2");
  EXPECT_EQ(plain.metric.prior, nullptr);
  EXPECT_EQ(plain.metric_of_default->prior->checksum, checksum);  // of the method "default" beside it
  EXPECT_NE(describe(plain), describe(recipe_named("ibm2")));     // so that cached runs tell them apart
}

TEST_F(BackboneMetrics, NoneAndDataLeaveItOut) {
  write(kept_metric_file(kNetwork));
  EXPECT_FALSE(chosen("none").metric.any());
  EXPECT_FALSE(chosen("none").metric_of_default->any());
  EXPECT_EQ(chosen("data").metric.prior, nullptr);
  EXPECT_TRUE(chosen("data", "ibm2").metric.within_classes);
}

TEST_F(BackboneMetrics, AChoiceByNameOrFileNeedsOne) {
  expect_error(ErrorKind::kInput, "kept for the network net, found none", [] { chosen("backbone"); });
  expect_error(ErrorKind::kIo, "nowhere", [&] { chosen((folder_ / "nowhere").string()); });
  const std::string checksum = write(folder_ / "metric");
  EXPECT_EQ(chosen((folder_ / "metric").string(), "ibm2").metric.prior->checksum, checksum);
  write(kept_metric_file(kNetwork));
  EXPECT_EQ(chosen("backbone").metric.prior->checksum, checksum);
  Recipe recipe = recipe_named("default");
  expect_error(ErrorKind::kInput, "do not say which network", [&] { add_metric_prior("backbone", {}, 2, recipe); });
}

TEST_F(BackboneMetrics, OneOfOtherFeaturesIsRejected) {
  const std::string file = (folder_ / "metric").string();
  write(file);
  write(kept_metric_file(kNetwork));
  Recipe recipe = recipe_named("default");
  add_metric_prior(file, {}, 2, recipe);  // features that say nothing are taken at their word
  EXPECT_NE(recipe.metric.prior, nullptr);
  expect_error(ErrorKind::kInput, "expected a metric of 3 dimensions as the features have, found 2",
               [&] { add_metric_prior(file, {}, 3, recipe); });
  const std::string other(64, 'b');
  expect_error(ErrorKind::kInput, "was made with the backbone net", [&] {
    add_metric_prior(file, {{"backbone_sha256", other}}, 2, recipe);
  });
  expect_error(ErrorKind::kInput, "preprocessing", [&] {
    add_metric_prior("backbone", {{"backbone_sha256", kNetwork}, {"preprocessing", "clip"}}, 2, recipe);
  });
  // Nobody asked for the kept one: it is left out.
  EXPECT_TRUE(kept_metric({{"backbone_sha256", kNetwork}, {"preprocessing", "unit"}}, 2).has_value());
  EXPECT_FALSE(kept_metric({{"backbone_sha256", kNetwork}, {"preprocessing", "clip"}}, 2).has_value());
  EXPECT_FALSE(kept_metric({{"backbone_sha256", kNetwork}}, 3).has_value());
}

TEST_F(BackboneMetrics, ProvenanceNamesNoOtherFile) {
  EXPECT_FALSE(kept_metric({{"backbone_sha256", "../../etc/passwd"}}, 2).has_value());
  expect_error(ErrorKind::kInput, "expected the SHA-256", [] { kept_metric_file("../x"); });
}

}  // namespace
}  // namespace annulus
