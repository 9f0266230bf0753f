// Changes: first a line in the journal, then the files are moved.
#include "studio_engine/project/project.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/vision/image/image_type.h"

namespace annulus::studio {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kLongJournal =
    std::uint64_t{4} << 20;  // bytes; a longer one is replaced by a single line when the project is opened
constexpr const char* kSettings = "project.json";
constexpr const char* kJournal = "journal.jsonl";
constexpr const char* kConfirmed = "confirmed.jsonl";

void sync_entries(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

// Renames if the source exists: a second call does nothing.
void rename_once(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (!fs::exists(from, error)) return;
  fs::rename(from, to, error);
  if (error) fail(ErrorKind::kIo, "{}: cannot be moved to {}: {}", from.string(), to.string(), error.message());
}

// Whether it is a temporary file that an AtomicFile made for `target`; empty: for any file.
bool is_temporary_of(const fs::path& file, std::string_view target) {
  const std::string name = file.filename().string();
  return name.starts_with(fmt::format(".{}", target)) && name.ends_with(".tmp");
}

// Removes what a process left that was killed while it wrote a file. The caller holds the lock: nobody else writes
// here.
void remove_temporaries(const fs::path& folder, std::initializer_list<std::string_view> targets) {
  std::vector<fs::path> leftovers;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const bool ours = std::any_of(targets.begin(), targets.end(),
                                  [&](std::string_view target) { return is_temporary_of(entry.path(), target); });
    if (ours && entry.is_regular_file(ignored)) leftovers.push_back(entry.path());
  }
  for (const fs::path& file : leftovers) fs::remove(file, ignored);
}

// Empty, or with nothing but what a process left that was killed while it made a project here.
bool is_as_good_as_empty(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  return !error && std::all_of(begin(entries), end(entries),
                               [](const auto& entry) { return is_temporary_of(entry.path(), kSettings); });
}

std::string plural(std::size_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

}  // namespace

std::string image_extension(std::span<const std::byte> bytes) {
  const auto type = image_type_of(bytes);
  return type ? std::string(extension_of(*type)) : std::string();
}

bool Project::exists(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / kSettings, ignored);
}

void Project::create(const fs::path& folder, const std::string& backbone) {
  std::error_code error;
  if (fs::exists(folder, error) && (!fs::is_directory(folder, error) || !is_as_good_as_empty(folder))) {
    fail(ErrorKind::kUsage,
         "{}: expected a project, a folder of photos, or a folder that is new or empty, found something else",
         folder.string());
  }
  fs::create_directories(folder, error);
  if (error) fail(ErrorKind::kIo, "{}: cannot be made: {}", folder.string(), error.message());
  const nlohmann::ordered_json json = {{"annulus_project", 1}, {"backbone", backbone}};
  write_file(folder / kSettings, json.dump(2) + "\n");
}

Project::Project(const fs::path& folder) : folder_(fs::absolute(folder)) {
  if (!exists(folder_)) {
    fail(ErrorKind::kUsage, "{}: expected a project, found no project.json in it", folder.string());
  }
  lock_ = std::make_unique<HeldFile>(folder_ / ".lock");
  if (!lock_->held()) {
    fail(ErrorKind::kUsage, "{}: expected a project that nobody has open, found it open in another process",
         folder_.string());
  }
  const MappedFile settings(folder_ / kSettings);
  try {
    const auto json = nlohmann::json::parse(as_text(settings.bytes()));
    if (json.at("annulus_project") != 1) {
      fail(ErrorKind::kFormat, "{}: expected a project of version 1, found another", folder.string());
    }
    backbone_ = json.at("backbone");
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::kFormat, "{}: expected a project.json with annulus_project and backbone, found: {}",
         folder.string(), error.what());
  }
  std::error_code error;
  fs::create_directories(photos_folder(), error);
  for (const char* beside : {"trash", "inbox", "unknown"}) {
    if (!error) fs::create_directories(folder_ / beside, error);
  }
  if (error) fail(ErrorKind::kIo, "{}: cannot be written: {}", folder.string(), error.message());
  remove_temporaries(folder_, {kSettings, kJournal, kConfirmed, model_file().filename().native()});
  for (const char* inside : {"trash", "exports"}) remove_temporaries(folder_ / inside, {""});
  confirmed_ = std::make_unique<ConfirmedFindings>(folder_ / kConfirmed);
  read_again();
  catch_up();
  take_in_by_hand();
  tidy();
}

Project::~Project() = default;

// The project stays as it is when this throws.
void Project::read_again() {
  ProjectState state;
  std::string last;
  const auto replay = [&](std::string_view line) {
    state.replay(line);
    last = line;
  };
  const fs::path file = folder_ / kJournal;
  std::unique_ptr<Journal> journal;
  try {
    journal = std::make_unique<Journal>(file, replay);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kIo) throw;
    fail(ErrorKind::kFormat, "{}: {}", file.string(), error.what());
  }
  last_ = ProjectState::change_of(last);
  state_ = std::move(state);
  journal_ = std::move(journal);
}

