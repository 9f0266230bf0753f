// What people do to the files of a project by hand, and files that lag behind its journal.
#include <gtest/gtest.h>

#include <filesystem>

#include "studio_engine/project/project.h"
#include "tests/fixtures/project_photos.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus::studio {
namespace {

// As after a process that ended between the last change and its files.
void forget_that_files_followed(const ScratchFolder& folder) { std::filesystem::remove(folder / "p/.followed"); }

TEST(ProjectFolder, TakesInWhatWasDoneByHand) {
  const ScratchFolder folder;
  std::string moved;
  std::string deleted;
  {
    Opened project(folder);
    const auto added = add(*project, "cat", {1, 2, 3});
    moved = added[0].id + ".png";
    deleted = added[1].id + ".png";
  }
  const auto photos = folder / "p/photos";
  std::filesystem::create_directories(photos / "dog");
  std::filesystem::rename(photos / "cat" / moved, photos / "dog" / moved);
  std::filesystem::remove(photos / "cat" / deleted);
  folder.write("p/photos/dog/rex.png", picture(7));
  folder.write("p/photos/dog/notes.txt", "no photo");
  folder.write("p/photos/dog/copy.png", picture(3));
  Opened project(folder);
  EXPECT_EQ(project->state().class_named("cat").photos.size(), 1U);
  EXPECT_EQ(project->state().class_named("dog").photos.size(), 2U);
  const Photo& rex = project->state().photo(project->state().class_named("dog").photos.front());
  EXPECT_EQ(rex.name, "rex.png");
  EXPECT_EQ(content_of(project->path_of(rex)), picture(7));
}

TEST(ProjectFolder, OpensAfterARenamedClassWasMadeAgainByHand) {
  for (const std::vector<int>& photos : {std::vector<int>{1, 2}, std::vector<int>{}}) {
    const ScratchFolder folder;
    {
      Opened project(folder);
      project->add_class("bird");
      add(*project, "bird", photos);
      project->rename_class("bird", "robin");
    }
    std::filesystem::create_directories(folder / "p/photos/bird");
    folder.write("p/photos/bird/wren.png", picture(7));
    Opened project(folder);
    EXPECT_EQ(project->state().class_named("robin").photos.size(), photos.size());
    EXPECT_EQ(project->state().class_named("bird").photos.size(), 1U);
    expect_files_as_said(*project);
  }
}

TEST(ProjectFolder, OpensWhenTheLastChangeCannotBeDoneAgain) {
  const ScratchFolder folder;
  {
    Opened project(folder);
    add(*project, "bird", {1, 2});
    project->rename_class("bird", "robin");
  }
  forget_that_files_followed(folder);
  std::filesystem::rename(folder / "p/photos/robin", folder / "p/photos/bird");
  folder.write("p/photos/robin", "no folder");
  Opened project(folder);
  EXPECT_EQ(project->state().class_named("bird").photos.size(), 2U);
}

TEST(ProjectFolder, RenamesIntoAFolderThatHoldsSomethingElse) {
  const ScratchFolder folder;
  Opened project(folder);
  const auto added = add(*project, "bird", {1, 2, 3});
  std::filesystem::create_directories(folder / "p/photos/robin");
  folder.write("p/photos/robin/notes.txt", "no photo");
  project->rename_class("bird", "robin");
  for (const AddedPhoto& photo : added) {
    EXPECT_TRUE(std::filesystem::exists(project->path_of(project->state().photo(photo.id))));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "p/photos/bird"));
  EXPECT_EQ(content_of(folder / "p/photos/robin/notes.txt"), "no photo");
  // A process that ended half-way: the first photo had not been moved yet.
  std::filesystem::create_directories(folder / "p/photos/bird");
  const std::string first = added[0].id + ".png";
  std::filesystem::rename(folder / "p/photos/robin" / first, folder / "p/photos/bird" / first);
  project.project.reset();
  forget_that_files_followed(folder);
  Opened again(folder);
  EXPECT_EQ(again->state().class_named("robin").photos.size(), 3U);
  EXPECT_EQ(again->state().revision(), 2U);
}

TEST(ProjectFolder, BeginsWithPhotosThatAreThere) {
  const ScratchFolder folder;
  Project::create(folder / "p", "b");
  std::filesystem::create_directories(folder / "p/photos/cat");
  folder.write("p/photos/cat/tom.png", picture(1));
  { Opened project(folder); }
  Opened project(folder);
  EXPECT_EQ(project->state().photo_count(), 1U);
  EXPECT_FALSE(project->state().can_undo());
  expect_files_as_said(*project);
}

