// Takes in what people did to the photos of a project by hand while it was closed.
#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/store/images/image_folder.h"
#include "studio_engine/project/project.h"

namespace annulus::studio {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with(".")) entries.push_back(entry.path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

bool usable_class_name(const std::string& name) {
  try {
    check_class_name(name);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The photo in a file that a person put there; without an id when it is no image.
Photo photo_of(const fs::path& file) {
  Photo photo;
  if (!fs::is_regular_file(file) || !has_image_extension(file)) return photo;
  const MappedFile mapped(file);
  photo.extension = image_extension(mapped.bytes());
  if (photo.extension.empty()) return photo;
  photo.sha256 = sha256_hex(mapped.bytes());
  photo.id = photo.sha256.substr(0, 16);
  const std::string name = file.filename().string();
  photo.name = is_utf8(name) ? name : photo.id;
  return photo;
}

}  // namespace

// New files are renamed after their content. A copy of a photo that the project has stays where it is, unused. A photo
// that is found only under another name was renamed by hand and is used.
void Project::take_in_by_hand() {
  Change change{Change::Kind::kDo, "Changes made in the folder", {}, {}};
  std::map<std::string, std::string> moved;  // photo: class it was found in
  std::map<std::string, std::string> found;  // photos that are where they should be, or were taken in
  std::vector<std::pair<fs::path, std::string>>
      others;  // files whose names are not those of known photos, and their classes
  std::vector<std::pair<fs::path, std::string>> folders;  // and the class or place that each is of
  for (const fs::path& folder : sorted_entries(photos_folder())) {
    const std::string name = folder.filename().string();
    if (!fs::is_directory(folder) || !usable_class_name(name)) continue;
    folders.emplace_back(folder, name);
    const auto known_class = state_.classes().find(name);
    if (known_class == state_.classes().end()) change.operations.push_back({Operation::Kind::kAddClass, {}, {}, name});
  }
  for (const char* place : {kInbox, kUnknown}) folders.emplace_back(folder_ / std::string(place).substr(1), place);
  for (const auto& [folder, name] : folders) {
    for (const fs::path& file : sorted_entries(folder)) {
      const auto known = state_.photos().find(file.stem().string());
      if (known != state_.photos().end() && file == path_in(known->second, name)) {
        (known->second.class_name == name ? found : moved).emplace(known->first, name);
      } else {
        others.emplace_back(file, name);
      }
    }
  }
  for (const auto& [file, name] : others) {
    Photo photo = photo_of(file);
    if (photo.id.empty() || moved.contains(photo.id) || !found.emplace(photo.id, name).second) continue;
    fs::rename(file, path_in(photo, name));
    if (state_.photos().contains(photo.id)) {
      put_operation(photo.id, name, change);
    } else {
      change.operations.push_back({Operation::Kind::kPut, photo.id, {}, name});
      change.photos.push_back(std::move(photo));
    }
  }
  for (const auto& [id, name] : moved) {
    if (!found.contains(id)) put_operation(id, name, change);
  }
  for (const auto& [id, photo] : state_.photos()) {
    if (!photo.class_name.empty() && !found.contains(id) && !moved.contains(id)) put_operation(id, {}, change);
  }
  for (const auto& [name, entry] : state_.classes()) {
    std::error_code ignored;
    fs::create_directory(photos_folder() / name, ignored);
  }
  if (change.operations.empty()) return;
  const bool beginning = state_.revision() == 0;
  commit(change);
  if (!beginning) return;
  // The photos that a project starts with are not a change to undo.
  state_.forget_undo();
  const std::string line = state_.to_line();
  journal_->replace({&line, 1});
}

}  // namespace annulus::studio
