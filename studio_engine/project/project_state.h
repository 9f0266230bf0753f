// The state of a studio project as the sum of its changes: classes, photos, and what can be undone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace annulus::studio {

// Places of photos that are in no class. No class can have such a name.
inline constexpr const char* kInbox = ".inbox";      // to be sorted into classes
inline constexpr const char* kUnknown = ".unknown";  // looked at, and of none of the classes
bool is_place(std::string_view name);
// "the Inbox", "Unknown", or the name of the class.
std::string title_of_place(const std::string& name);

struct Photo {
  std::string id;          // first 16 digits of sha256
  std::string sha256;      // of the file
  std::string extension;   // "jpg", "png", ...: extension_of its type
  std::string name;        // of the file it was added from, to show
  std::string class_name;  // or a place; empty: in the trash
};

struct ProjectClass {
  std::vector<std::string> photos;  // ids, in the order in which they were added
  std::uint64_t made = 0;           // revision that made the class
};

// The smallest step of a change; each has an inverse.
struct Operation {
  enum class Kind : std::uint8_t { kAddClass, kRemoveClass, kRenameClass, kPut };
  Kind kind = Kind::kAddClass;
  std::string photo;  // kPut: its id
  std::string from;   // kPut: class or place it leaves; kRenameClass, kRemoveClass: its name. Empty: the trash
  std::string to;     // kPut: class or place it comes to; kRenameClass, kAddClass: its name. Empty: the trash
};

// One action of a person, undone as a whole.
struct Change {
  enum class Kind : std::uint8_t { kDo, kUndo, kRedo };
  Kind kind = Kind::kDo;
  std::string title;  // to show, e.g. "Remove class owl"
  std::vector<Operation> operations;
  std::vector<Photo> photos;  // that are new to the project
};

// The operations that undo the given ones.
std::vector<Operation> inverse(const std::vector<Operation>& operations);

// Throws Error{kUsage} unless the name can be that of a folder: UTF-8, 1 to 100 bytes, no slash, backslash or control
// character, no dot or space at the beginning, no space at the end.
void check_class_name(std::string_view name);

// A value: no function uses a file.
class ProjectState {
 public:
  static constexpr std::size_t kMostUndo = 100;  // changes that can be undone

  std::uint64_t revision() const { return revision_; }
  const std::map<std::string, ProjectClass>& classes() const { return classes_; }
  // Also those in the trash.
  const std::unordered_map<std::string, Photo>& photos() const { return photos_; }
  std::size_t photo_count() const { return used_; }  // of classes
  // Ids of the photos in a place, in order.
  const std::set<std::string>& inbox() const { return inbox_; }
  const std::set<std::string>& unknown() const { return unknown_; }
  std::size_t sorted_count() const { return sorted_; }  // photos that left the Inbox for a class or for Unknown
  const Photo& photo(const std::string& id) const;      // throws Error{kUsage} when there is none
  const ProjectClass& class_named(const std::string& name) const;

  // All or nothing: throws Error{kUsage} when the change does not fit the state.
  void apply(const Change& change);
  // The change that undoes or redoes the latest; throws Error{kUsage} when there is none.
  Change next_undo() const;
  Change next_redo() const;
  bool can_undo() const { return !undo_.empty(); }
  bool can_redo() const { return !redo_.empty(); }

  // SHA-256 of the classes and their photos, whatever order they came in; it names what a model is trained from. With
  // `used`, only of the photos for which it returns true. Classes without photos do not count.
  std::string content_checksum(const std::function<bool(const std::string& id)>& used = {}) const;
  // The same of the photos in the Inbox, of which groups are made.
  std::string inbox_checksum(const std::function<bool(const std::string& id)>& used = {}) const;

  // Lines of a journal: changes, or a whole state with which a journal can start.
  static std::string to_line(const Change& change);
  std::string to_line() const;
  // The change in a line; an empty one for a state or an empty line.
  static Change change_of(std::string_view line);
  // Applies a change, or becomes the state of the line. Throws Error{kFormat} for other lines.
  void replay(std::string_view line);

  // Ids of photos in the trash that no undo or redo can bring back.
  std::vector<std::string> forgotten() const;
  void forget(const std::vector<std::string>& ids);
  void forget_undo();

 private:
  void run(const Operation& operation);
  void put(const Operation& operation);
  void check_operation(const Operation& operation) const;
  std::set<std::string>& place(const std::string& name) { return name == kInbox ? inbox_ : unknown_; }

  std::uint64_t revision_ = 0;
  std::size_t used_ = 0;
  std::map<std::string, ProjectClass> classes_;
  std::unordered_map<std::string, Photo> photos_;
  std::set<std::string> inbox_;
  std::set<std::string> unknown_;
  std::size_t sorted_ = 0;
  std::vector<Change> undo_;
  std::vector<Change> redo_;
};

}  // namespace annulus::studio
