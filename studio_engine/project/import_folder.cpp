// Copies into a folder of another name, which is renamed when it is complete.
#include "studio_engine/project/import_folder.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/media_fragment.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/images/image_folder.h"
#include "studio_engine/project/project.h"
#include "studio_engine/project/project_list.h"

namespace annulus::studio {
namespace {

namespace fs = std::filesystem;
constexpr const char* kSource = ".imported";  // in a project: path of the folder that it was made of

std::string source_of(const fs::path& project) {
  std::ifstream file(project / kSource, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string name_for(const fs::path& photos) {
  std::string name = photos.filename().string();
  while (!name.empty() && (name.front() == '.' || name.front() == ' ')) name.erase(0, 1);
  while (!name.empty() && name.back() == ' ') name.pop_back();
  return name.empty() ? "photos" : name;
}

bool usable_name(const std::string& name) {
  try {
    check_class_name(name);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string count_text(std::size_t count) { return count == 1 ? "1 photo" : fmt::format("{} photos", count); }

class Import {
 public:
  Import(ImageList list, fs::path target, std::string only_class)
      : list_(std::move(list)), target_(std::move(target)), only_class_(std::move(only_class)) {}

  std::vector<std::string> copy(const ProgressCallback& progress) {
    for (std::size_t i = 0; i < list_.paths.size(); ++i) {
      report(progress, {"copy photos", i, list_.paths.size(), {}});
      copy_photo(i);
    }
    if (copied_ == 0) fail(ErrorKind::kInput, "expected photos to import, found none that can be used");
    std::vector<std::string> notes;
    if (test_ > 0) notes.push_back(fmt::format("Left out {} for testing.", count_text(test_)));
    if (parts_ > 0) notes.push_back(fmt::format("Left out {} boxes or frames: the studio takes whole photos.", parts_));
    for (const std::string& name : unusable_) {
      notes.push_back(fmt::format("Left out the class \"{}\", whose name cannot be a folder's.", name));
    }
    return notes;
  }

 private:
  void copy_photo(std::size_t i) {
    if (!list_.is_train.empty() && list_.is_train[i] == 0) {
      ++test_;
      return;
    }
    const MediaFragment fragment = parse_media_fragment(list_.paths[i]);
    std::error_code error;
    if (!fragment.whole() && !fs::exists(list_.paths[i], error)) {
      ++parts_;
      return;
    }
    const std::string& name =
        list_.labels.empty() ? only_class_ : list_.class_names[static_cast<std::size_t>(list_.labels[i])];
    if (!usable_name(name)) {
      unusable_.insert(name);
      return;
    }
    const fs::path source = list_.paths[i];
    const fs::path folder = target_ / name;
    fs::create_directories(folder, error);
    // Files in different folders inside a class may have the same name.
    fs::path copy = folder / source.filename();
    for (int number = 2; fs::exists(copy); ++number) {
      copy = folder / fmt::format("{}-{}{}", source.stem().string(), number, source.extension().string());
    }
    if (!error) fs::copy_file(source, copy, error);
    if (error)
      fail(ErrorKind::kIo, "{}: cannot be copied to {}: {}", source.string(), folder.string(), error.message());
    ++copied_;
  }

  const ImageList list_;
  const fs::path target_;
  const std::string only_class_;
  std::size_t copied_ = 0;
  std::size_t test_ = 0;
  std::size_t parts_ = 0;
  std::set<std::string> unusable_;
};

}  // namespace

ImportedFolder import_folder(const fs::path& photos, const fs::path& home, const std::string& backbone,
                             const ProgressCallback& progress) {
  std::error_code error;
  const fs::path source = fs::canonical(photos, error);
  if (error) fail(ErrorKind::kIo, "{}: cannot be read: {}", photos.string(), error.message());
  for (const std::string& name : project_names(home)) {
    if (source_of(home / name) == source.string()) return {home / name, {}};
  }
  ImageList list = list_images(source);
  const std::string name = name_for(source);
  const fs::path partial = home / fmt::format(".{}.partial", name);
  fs::remove_all(partial, error);
  Project::create(partial, backbone);
  std::vector<std::string> notes = Import(std::move(list), partial / "photos", name).copy(progress);
  write_file(partial / kSource, source.string());
  fs::path project = home / free_project_name(home, name);
  fs::rename(partial, project, error);
  if (error) fail(ErrorKind::kIo, "{}: cannot be moved to {}: {}", partial.string(), project.string(), error.message());
  return {std::move(project), std::move(notes)};
}

}  // namespace annulus::studio
