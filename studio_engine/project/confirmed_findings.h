// Findings that a person has looked at and called right: they are not shown again.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>

namespace annulus::studio {

struct ConfirmedFinding {
  std::string kind;         // as to_string(FindingKind) writes it
  std::string photo;        // its id
  std::string class_name;   // in which the photo is right; in another class it may be wrong again
  std::string other_photo;  // the other of two copies; empty: the finding is about one photo

  auto key() const { return std::tie(kind, photo, class_name, other_photo); }
  bool operator<(const ConfirmedFinding& other) const { return key() < other.key(); }
};

// A file with one JSON array per finding. Not thread-safe.
class ConfirmedFindings {
 public:
  // Reads the file, which may be missing. Throws Error{kFormat} when it holds anything else.
  explicit ConfirmedFindings(std::filesystem::path file);

  bool contains(const ConfirmedFinding& finding) const { return findings_.contains(finding); }
  std::size_t size() const { return findings_.size(); }
  // Adds the finding or takes it back. On disk when it returns; nothing has changed when it throws.
  void set(const ConfirmedFinding& finding, bool right);

 private:
  std::filesystem::path file_;
  std::set<ConfirmedFinding> findings_;
};

}  // namespace annulus::studio
