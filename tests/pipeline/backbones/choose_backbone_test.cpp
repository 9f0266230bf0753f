// The backbone that is used where nobody names one.
#include "annulus/pipeline/backbones/choose_backbone.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "annulus/pipeline/backbones/backbone_store.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

class ChooseBackbone : public testing::Test {
 protected:
  ChooseBackbone() { ::setenv("ANNULUS_CACHE", scratch_.path().c_str(), 1); }
  ~ChooseBackbone() override { ::unsetenv("ANNULUS_CACHE"); }

  // As if the network had been downloaded and imported.
  static void put(const std::string& name) {
    const std::filesystem::path file = cached_backbone(*find_backbone(name));
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "network";
  }

  ScratchFolder scratch_;
};

TEST_F(ChooseBackbone, IsTheUsualOneWhereNothingIsThereAndNobodyCanBeAsked) {
  std::vector<std::string> notes;
  ChoiceOptions options;
  options.note = [&](const std::string& note) { notes.push_back(note); };
  EXPECT_EQ(choose_backbone(options), kUsualBackbone);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes.front().find(kUsualBackbone), std::string::npos);
}

TEST_F(ChooseBackbone, AsksWhereNothingIsThere) {
  ChoiceOptions options;
  options.images = 100;
  options.threads = 1;
  std::vector<BackboneOffer> seen;
  options.ask = [&](std::span<const BackboneOffer> offers) {
    seen.assign(offers.begin(), offers.end());
    return offers.back().entry->name;
  };
  EXPECT_EQ(choose_backbone(options), kUsualBackbone);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen.front().entry->advice, "good start");
  for (const BackboneOffer& offer : seen) {
    EXPECT_TRUE(offer.entry->commercial_use) << offer.entry->name;
    EXPECT_GT(offer.seconds, 0.0) << offer.entry->name;
  }
}

TEST_F(ChooseBackbone, IsTheBestRecommendedOneThatIsThere) {
  put(kQuickBackbone);
  EXPECT_EQ(choose_backbone({}), kUsualBackbone) << "the quick one is not recommended";
  put(kUsualBackbone);
  ChoiceOptions options;
  options.ask = [](std::span<const BackboneOffer>) -> std::string { throw std::runtime_error("asked"); };
  EXPECT_EQ(choose_backbone(options), kUsualBackbone);
  const std::vector<const BackboneEntry*> recommended = recommended_backbones();
  ASSERT_GE(recommended.size(), 3U);
  EXPECT_EQ(recommended.back()->name, kUsualBackbone);
  for (auto entry = recommended.rbegin(); entry != recommended.rend(); ++entry) {
    put((*entry)->name);
    EXPECT_EQ(choose_backbone(options), (*entry)->name);
  }
}

TEST_F(ChooseBackbone, RecommendsTheNextBetterOne) {
  const BackboneEntry* first = better_backbone(kQuickBackbone);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->advice, "good start");
  EXPECT_EQ(better_backbone(kUsualBackbone), first);
  const BackboneEntry* second = better_backbone(first->name);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->advice, "best on a CPU");
  EXPECT_EQ(better_backbone(second->name), nullptr);
}

}  // namespace
}  // namespace annulus