// A project of two classes whose last change moved a photo; its number.
std::string move_a_cat_to_the_dogs(const ScratchFolder& folder) {
  Opened project(folder);
  const std::string id = add(*project, "cat", {1, 2})[0].id;
  add(*project, "dog", {3});
  project->move_photos({&id, 1}, "dog");
  return id;
}

TEST(ProjectFolder, WhatWasMovedBackByHandStaysThere) {
  const ScratchFolder folder;
  const std::string id = move_a_cat_to_the_dogs(folder);
  const auto photos = folder / "p/photos";
  std::filesystem::rename(photos / "dog" / (id + ".png"), photos / "cat" / (id + ".png"));
  {
    Opened project(folder);
    EXPECT_EQ(project->state().photo(id).class_name, "cat");
    EXPECT_EQ(project->state().next_undo().title, "Changes made in the folder");
    expect_files_as_said(*project);
    project->remove_photos({&id, 1});
  }
  std::filesystem::rename(folder / "p/trash" / (id + ".png"), photos / "dog" / (id + ".png"));
  Opened project(folder);
  EXPECT_EQ(project->state().photo(id).class_name, "dog");
  expect_files_as_said(*project);
}

TEST(ProjectFolder, FilesThatHadNotFollowedDoSo) {
  const ScratchFolder folder;
  const std::string id = move_a_cat_to_the_dogs(folder);
  const auto photos = folder / "p/photos";
  // As a process leaves it that ends before it has moved the file; then marks that are cut short or of other changes.
  for (const char* mark : {"", "00000", "00000000000000000002\n", "no number", "00000000000000000004\n"}) {
    folder.write("p/.followed", mark);
    std::filesystem::rename(photos / "dog" / (id + ".png"), photos / "cat" / (id + ".png"));
    Opened project(folder);
    EXPECT_EQ(project->state().photo(id).class_name, "dog") << mark;
    EXPECT_EQ(project->state().revision(), 3U) << mark;
    expect_files_as_said(*project);
  }
}

TEST(ProjectFolder, ARenamedPhotoIsStillThatPhoto) {
  const ScratchFolder folder;
  std::vector<AddedPhoto> added;
  {
    Opened project(folder);
    added = add(*project, "cat", {1, 2, 3});
  }
  const auto file = [&](std::size_t i) { return folder / "p/photos/cat" / (added[i].id + ".png"); };
  std::filesystem::create_directories(folder / "p/photos/dog");
  std::filesystem::rename(file(0), folder / "p/photos/cat/tom.png");
  std::filesystem::rename(file(1), folder / "p/photos/dog/rex.png");
  // A copy is no move as long as the photo is somewhere under its own name, here in a class that comes later.
  std::filesystem::rename(file(2), folder / "p/photos/dog" / file(2).filename());
  folder.write("p/photos/cat/copy.png", picture(3));
  {
    Opened project(folder);
    EXPECT_EQ(project->state().photo_count(), 3U);
    EXPECT_EQ(project->state().photo(added[0].id).class_name, "cat");
    EXPECT_EQ(project->state().photo(added[1].id).class_name, "dog");
    EXPECT_EQ(project->state().photo(added[2].id).class_name, "dog");
    for (const AddedPhoto& photo : added) {
      EXPECT_TRUE(std::filesystem::exists(project->path_of(project->state().photo(photo.id)))) << photo.id;
    }
    std::filesystem::remove(folder / "p/photos/cat/copy.png");
    expect_files_as_said(*project);
    EXPECT_EQ(project->undo(), "Changes made in the folder");
    EXPECT_EQ(project->state().class_named("cat").photos.size(), 3U);
    expect_files_as_said(*project);
  }
  // Within its class, nothing has changed.
  std::filesystem::rename(file(0), folder / "p/photos/cat/tom.png");
  Opened project(folder);
  EXPECT_TRUE(project->state().can_redo());
  expect_files_as_said(*project);
}

TEST(ProjectFolder, TakesInWhatWasPutIntoTheInboxByHand) {
  const ScratchFolder folder;
  std::string kept;
  {
    Opened project(folder);
    kept = add(*project, kInbox, {1})[0].id;
    add(*project, "cat", {2});
  }
  folder.write("p/inbox/new.png", picture(3));
  folder.write("p/inbox/known.png", picture(2));
  folder.write("p/unknown/odd.png", picture(4));
  {
    Opened project(folder);
    EXPECT_EQ(project->state().inbox().size(), 2U);
    EXPECT_TRUE(project->state().inbox().contains(kept));
    EXPECT_EQ(project->state().unknown().size(), 1U);
    EXPECT_EQ(project->state().class_named("cat").photos.size(), 1U);
  }
  std::filesystem::remove(folder / "p/inbox" / (kept + ".png"));
  Opened project(folder);
  EXPECT_EQ(project->state().inbox().size(), 1U);
}

}  // namespace
}  // namespace annulus::studio
