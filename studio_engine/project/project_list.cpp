// Looks into the folder each time: people add and remove projects by hand.
#include "studio_engine/project/project_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "annulus/base/error.h"
#include "annulus/store/files/atomic_file.h"
#include "studio_engine/project/project.h"

namespace annulus::studio {
namespace {

namespace fs = std::filesystem;
constexpr const char* kLastProject = ".last-project";
constexpr const char* kDeleted = ".deleted";

void move_folder(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) fail(ErrorKind::kIo, "{}: cannot be moved to {}: {}", from.string(), to.string(), error.message());
}

// A name in the home folder, never a path.
fs::path project_named(const fs::path& home, const std::string& name) {
  check_class_name(name);
  fs::path folder = home / name;
  if (!Project::exists(folder)) fail(ErrorKind::kUsage, "there is no project named \"{}\" in {}", name, home.string());
  return folder;
}

}  // namespace

std::vector<std::string> project_names(const fs::path& home) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(home, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(".") && Project::exists(entry.path())) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void remember_project(const fs::path& home, const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(home, ignored)) return;
  try {
    write_file(home / kLastProject, fs::absolute(folder).string());
  } catch (const Error&) {
    return;
  }
}

fs::path last_project(const fs::path& home) {
  std::ifstream file(home / kLastProject, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return !text.empty() && Project::exists(text) ? fs::path(text) : fs::path();
}

void check_rename(const fs::path& home, const std::string& from, const std::string& to) {
  project_named(home, from);
  check_class_name(to);
  std::error_code ignored;
  if (from != to && fs::exists(home / to, ignored)) {
    fail(ErrorKind::kUsage, "there is a project named \"{}\" already: choose another name", to);
  }
}

void rename_project(const fs::path& home, const std::string& from, const std::string& to) {
  check_rename(home, from, to);
  if (from != to) move_folder(home / from, home / to);
}

fs::path delete_project(const fs::path& home, const std::string& name) {
  const fs::path folder = project_named(home, name);
  const fs::path deleted = home / kDeleted;
  std::error_code error;
  fs::create_directories(deleted, error);
  if (error) fail(ErrorKind::kIo, "{}: cannot be made: {}", deleted.string(), error.message());
  fs::path kept = deleted / free_project_name(deleted, name);
  move_folder(folder, kept);
  return kept;
}

std::string free_project_name(const fs::path& home, const std::string& wanted) {
  std::string name = wanted;
  std::error_code ignored;
  for (int number = 2; fs::exists(home / name, ignored); ++number) name = fmt::format("{}-{}", wanted, number);
  return name;
}

}  // namespace annulus::studio
