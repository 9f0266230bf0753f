// --feature where it is rejected before anything is opened; tests/scripts/backbones_test.py makes the features.
#include "cli/feature_option.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "tests/fixtures/program.h"

namespace annulus {
namespace {

std::string backbone_after(std::vector<std::string> words) {
  CLI::App app;
  std::string backbone;
  app.add_option("--backbone", backbone);
  cli::add_feature_option(app, backbone);
  std::reverse(words.begin(), words.end());
  app.parse(words);
  return backbone;
}

TEST(FeatureOption, WritesTheNameOfTheNetwork) {
  EXPECT_EQ(backbone_after({"--backbone", "dinov2-vits14"}), "dinov2-vits14");
  EXPECT_EQ(backbone_after({"--backbone", "dinov2-vits14", "--feature", "mean"}), "dinov2-vits14:mean");
  EXPECT_EQ(backbone_after({"--feature", "mean", "--backbone", "dinov2-vits14"}), "dinov2-vits14:mean");
  EXPECT_EQ(backbone_after({"--feature", "cls+mean"}), "auto:cls+mean");
}

TEST(FeatureOption, WhatCannotBeIsAComplaint) {
  const Scratch scratch;
  const std::string photos = scratch / "photos";
  expect_complaint(run_annulus(scratch, {"fit", photos, "--feature", "max", "-o", scratch / "m.safetensors"}), 2,
                   "--feature");
  const std::string file = std::string(ANNULUS_TEST_DATA) + "/backbones/tokens.onnx";
  expect_complaint(
      run_annulus(scratch, {"fit", photos, "--backbone", file, "--feature", "mean", "-o", scratch / "m.safetensors"}),
      2, "annulus import makes one with another");
}

}  // namespace
}  // namespace annulus
