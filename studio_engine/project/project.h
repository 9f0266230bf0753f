// A studio project on disk: an ordinary folder with one folder of photos per class, and a journal of every change.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "annulus/store/files/byte_lock.h"
#include "annulus/store/files/journal.h"
#include "studio_engine/project/confirmed_findings.h"
#include "studio_engine/project/project_state.h"

namespace annulus::studio {

struct NewPhoto {
  std::span<const std::byte> bytes;
  std::string name;  // of the file, to show; never used as a path
};

struct AddedPhoto {
  enum class Outcome { kAdded, kKnown, kRejected };
  Outcome outcome = Outcome::kAdded;
  std::string id;      // empty when rejected
  std::string reason;  // known: the class that has it; rejected: why
};

// FOLDER/project.json   what the project is: its backbone
// FOLDER/journal.jsonl  every change, see Journal
// FOLDER/photos/CLASS/  the photos, named by the first 16 digits of their SHA-256; `annulus fit` takes this folder
// FOLDER/inbox/         photos to be sorted
// FOLDER/unknown/       photos that were looked at and are of none of the classes
// FOLDER/trash/         photos that were removed, for undo
// FOLDER/confirmed.jsonl findings that a person called right, see ConfirmedFindings
// FOLDER/.followed      last revision of the journal whose files have been moved
//
// Every function that changes the project returns when the change is on disk. Whatever ends the process, the next one
// finds the project as it was after the last change that returned, or after the one under way. The files of the last
// change may not have been moved by then; opening the project moves them. Nothing else moves files, so that what people
// move by hand stays where they put it. Not thread-safe: see SharedProject.
class Project {
 public:
  static bool exists(const std::filesystem::path& folder);
  // Makes an empty project. The folder may exist when it is empty, or holds what such a call left when it was killed.
  // Throws Error{kUsage} otherwise.
  static void create(const std::filesystem::path& folder, const std::string& backbone);

  // Opens a project and keeps other processes from opening it as long as the object lives; throws Error{kUsage} when
  // another one has it open. Files that were added, moved or deleted by hand under photos/ since then become a change,
  // which costs reading the new files.
  explicit Project(const std::filesystem::path& folder);
  ~Project();
  Project(const Project&) = delete;
  Project& operator=(const Project&) = delete;

  const ProjectState& state() const { return state_; }
  const std::filesystem::path& folder() const { return folder_; }
  const std::string& backbone() const { return backbone_; }
  std::filesystem::path photos_folder() const { return folder_ / "photos"; }
  std::filesystem::path model_file() const { return folder_ / "model.safetensors"; }
  // Where the photo is now: relative to the project's folder, and in full.
  static std::string name_of(const Photo& photo) { return name_in(photo, photo.class_name); }
  std::filesystem::path path_of(const Photo& photo) const { return path_in(photo, photo.class_name); }

  // Each throws Error{kUsage} when it does not fit the state, and Error{kIo} when the disk cannot be written.
  void add_class(const std::string& name);
  void rename_class(const std::string& from, const std::string& to);
  void remove_class(const std::string& name);  // its photos go to the trash
  // Both take a class or a place, and make the class when there is none and a photo comes in. A photo that the project
  // already has, or that is no image file, is left out. The result has an entry for each photo.
  std::vector<AddedPhoto> add_photos(const std::string& class_name, std::span<const NewPhoto> photos);
  // A class whose last photo leaves by one of these is removed with it.
  void move_photos(std::span<const std::string> ids, const std::string& to);
  void remove_photos(std::span<const std::string> ids);
  // Both return the title of the change.
  std::string undo();
  std::string redo();

  const ConfirmedFindings& confirmed() const { return *confirmed_; }
  // A finding that a person calls right, or no longer does. Not a change: undo does not touch it.
  void confirm(const ConfirmedFinding& finding, bool right) { confirmed_->set(finding, right); }

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
  bool is_new_class(const std::string& name) const;
  void put_operation(const std::string& id, const std::string& to, Change& change) const;
  void remove_emptied(const std::string& kept, Change& change) const;

  std::filesystem::path folder_;
  std::string backbone_;
  std::unique_ptr<HeldFile> lock_;
  ProjectState state_;
  Change last_;  // in the journal
  std::unique_ptr<ConfirmedFindings> confirmed_;
  std::unique_ptr<Journal> journal_;  // null: it differs from state_ and must be read again
};

// "jpg", "png", ... by the first bytes of a file; empty for anything else.
std::string image_extension(std::span<const std::byte> bytes);

}  // namespace annulus::studio
