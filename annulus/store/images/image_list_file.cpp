// k-shot lists: one `class file` per line, or one file name per line as in MSN's lists.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "annulus/base/error.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/store/images/image_rows.h"

namespace annulus {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// Finds the images of a list. Names without a folder are looked up in an index of the whole tree, which is built when
// the first one cannot be found by its class.
class Finder {
 public:
  explicit Finder(const fs::path& root) : roots_{root, root / "train"} {}

  // A line of two words; empty when there is no such file.
  fs::path find(const std::string& class_name, const std::string& file) const {
    for (const fs::path& root : roots_) {
      for (const fs::path& candidate : {root / class_name / file, root / file}) {
        if (is_file(candidate)) return candidate;
      }
    }
    return {};
  }

  // A line of one name: its path and class.
  std::optional<ImageRow> find(const std::string& name) {
    if (name.find('/') != std::string::npos) {
      for (const fs::path& root : roots_) {
        if (is_file(root / name)) return row(root / name, fs::path(name).parent_path().filename().string());
      }
      return std::nullopt;
    }
    const std::string prefix = name.substr(0, name.find('_'));
    if (const fs::path path = find(prefix, name); !path.empty()) return row(path, prefix);
    return find_in_tree(name);
  }

 private:
  static ImageRow row(const fs::path& path, const std::string& class_name) {
    return {path.string(), class_name, std::nullopt};
  }

  std::optional<ImageRow> find_in_tree(const std::string& name) {
    if (!indexed_) {
      const ImageList all = list_images(roots_.front());
      for (const std::string& path : all.paths) by_name_.emplace(fs::path(path).filename().string(), path);
      indexed_ = true;
    }
    const auto [first, last] = by_name_.equal_range(name);
    if (first == last) return std::nullopt;
    if (std::next(first) != last) {
      fail(ErrorKind::kInput, "the name {} is ambiguous: {} and {} both have it", name, first->second,
           std::next(first)->second);
    }
    const fs::path path = first->second;
    return row(path, path.parent_path().filename().string());
  }

  std::array<fs::path, 2> roots_;
  std::multimap<std::string, std::string> by_name_;
  bool indexed_ = false;
};

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

ImageRow row_from(std::string_view line, Finder& finder, const std::string& where) {
  // Class and file may contain spaces: the first division that names an image is used.
  constexpr std::string_view kSpaces = " \t";
  for (std::size_t cut = line.find_first_of(kSpaces); cut != std::string_view::npos;
       cut = line.find_first_of(kSpaces, line.find_first_not_of(kSpaces, cut))) {
    const std::string class_name(line.substr(0, cut));
    const fs::path path = finder.find(class_name, std::string(trimmed(line.substr(cut))));
    if (!path.empty()) return {path.string(), class_name, std::nullopt};
  }
  // A name alone, which may contain spaces.
  if (const auto row = finder.find(std::string(line))) return *row;
  fail(ErrorKind::kInput, "{}: expected `class file` or the name of an image, found \"{}\", which is neither", where,
       line);
}

}  // namespace

ImageRows read_list_file(const fs::path& list_file, const fs::path& root) {
  const MappedFile file(list_file);
  std::string_view text = as_text(file.bytes());
  if (!is_utf8(text)) fail(ErrorKind::kFormat, "{}: expected a list of images as UTF-8 text", list_file.string());
  Finder finder(root);
  ImageRows rows;
  std::set<std::string> seen;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const std::string where = fmt::format("{}: line {}", list_file.string(), number);
    ImageRow row = row_from(line, finder, where);
    if (seen.insert(row.path).second) {
      rows.rows.push_back(std::move(row));
    } else {
      rows.warnings.push_back(fmt::format("{}: {} is listed twice and taken once", where, row.path));
    }
  }
  return rows;
}

}  // namespace annulus
