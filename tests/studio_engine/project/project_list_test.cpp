// Which projects there are, which was open last, and what renaming and deleting leave where.
#include "studio_engine/project/project_list.h"

#include <gtest/gtest.h>

#include "studio_engine/project/project.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus::studio {
namespace {

using Names = std::vector<std::string>;

TEST(ProjectList, NamesProjectsAndNothingElse) {
  const ScratchFolder home;
  EXPECT_TRUE(project_names(home / "missing").empty());
  for (const char* name : {"owls", "birds", ".hidden"}) Project::create(home / name, "b");
  std::filesystem::create_directories(home / "photos");
  home.write("file", "x");
  EXPECT_EQ(project_names(home.path()), (Names{"birds", "owls"}));
}

TEST(ProjectList, RemembersTheLastProjectAsLongAsItIsThere) {
  const ScratchFolder home;
  EXPECT_TRUE(last_project(home.path()).empty());
  Project::create(home / "owls", "b");
  remember_project(home.path(), home / "owls");
  EXPECT_EQ(last_project(home.path()), home / "owls");
  std::filesystem::remove_all(home / "owls");
  EXPECT_TRUE(last_project(home.path()).empty());
  remember_project(home / "missing", home / "owls");
  EXPECT_FALSE(std::filesystem::exists(home / "missing"));
}

TEST(ProjectList, RenamesWithinTheFolder) {
  const ScratchFolder home;
  for (const char* name : {"owls", "birds"}) Project::create(home / name, "b");
  rename_project(home.path(), "owls", "owls of Europe");
  EXPECT_EQ(project_names(home.path()), (Names{"birds", "owls of Europe"}));
  rename_project(home.path(), "birds", "birds");
  expect_error(ErrorKind::kUsage, "already: choose another name",
               [&] { rename_project(home.path(), "birds", "owls of Europe"); });
  expect_error(ErrorKind::kUsage, "no project named \"owls\"", [&] { rename_project(home.path(), "owls", "x"); });
  for (const char* name : {"../x", "a/b", ".x", ""}) {
    EXPECT_THROW(rename_project(home.path(), "birds", name), Error) << name;
    EXPECT_THROW(rename_project(home.path(), name, "x"), Error) << name;
  }
  EXPECT_EQ(project_names(home.path()), (Names{"birds", "owls of Europe"}));
}

TEST(ProjectList, KeepsWhatIsDeleted) {
  const ScratchFolder home;
  for (const char* expected : {"owls", "owls-2"}) {
    Project::create(home / "owls", "b");
    EXPECT_EQ(delete_project(home.path(), "owls"), home / ".deleted" / expected);
    EXPECT_TRUE(Project::exists(home / ".deleted" / expected));
  }
  EXPECT_TRUE(project_names(home.path()).empty());
  EXPECT_THROW(delete_project(home.path(), "owls"), Error);
  EXPECT_THROW(delete_project(home.path(), ".deleted"), Error);
}

TEST(ProjectList, FindsAFreeName) {
  const ScratchFolder home;
  EXPECT_EQ(free_project_name(home.path(), "a"), "a");
  home.write("a", "x");
  home.write("a-2", "x");
  EXPECT_EQ(free_project_name(home.path(), "a"), "a-3");
}

}  // namespace
}  // namespace annulus::studio
