// Arithmetic of networks by their architecture, and times that are measured or expected.
#include "annulus/pipeline/backbones/backbone_cost.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "annulus/pipeline/backbones/backbone_store.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

BackboneEntry network(const std::string& text, int image_size = 224) {
  BackboneEntry entry;
  entry.name = "test-network";
  entry.network = text;
  entry.image_size = image_size;
  return entry;
}

// DeiT's paper gives 4.6 for ViT-S/16 and 17.5 for ViT-B/16; the usual figure of ResNet-50 is 4.1.
TEST(BackboneCost, CountsTheArithmeticOfKnownArchitectures) {
  EXPECT_NEAR(giga_multiply_adds(network("ViT-S/16")), 4.6, 0.1);
  EXPECT_NEAR(giga_multiply_adds(network("ViT-B/16, image tower")), 17.5, 0.2);
  EXPECT_NEAR(giga_multiply_adds(network("ResNet-50, torchvision")), 4.1, 1e-9);
  EXPECT_GT(giga_multiply_adds(network("ViT-S/8")), 4.0 * giga_multiply_adds(network("ViT-S/16")));
  EXPECT_EQ(giga_multiply_adds(network("WRN-28-10")), 0.0);
  EXPECT_EQ(giga_multiply_adds(network("ViT-S")), 0.0);
}

TEST(BackboneCost, TimesGrowWithTheArithmeticAndTheImages) {
  const ScratchFolder scratch;
  ::setenv("ANNULUS_CACHE", scratch.path().c_str(), 1);
  const double few = expected_seconds(network("ViT-S/16"), 10, 1);
  EXPECT_GT(few, 0.0);
  EXPECT_GT(expected_seconds(network("ViT-B/16"), 100, 1), few);
  EXPECT_EQ(expected_seconds(network("WRN-28-10"), 100, 1), 0.0);
  // A measured time takes the place of the expected one.
  BackboneRecord record;
  record.milliseconds = 20.0;
  std::filesystem::create_directories(backbone_record_file("test-network").parent_path());
  write_backbone_record("test-network", record);
  EXPECT_DOUBLE_EQ(expected_seconds(network("ViT-S/16"), 100, 2), 1.0);
  ::unsetenv("ANNULUS_CACHE");
}

}  // namespace
}  // namespace annulus
