// Where the cache and the projects are, by the variables of the environment.
#include "annulus/base/folders.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr const char* kVariables[] = {"ANNULUS_CACHE", "CACHE_DIRECTORY", "XDG_CACHE_HOME", "HOME",
                                      "ANNULUS_SHARE", "ANNULUS_STUDIO",  "STATE_DIRECTORY"};

// Sets the variables that decide, and puts the old ones back.
class FoldersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kVariables) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (const char* name : kVariables) {
      if (const auto found = before_.find(name); found != before_.end()) {
        ::setenv(name, found->second.c_str(), 1);
      } else {
        ::unsetenv(name);
      }
    }
  }

 private:
  std::map<std::string, std::string> before_;
};

TEST_F(FoldersTest, TheMostSpecificVariableNamesTheCache) {
  ::setenv("HOME", "/h", 1);
  EXPECT_EQ(cache_folder(), "/h/.cache/annulus");
  ::setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(cache_folder(), "/x/annulus");
  ::setenv("CACHE_DIRECTORY", "/var/cache/service:/var/cache/other", 1);
  EXPECT_EQ(cache_folder(), "/var/cache/service");
  ::setenv("ANNULUS_CACHE", "/a", 1);
  EXPECT_EQ(cache_folder(), "/a");
}

TEST_F(FoldersTest, WithoutAnyVariableThereIsNoCache) { EXPECT_THROW(cache_folder(), Error); }

TEST_F(FoldersTest, TheMostSpecificVariableNamesTheProjects) {
  EXPECT_THROW(projects_folder(), Error);
  ::setenv("HOME", "/h", 1);
  EXPECT_EQ(projects_folder(), "/h/annulus-studio");
  ::setenv("STATE_DIRECTORY", "/var/lib/service:/var/lib/other", 1);
  EXPECT_EQ(projects_folder(), "/var/lib/service/studio");
  ::setenv("ANNULUS_STUDIO", "/s", 1);
  EXPECT_EQ(projects_folder(), "/s");
}

TEST_F(FoldersTest, DataFilesAreLookedForWhereTheVariableSaysFirst) {
  ::setenv("ANNULUS_SHARE", "/data/annulus", 1);
  EXPECT_EQ(share_folders().front(), "/data/annulus");
}

TEST_F(FoldersTest, TheProgramIsInAFolderThatExists) { EXPECT_TRUE(std::filesystem::is_directory(program_folder())); }

}  // namespace
}  // namespace annulus
