// What doctor finds: of a machine with everything, with an empty cache and with nothing.
#include "annulus/pipeline/diagnosis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "annulus/pipeline/backbones/backbone_catalogue.h"
#include "annulus/pipeline/backbones/backbone_store.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

class DiagnosisTest : public ::testing::Test {
 protected:
  void set(const std::string& name, const std::string& value) {
    if (const char* old = std::getenv(name.c_str()); old != nullptr && !before_.contains(name)) before_[name] = old;
    changed_.push_back(name);
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  void TearDown() override {
    for (const std::string& name : changed_) ::unsetenv(name.c_str());
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  static Finding finding(const std::string& subject) {
    const std::vector<Finding> findings = diagnose();
    const auto found =
        std::find_if(findings.begin(), findings.end(), [&](const Finding& each) { return each.subject == subject; });
    return found == findings.end() ? Finding{} : *found;
  }

  ScratchFolder scratch_;

 private:
  std::map<std::string, std::string> before_;
  std::vector<std::string> changed_;
};

TEST_F(DiagnosisTest, AnEmptyCacheIsFineAndNamesTheCommandForEachNetwork) {
  set("ANNULUS_CACHE", scratch_ / "cache");
  const Finding cache = finding("cache folder");
  EXPECT_TRUE(cache.ok) << cache.found;
  EXPECT_TRUE(cache.mend.empty());
  const Finding disk = finding("disk");
  EXPECT_NE(disk.found.find("GB free"), std::string::npos) << disk.found;
  EXPECT_EQ(disk.ok, disk.mend.empty());
  const Finding network = finding("network resnet50");
  EXPECT_FALSE(network.ok);
  EXPECT_FALSE(network.needed);
  EXPECT_EQ(network.mend, "annulus backbones get resnet50");
  EXPECT_TRUE(std::filesystem::is_empty(scratch_ / "cache")) << "it leaves nothing behind";
}

TEST_F(DiagnosisTest, AFeatureInTheCacheIsANetworkThatIsThere) {
  set("ANNULUS_CACHE", scratch_ / "cache");
  const std::string subject = "network dino-vits16:mean";
  EXPECT_EQ(finding(subject).subject, "");
  const std::filesystem::path file = cached_backbone(*find_backbone("dino-vits16:mean"));
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << "network";
  EXPECT_TRUE(finding(subject).ok);
  EXPECT_EQ(finding(subject).found, file.string());
}

TEST_F(DiagnosisTest, ACacheThatCannotBeWrittenIsMissing) {
  scratch_.write("file", "not a folder");
  set("ANNULUS_CACHE", (scratch_ / "file") / "cache");
  const Finding cache = finding("cache folder");
  EXPECT_FALSE(cache.ok);
  EXPECT_TRUE(cache.mend.starts_with("export ANNULUS_CACHE=")) << cache.mend;
  EXPECT_FALSE(all_needed(diagnose()));
}

TEST_F(DiagnosisTest, WithoutNpmNothingCanBeDownloaded) {
  set("PATH", scratch_.path());
  const Finding downloads = finding("downloads");
  EXPECT_FALSE(downloads.ok);
  EXPECT_EQ(downloads.mend, "apt install npm");
}

TEST_F(DiagnosisTest, FontsAndTheProcessorAreLookedAtAndMayBeMissing) {
  for (const char* subject : {"fonts", "processor"}) {
    const Finding found = finding(subject);
    EXPECT_EQ(found.subject, subject);
    EXPECT_FALSE(found.needed);
    EXPECT_FALSE(found.found.empty());
    EXPECT_EQ(found.ok, found.mend.empty()) << subject;
  }
}

TEST(Diagnosis, OptionalThingsMayBeMissing) {
  EXPECT_TRUE(all_needed({{"a", true, true, "x"}, {"b", false, false, "y"}}));
  EXPECT_FALSE(all_needed({{"a", false, true, "x"}}));
}

}  // namespace
}  // namespace annulus
