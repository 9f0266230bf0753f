// Folders of photos in several layouts become projects, by copies.
#include "studio_engine/project/import_folder.h"

#include <gtest/gtest.h>

#include "studio_engine/project/project.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/project_photos.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus::studio {
namespace {

void put(const ScratchFolder& folder, const std::string& name, int number) {
  std::filesystem::create_directories((folder / name).parent_path());
  folder.write(name, picture(number));
}

std::size_t photos_of(const Project& project, const std::string& name) {
  return project.state().class_named(name).photos.size();
}

TEST(ImportFolder, TakesTheTrainingPartAndLeavesTheFolderAlone) {
  const ScratchFolder folder;
  put(folder, "birds/train/owl/1.png", 1);
  put(folder, "birds/train/owl/deep/1.png", 2);
  put(folder, "birds/train/jay/3.png", 3);
  put(folder, "birds/test/owl/4.png", 4);
  const ImportedFolder imported = import_folder(folder / "birds", folder / "home", "mobilenet-0.25");
  EXPECT_EQ(imported.project, folder / "home/birds");
  EXPECT_EQ(imported.notes, (std::vector<std::string>{"Left out 1 photo for testing."}));
  {
    const Project project(imported.project);
    EXPECT_EQ(project.backbone(), "mobilenet-0.25");
    EXPECT_EQ(project.state().photo_count(), 3U);
    EXPECT_EQ(photos_of(project, "owl"), 2U);
    EXPECT_EQ(photos_of(project, "jay"), 1U);
    EXPECT_FALSE(project.state().can_undo());
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "birds/train/owl/deep/1.png"));
  // The second time it is the same project, as it is by then.
  { Project(imported.project).remove_class("jay"); }
  const ImportedFolder again = import_folder(folder / "birds", folder / "home", "other");
  EXPECT_EQ(again.project, imported.project);
  EXPECT_EQ(Project(again.project).state().classes().size(), 1U);
}

TEST(ImportFolder, TakesClassesAndFlatFolders) {
  const ScratchFolder folder;
  put(folder, "classes/owl/1.png", 1);
  put(folder, "classes/jay/2.png", 2);
  put(folder, "flat/1.png", 1);
  put(folder, "flat/2.png", 2);
  const Project classes(import_folder(folder / "classes", folder / "home", "b").project);
  EXPECT_EQ(classes.state().classes().size(), 2U);
  const Project flat(import_folder(folder / "flat/", folder / "home", "b").project);
  EXPECT_EQ(photos_of(flat, "flat"), 2U);
}

TEST(ImportFolder, AnotherFolderOfTheSameNameGetsAnotherProject) {
  const ScratchFolder folder;
  put(folder, "a/photos/owl/1.png", 1);
  put(folder, "b/photos/jay/2.png", 2);
  EXPECT_EQ(import_folder(folder / "a/photos", folder / "home", "b").project, folder / "home/photos");
  EXPECT_EQ(import_folder(folder / "b/photos", folder / "home", "b").project, folder / "home/photos-2");
}

TEST(ImportFolder, LeavesOutWhatNoClassCanBeCalled) {
  const ScratchFolder folder;
  put(folder, "birds/owl/1.png", 1);
  put(folder, "birds/jay /2.png", 2);
  const ImportedFolder imported = import_folder(folder / "birds", folder / "home", "b");
  EXPECT_EQ(imported.notes,
            (std::vector<std::string>{"Left out the class \"jay \", whose name cannot be a folder's."}));
  EXPECT_EQ(Project(imported.project).state().photo_count(), 1U);
}

TEST(ImportFolder, BeginsAgainAfterItWasStopped) {
  const ScratchFolder folder;
  put(folder, "birds/owl/1.png", 1);
  put(folder, "birds/jay/2.png", 2);
  std::size_t calls = 0;
  expect_error(ErrorKind::kCancelled, "stopped", [&] {
    import_folder(folder / "birds", folder / "home", "b", [&](const Progress&) { return ++calls < 2; });
  });
  EXPECT_FALSE(std::filesystem::exists(folder / "home/birds"));
  EXPECT_EQ(Project(import_folder(folder / "birds", folder / "home", "b").project).state().photo_count(), 2U);
  std::filesystem::create_directories(folder / "none");
  expect_error(ErrorKind::kInput, "", [&] { import_folder(folder / "none", folder / "home", "b"); });
  expect_error(ErrorKind::kIo, "cannot be read", [&] { import_folder(folder / "missing", folder / "home", "b"); });
}

}  // namespace
}  // namespace annulus::studio
