// A studio project on disk: an ordinary folder of photos, a folder a class, and a journal of every change.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "annulus/store/byte_lock.h"
#include "annulus/store/journal.h"
#include "annulus/store/project_state.h"

namespace annulus {

struct NewPhoto {
  std::span<const std::byte> bytes;
  std::string name;  // of the file, for people; never a path that is written to
};

struct AddedPhoto {
  enum class Outcome { kAdded, kKnown, kRefused };
  Outcome outcome = Outcome::kAdded;
  std::string id;      // empty when refused
  std::string reason;  // known: the class that has it; refused: why
};

// FOLDER/project.json   what the project is: its backbone
// FOLDER/journal.jsonl  every change, see Journal
// FOLDER/photos/CLASS/  the photos, named by the first 16 digits of their SHA-256: what `annulus fit` can be given
// FOLDER/trash/         photos that were removed, for undo
// FOLDER/.followed      revision up to which the files have followed the journal
// Every function that changes something returns when the change is on disk; whatever ends the process, the project is
// then found as it was after the last change that returned, or after the one under way. Of the journal's last change
// the files may lag behind, which is made good when the project is opened: only then, so that what people have moved
// since stays where they put it. Not safe from several threads at once.
class Project {
 public:
  static bool exists(const std::filesystem::path& folder);
  // Makes an empty project; the folder may exist when it holds no files, or what such a call left when it was killed.
  // Throws Error{kUsage} otherwise.
  static void create(const std::filesystem::path& folder, const std::string& backbone);

  // Opens a project and keeps others from opening it as long as the object lives: throws Error{kUsage} when another
  // process has it. What was added, moved or deleted by hand under photos/ since is taken in as a change, which costs
  // reading the new files.
  explicit Project(const std::filesystem::path& folder);
  ~Project();
  Project(const Project&) = delete;
  Project& operator=(const Project&) = delete;

  const ProjectState& state() const { return state_; }
  const std::filesystem::path& folder() const { return folder_; }
  const std::string& backbone() const { return backbone_; }
  std::filesystem::path photos_folder() const { return folder_ / "photos"; }
  std::filesystem::path model_file() const { return folder_ / "model.safetensors"; }
  // Where the photo is now.
  // Under the folder of the project.
  static std::string name_of(const Photo& photo) { return name_in(photo, photo.class_name); }
  std::filesystem::path path_of(const Photo& photo) const { return path_in(photo, photo.class_name); }

  // Each throws Error{kUsage} when it does not fit the state and Error{kIo} when the disk refuses.
  void add_class(const std::string& name);
  void rename_class(const std::string& from, const std::string& to);
  void remove_class(const std::string& name);  // its photos go to the trash
  // The class is made when there is none. A photo that is in the project already, or is no JPEG, PNG or WebP file, is
  // left out, and the answer says so; the result has an entry for each photo.
  std::vector<AddedPhoto> add_photos(const std::string& class_name, std::span<const NewPhoto> photos);
  void move_photos(std::span<const std::string> ids, const std::string& to);
  void remove_photos(std::span<const std::string> ids);
  // Both return the title of the change.
  std::string undo();
  std::string redo();

 private:
  static std::string name_in(const Photo& photo, const std::string& class_name);
  std::filesystem::path path_in(const Photo& photo, const std::string& class_name) const {
    return folder_ / name_in(photo, class_name);
  }
  std::filesystem::path mark_file() const { return folder_ / ".followed"; }
  void commit(const Change& change);
  void read_again();
  void move_files(const Change& change);
  void move_class(const Operation& operation);
  void catch_up();
  bool files_followed() const;
  void note_files_followed() const;
  void take_in_by_hand();
  void tidy();
  void put_operation(const std::string& id, const std::string& to, Change& change) const;

  std::filesystem::path folder_;
  std::string backbone_;
  std::unique_ptr<HeldFile> lock_;
  ProjectState state_;
  Change last_;                       // of the journal
  std::unique_ptr<Journal> journal_;  // null: it must be read again, its state is not `state_`
};

// "jpg", "png" or "webp" by the first bytes of a file; empty for anything else.
std::string image_extension(std::span<const std::byte> bytes);

}  // namespace annulus
