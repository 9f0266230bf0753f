// Projects to test with, and photos for them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "annulus/store/project.h"
#include "tests/store/scratch_folder.h"

namespace annulus {

// Files that look like PNG; the project does not look further.
inline std::string picture(int number) { return "\x89PNG\r\n\x1A\n" + std::to_string(number); }

inline std::vector<AddedPhoto> add(Project& project, const std::string& class_name, const std::vector<int>& numbers) {
  std::vector<std::string> files;
  for (const int number : numbers) files.push_back(picture(number));
  std::vector<NewPhoto> photos;
  for (const std::string& file : files) photos.push_back({std::as_bytes(std::span(file)), "a.png"});
  return project.add_photos(class_name, photos);
}

// Every photo is where the state says, and nothing else is there.
inline void expect_files_as_said(const Project& project) {
  std::size_t files = 0;
  for (const auto& [name, entry] : project.state().classes()) {
    EXPECT_TRUE(std::filesystem::is_directory(project.photos_folder() / name)) << name;
    for (const std::string& id : entry.photos) {
      EXPECT_TRUE(content_of(project.path_of(project.state().photo(id))).starts_with("\x89PNG")) << id;
    }
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(project.photos_folder())) {
    if (entry.is_regular_file()) {
      ++files;
    } else {
      EXPECT_TRUE(project.state().classes().contains(entry.path().filename())) << entry.path();
    }
  }
  EXPECT_EQ(files, project.state().photo_count());
}

struct Opened {
  explicit Opened(const ScratchFolder& folder) {
    if (!Project::exists(folder / "p")) Project::create(folder / "p", "mobilenet-0.25");
    project.emplace(folder / "p");
  }
  Project* operator->() { return &*project; }
  Project& operator*() { return *project; }
  std::optional<Project> project;
};

}  // namespace annulus