// Moves the files of the last change, unless that was done: a file that is elsewhere was then moved by hand.
void Project::catch_up() {
  if (files_followed()) return;
  try {
    move_files(last_);
  } catch (const Error&) {
    // People may have changed the folders in between: take_in_by_hand() takes them as they are.
  }
  note_files_followed();
}

bool Project::files_followed() const {
  std::ifstream file(mark_file());
  std::uint64_t revision = 0;
  return file >> revision && revision == state_.revision();
}

// Not synced, which would double the cost of a change: a mark that is lost or torn names another revision, and moving
// the files once more does no harm. Always of the same length, so that it can be overwritten even on a full disk.
void Project::note_files_followed() const {
  std::fstream file(mark_file(), std::ios::in | std::ios::out);
  if (!file) file.open(mark_file(), std::ios::out);
  file << fmt::format("{:020}\n", state_.revision());
}

std::string Project::name_in(const Photo& photo, const std::string& class_name) {
  if (class_name.empty()) return fmt::format("trash/{}.{}", photo.id, photo.extension);
  // A place is a folder beside photos/, named like it without the dot.
  if (is_place(class_name)) return fmt::format("{}/{}.{}", class_name.substr(1), photo.id, photo.extension);
  return fmt::format("photos/{}/{}.{}", class_name, photo.id, photo.extension);
}

void Project::commit(const Change& change) {
  if (!journal_) read_again();
  state_.apply(change);
  try {
    journal_->append(ProjectState::to_line(change));
  } catch (...) {
    journal_.reset();  // if it cannot be read either, the next change reads it first
    read_again();
    throw;
  }
  move_files(change);
  note_files_followed();
}

// When the new folder exists, photos are moved one by one, the first of the class last: once that one has been moved,
// all have, and whatever is in the old folder was put there by others.
void Project::move_class(const Operation& operation) {
  const fs::path from = photos_folder() / operation.from;
  const fs::path to = photos_folder() / operation.to;
  std::error_code ignored;
  if (!fs::exists(to, ignored)) return rename_once(from, to);
  const std::vector<std::string>& photos = state_.class_named(operation.to).photos;
  if (!photos.empty() && !fs::exists(path_in(state_.photo(photos.front()), operation.from), ignored)) return;
  for (auto id = photos.rbegin(); id != photos.rend(); ++id) {
    const Photo& photo = state_.photo(*id);
    rename_once(path_in(photo, operation.from), path_in(photo, operation.to));
  }
  fs::remove(from, ignored);  // fails, as it should, when there is something else in it
}

void Project::move_files(const Change& change) {
  std::set<fs::path> touched;
  std::error_code ignored;
  for (const Operation& operation : change.operations) {
    const fs::path from = photos_folder() / operation.from;
    const fs::path to = photos_folder() / operation.to;
    switch (operation.kind) {
      case Operation::Kind::kAddClass:
        fs::create_directory(to, ignored);
        break;
      case Operation::Kind::kRemoveClass:
        fs::remove(from, ignored);  // fails, as it should, when there are files of others in it
        touched.erase(from);
        break;
      case Operation::Kind::kRenameClass:
        move_class(operation);
        touched.insert(to);
        break;
      case Operation::Kind::kPut: {
        const Photo& photo = state_.photo(operation.photo);
        const fs::path target = path_in(photo, operation.to);
        rename_once(path_in(photo, operation.from), target);
        touched.insert(target.parent_path());
        touched.insert(path_in(photo, operation.from).parent_path());
        continue;
      }
    }
    touched.insert(photos_folder());
  }
  for (const fs::path& folder : touched) sync_entries(folder);
}

void Project::put_operation(const std::string& id, const std::string& to, Change& change) const {
  const Photo& photo = state_.photo(id);
  if (photo.class_name == to) return;
  change.operations.push_back({Operation::Kind::kPut, id, photo.class_name, to});
}

// Whether photos can go there only after the class has been made. Throws when no class can have that name.
bool Project::is_new_class(const std::string& name) const {
  if (is_place(name)) return false;
  check_class_name(name);
  return !state_.classes().contains(name);
}

// Of classes whose last photos leave by the change, other than `kept`.
void Project::remove_emptied(const std::string& kept, Change& change) const {
  std::map<std::string, std::size_t> leaving;
  for (const Operation& operation : change.operations) {
    if (operation.kind == Operation::Kind::kPut && !operation.from.empty()) ++leaving[operation.from];
  }
  for (const auto& [name, photos] : leaving) {
    if (name == kept || is_place(name) || photos < state_.class_named(name).photos.size()) continue;
    change.operations.push_back({Operation::Kind::kRemoveClass, {}, name, {}});
  }
}

