// Applies changes to classes and photos, and undoes them.
#include "studio_engine/project/project_state.h"

#include <algorithm>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/store/formats/json_text.h"

namespace annulus::studio {

std::vector<Operation> inverse(const std::vector<Operation>& operations) {
  std::vector<Operation> result;
  result.reserve(operations.size());
  for (auto operation = operations.rbegin(); operation != operations.rend(); ++operation) {
    Operation back = *operation;
    std::swap(back.from, back.to);
    if (back.kind == Operation::Kind::kAddClass) {
      back.kind = Operation::Kind::kRemoveClass;
    } else if (back.kind == Operation::Kind::kRemoveClass) {
      back.kind = Operation::Kind::kAddClass;
    }
    result.push_back(std::move(back));
  }
  return result;
}

void check_class_name(std::string_view name) {
  constexpr std::size_t kLongest = 100;
  if (name.empty()) fail(ErrorKind::kUsage, "expected a name, found none: type one");
  if (name.size() > kLongest) {
    fail(ErrorKind::kUsage, "expected a name of at most {} bytes, found {}: shorten it", kLongest, name.size());
  }
  if (!is_utf8(name)) fail(ErrorKind::kUsage, "expected a name in UTF-8, found other bytes: type it anew");
  for (const char c : {'/', '\\'}) {
    if (name.find(c) == std::string_view::npos) continue;
    fail(ErrorKind::kUsage, "a name becomes that of a folder and cannot contain \"{}\": write \"{}\" without it", c,
         name);
  }
  const bool control = std::any_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
  if (control) fail(ErrorKind::kUsage, "expected a name without tabs and line breaks, found one: take it out");
  if (name.front() == '.') fail(ErrorKind::kUsage, "a name cannot begin with a dot: write \"{}\" without it", name);
  if (name.front() == ' ' || name.back() == ' ') {
    fail(ErrorKind::kUsage, "expected a name without spaces around it, found \"{}\": take them out", name);
  }
}

bool is_place(std::string_view name) { return name == kInbox || name == kUnknown; }

std::string title_of_place(const std::string& name) {
  if (name == kInbox) return "the Inbox";
  return name == kUnknown ? "Unknown" : name;
}

const Photo& ProjectState::photo(const std::string& id) const {
  const auto found = photos_.find(id);
  if (found == photos_.end()) fail(ErrorKind::kUsage, "expected a photo of the project, found the id \"{}\"", id);
  return found->second;
}

const ProjectClass& ProjectState::class_named(const std::string& name) const {
  const auto found = classes_.find(name);
  if (found == classes_.end()) fail(ErrorKind::kUsage, "expected a class of the project, found \"{}\"", name);
  return found->second;
}

void ProjectState::check_operation(const Operation& operation) const {
  const auto absent = [&](const std::string& name) {
    check_class_name(name);
    if (classes_.contains(name)) {
      fail(ErrorKind::kUsage, "there is a class named \"{}\" already: choose another name, or move photos there", name);
    }
  };
  switch (operation.kind) {
    case Operation::Kind::kAddClass:
      absent(operation.to);
      break;
    case Operation::Kind::kRemoveClass:
      if (!class_named(operation.from).photos.empty()) {
        fail(ErrorKind::kUsage, "the class \"{}\" still has photos", operation.from);
      }
      break;
    case Operation::Kind::kRenameClass:
      class_named(operation.from);
      absent(operation.to);
      break;
    case Operation::Kind::kPut:
      if (photo(operation.photo).class_name != operation.from || operation.from == operation.to) {
        fail(ErrorKind::kUsage, "the photo {} is no longer where it was", operation.photo);
      }
      if (!operation.to.empty() && !is_place(operation.to)) class_named(operation.to);
      break;
  }
}

void ProjectState::put(const Operation& operation) {
  photos_.at(operation.photo).class_name = operation.to;
  if (operation.from == kInbox && !operation.to.empty()) ++sorted_;
  if (operation.to == kInbox && !operation.from.empty() && sorted_ > 0) --sorted_;
  if (is_place(operation.from)) {
    place(operation.from).erase(operation.photo);
  } else if (!operation.from.empty()) {
    --used_;
    // From the end, where it usually is: whole classes are emptied in that order.
    auto& left = classes_.at(operation.from).photos;
    left.erase(std::next(std::find(left.rbegin(), left.rend(), operation.photo)).base());
  }
  if (is_place(operation.to)) {
    place(operation.to).insert(operation.photo);
  } else if (!operation.to.empty()) {
    ++used_;
    classes_.at(operation.to).photos.push_back(operation.photo);
  }
}

void ProjectState::run(const Operation& operation) {
  check_operation(operation);
  switch (operation.kind) {
    case Operation::Kind::kAddClass:
      classes_[operation.to].made = revision_ + 1;
      break;
    case Operation::Kind::kRemoveClass:
      classes_.erase(operation.from);
      break;
    case Operation::Kind::kRenameClass: {
      auto node = classes_.extract(operation.from);
      for (const std::string& id : node.mapped().photos) photos_.at(id).class_name = operation.to;
      node.key() = operation.to;
      classes_.insert(std::move(node));
      break;
    }
    case Operation::Kind::kPut:
      put(operation);
      break;
  }
}

void ProjectState::apply(const Change& change) {
  if (change.kind == Change::Kind::kUndo && undo_.empty()) fail(ErrorKind::kUsage, "there is nothing to undo");
  if (change.kind == Change::Kind::kRedo && redo_.empty()) fail(ErrorKind::kUsage, "there is nothing to redo");
  std::vector<std::string> learnt;
  std::size_t done = 0;
  try {
    for (const Photo& photo : change.photos) {
      if (photos_.emplace(photo.id, photo).second) {
        photos_.at(photo.id).class_name.clear();
        learnt.push_back(photo.id);
      }
    }
    for (const Operation& operation : change.operations) {
      run(operation);
      ++done;
    }
  } catch (const Error&) {
    const std::vector<Operation> ran(change.operations.begin(),
                                     change.operations.begin() + static_cast<std::ptrdiff_t>(done));
    for (const Operation& operation : inverse(ran)) run(operation);
    for (const std::string& id : learnt) photos_.erase(id);
    throw;
  }
  ++revision_;
  Change kept{Change::Kind::kDo, change.title, change.operations, {}};
  if (change.kind == Change::Kind::kUndo) {
    redo_.push_back(std::move(undo_.back()));
    undo_.pop_back();
    return;
  }
  if (change.kind == Change::Kind::kRedo) {
    redo_.pop_back();
  } else {
    redo_.clear();
  }
  undo_.push_back(std::move(kept));
  if (undo_.size() > kMostUndo) undo_.erase(undo_.begin());
}

Change ProjectState::next_undo() const {
  if (undo_.empty()) fail(ErrorKind::kUsage, "there is nothing to undo");
  return {Change::Kind::kUndo, undo_.back().title, inverse(undo_.back().operations), {}};
}

Change ProjectState::next_redo() const {
  if (redo_.empty()) fail(ErrorKind::kUsage, "there is nothing to redo");
  return {Change::Kind::kRedo, redo_.back().title, redo_.back().operations, {}};
}

std::string ProjectState::content_checksum(const std::function<bool(const std::string& id)>& used) const {
  Sha256 sum;
  const auto add = [&](std::string_view text) {
    sum.update(std::as_bytes(std::span(text)));
    sum.update(std::as_bytes(std::span("\n", 1)));
  };
  for (const auto& [name, entry] : classes_) {
    std::set<std::string> sorted(entry.photos.begin(), entry.photos.end());
    if (used) std::erase_if(sorted, [&](const std::string& id) { return !used(id); });
    if (sorted.empty()) continue;
    add("class " + name);
    for (const std::string& id : sorted) add(photos_.at(id).sha256);
  }
  return sum.finish_hex();
}

std::string ProjectState::inbox_checksum(const std::function<bool(const std::string& id)>& used) const {
  Sha256 sum;
  for (const std::string& id : inbox_) {
    if (!used || used(id)) sum.update(std::as_bytes(std::span(id)));
  }
  return sum.finish_hex();
}

std::vector<std::string> ProjectState::forgotten() const {
  std::set<std::string> reachable;
  for (const auto* changes : {&undo_, &redo_}) {
    for (const Change& change : *changes) {
      for (const Operation& operation : change.operations) reachable.insert(operation.photo);
    }
  }
  std::vector<std::string> ids;
  for (const auto& [id, photo] : photos_) {
    if (photo.class_name.empty() && !reachable.contains(id)) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

void ProjectState::forget_undo() {
  undo_.clear();
  redo_.clear();
}

void ProjectState::forget(const std::vector<std::string>& ids) {
  for (const std::string& id : ids) photos_.erase(id);
}

}  // namespace annulus::studio