void Project::add_class(const std::string& name) {
  commit({Change::Kind::kDo, "Add class " + name, {{Operation::Kind::kAddClass, {}, {}, name}}, {}});
}

void Project::rename_class(const std::string& from, const std::string& to) {
  commit({Change::Kind::kDo,
          fmt::format("Rename class {} to {}", from, to),
          {{Operation::Kind::kRenameClass, {}, from, to}},
          {}});
}

void Project::remove_class(const std::string& name) {
  Change change{Change::Kind::kDo, "Remove class " + name, {}, {}};
  const auto& photos = state_.class_named(name).photos;
  for (auto id = photos.rbegin(); id != photos.rend(); ++id) put_operation(*id, {}, change);
  change.operations.push_back({Operation::Kind::kRemoveClass, {}, name, {}});
  commit(change);
}

std::vector<AddedPhoto> Project::add_photos(const std::string& class_name, std::span<const NewPhoto> photos) {
  Change change;
  const bool makes_class = is_new_class(class_name);
  std::vector<AddedPhoto> result;
  std::set<std::string> given;
  for (const NewPhoto& photo : photos) {
    const std::string extension = image_extension(photo.bytes);
    if (extension.empty()) {
      result.push_back(
          {AddedPhoto::Outcome::kRejected, {}, fmt::format("expected a {} file, found another", image_format_names())});
      continue;
    }
    const std::string sha256 = sha256_hex(photo.bytes);
    const std::string id = sha256.substr(0, 16);
    const auto known = state_.photos().find(id);
    if (!given.insert(id).second || (known != state_.photos().end() && !known->second.class_name.empty())) {
      result.push_back({AddedPhoto::Outcome::kKnown, id,
                        title_of_place(known == state_.photos().end() ? class_name : known->second.class_name)});
      continue;
    }
    if (known == state_.photos().end()) change.photos.push_back({id, sha256, extension, photo.name, {}});
    const Photo stored = known == state_.photos().end() ? change.photos.back() : known->second;
    AtomicFile file(path_in(stored, {}));
    file.write(photo.bytes);
    file.commit();
    change.operations.push_back({Operation::Kind::kPut, id, {}, class_name});
    result.push_back({AddedPhoto::Outcome::kAdded, id, {}});
  }
  if (change.operations.empty()) return result;
  if (makes_class) {
    change.operations.insert(change.operations.begin(), {Operation::Kind::kAddClass, {}, {}, class_name});
  }
  const auto added = std::count_if(result.begin(), result.end(), [](const AddedPhoto& photo) {
    return photo.outcome == AddedPhoto::Outcome::kAdded;
  });
  change.title =
      fmt::format("Add {} to {}", plural(static_cast<std::size_t>(added), "photo"), title_of_place(class_name));
  commit(change);
  return result;
}

void Project::move_photos(std::span<const std::string> ids, const std::string& to) {
  Change change{
      Change::Kind::kDo, fmt::format("Move {} to {}", plural(ids.size(), "photo"), title_of_place(to)), {}, {}};
  if (is_new_class(to)) change.operations.push_back({Operation::Kind::kAddClass, {}, {}, to});
  const std::set<std::string> unique(ids.begin(), ids.end());
  for (const std::string& id : unique) {
    if (state_.photo(id).class_name.empty()) fail(ErrorKind::kUsage, "the photo {} was removed meanwhile", id);
    put_operation(id, to, change);
  }
  remove_emptied(to, change);
  if (!change.operations.empty()) commit(change);
}

void Project::remove_photos(std::span<const std::string> ids) {
  Change change{Change::Kind::kDo, "Remove " + plural(ids.size(), "photo"), {}, {}};
  const std::set<std::string> unique(ids.begin(), ids.end());
  for (const std::string& id : unique) put_operation(id, {}, change);
  remove_emptied({}, change);
  if (!change.operations.empty()) commit(change);
}

std::string Project::undo() {
  const Change change = state_.next_undo();
  for (const Operation& operation : change.operations) {
    if (operation.kind != Operation::Kind::kPut || !operation.from.empty()) continue;
    if (!fs::exists(path_in(state_.photo(operation.photo), {}))) {
      fail(ErrorKind::kUsage, "cannot be undone: the file of the photo {} is gone", operation.photo);
    }
  }
  commit(change);
  return change.title;
}

std::string Project::redo() {
  const Change change = state_.next_redo();
  commit(change);
  return change.title;
}

void Project::tidy() {
  if (journal_->bytes() < kLongJournal) return;
  std::vector<std::string> unused;
  std::vector<fs::path> files;
  for (const std::string& id : state_.forgotten()) {
    unused.push_back(id);
    files.push_back(path_in(state_.photo(id), {}));
  }
  state_.forget(unused);
  const std::string line = state_.to_line();
  journal_->replace({&line, 1});
  std::error_code ignored;
  for (const fs::path& file : files) fs::remove(file, ignored);
}

}  // namespace annulus::studio
