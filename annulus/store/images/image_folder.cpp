// Walks folders of images and detects their layout.
#include "annulus/store/images/image_folder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/media_fragment.h"
#include "annulus/store/features/label_column.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/store/images/box_file.h"
#include "annulus/store/images/image_rows.h"
#include "annulus/store/images/video_frames.h"
#include "annulus/vision/image/image_type.h"
#include "annulus/vision/video/video_type.h"

namespace annulus {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> kSplitNames = {"train",      "training", "val", "valid",
                                                         "validation", "test",     "dev"};
constexpr std::size_t kDeepestFolder = 64;

std::string lower_extension(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

bool is_hidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name == "__MACOSX";
}

// Counts skipped files and reports them in a few sentences.
class PassedOver {
 public:
  explicit PassedOver(bool takes_videos) : takes_videos_(takes_videos) {}

  bool takes(const fs::path& path) const {
    return has_image_extension(path) || (takes_videos_ && is_video_extension(path.extension().string()));
  }
  void hidden() { ++hidden_; }
  void other(const fs::path& path) { ++others_[is_utf8(lower_extension(path)) ? lower_extension(path) : "?"]; }
  void sentence(std::string text) { sentences_.push_back(std::move(text)); }

  void append_to(std::vector<std::string>& warnings) const {
    warnings.insert(warnings.end(), sentences_.begin(), sentences_.end());
    std::size_t total = 0;
    std::vector<std::string> kinds;
    for (const auto& [extension, count] : others_) {
      total += count;
      if (kinds.size() < 5) kinds.push_back(fmt::format("{} {}", count, extension.empty() ? "without one" : extension));
    }
    if (total != 0) {
      warnings.push_back(fmt::format("passed over {} files whose extension is not of a {} image: {}", total,
                                     image_format_names(), fmt::join(kinds, ", ")));
    }
    if (hidden_ != 0) warnings.push_back(fmt::format("passed over {} hidden files or folders", hidden_));
  }

 private:
  bool takes_videos_;
  std::size_t hidden_ = 0;
  std::map<std::string, std::size_t> others_;
  std::vector<std::string> sentences_;
};

struct Entries {
  std::vector<fs::path> folders;
  std::vector<fs::path> images;
};

// The visible content of one folder, sorted; links are followed.
Entries entries_of(const fs::path& folder, PassedOver& passed_over) {
  Entries entries;
  std::error_code error;
  fs::directory_iterator iterator(folder, error);
  for (; !error && iterator != fs::directory_iterator(); iterator.increment(error)) {
    const fs::path& path = iterator->path();
    std::error_code status_error;
    const fs::file_status status = fs::status(path, status_error);
    if (is_hidden(path)) {
      passed_over.hidden();
    } else if (!is_utf8(path.filename().string())) {
      passed_over.sentence(fmt::format("passed over {}: its name is not UTF-8 text", printable(path)));
    } else if (fs::is_directory(status)) {
      entries.folders.push_back(path);
    } else if (!passed_over.takes(path)) {
      passed_over.other(path);
    } else if (fs::is_regular_file(status)) {
      entries.images.push_back(path);
    } else {
      passed_over.sentence(fmt::format("passed over {}: it cannot be read or is no regular file", path.string()));
    }
  }
  if (error) passed_over.sentence(fmt::format("passed over {}: {}", printable(folder), error.message()));
  std::sort(entries.folders.begin(), entries.folders.end(),
            [](const auto& a, const auto& b) { return a.native() < b.native(); });
  std::sort(entries.images.begin(), entries.images.end(),
            [](const auto& a, const auto& b) { return a.native() < b.native(); });
  return entries;
}

// Every image below `folder`; each folder is visited once, however many links lead to it.
std::vector<std::string> images_below(const fs::path& folder, PassedOver& passed_over) {
  std::vector<std::string> found;
  std::set<std::string> visited;
  std::vector<std::pair<fs::path, std::size_t>> waiting{{folder, 0}};
  while (!waiting.empty()) {
    const auto [current, depth] = std::move(waiting.back());
    waiting.pop_back();
    std::error_code error;
    const fs::path real = fs::canonical(current, error);
    if (error || depth > kDeepestFolder) {
      passed_over.sentence(fmt::format("passed over {}: {}", current.string(),
                                       error ? error.message() : "folders are nested too deeply"));
      continue;
    }
    if (!visited.insert(real.native()).second) continue;
    const Entries entries = entries_of(current, passed_over);
    for (const fs::path& image : entries.images) found.push_back(image.string());
    for (const fs::path& child : entries.folders) waiting.emplace_back(child, depth + 1);
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The folders directly in `folder` that hold images, in order.
std::vector<std::string> inner_folders(const fs::path& folder, const std::vector<std::string>& images) {
  std::vector<std::string> names;
  for (const std::string& image : images) {
    const fs::path inside = fs::path(image).lexically_relative(folder);
    const std::string first = inside.begin()->string();
    if (std::next(inside.begin()) != inside.end() && (names.empty() || names.back() != first)) names.push_back(first);
  }
  return names;
}

// Several folders of images in one are taken as one class, which may not be what was meant.
void tell_of_merged(const fs::path& folder, const std::vector<std::string>& images, PassedOver& passed_over) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> inner = inner_folders(folder, images);
  if (inner.size() < 2) return;
  const std::size_t count = inner.size();
  if (count > kNamed) inner.resize(kNamed);
  passed_over.sentence(
      fmt::format("took the {} folders inside {} as one class ({}{}): for a class each, move them beside the others",
                  count, folder.string(), fmt::join(inner, ", "), count > kNamed ? ", ..." : ""));
}

void add_classes(const std::vector<fs::path>& folders, std::optional<bool> is_train, const ImageListOptions& options,
                 PassedOver& passed_over, ImageRows& out) {
  for (const fs::path& folder : folders) {
    const auto images = images_below(folder, passed_over);
    if (images.empty()) {
      const std::string sentence = fmt::format("the class folder {} holds no {} images: add some or remove it",
                                               folder.string(), image_format_names());
      if (options.for_training && is_train.value_or(true)) fail(ErrorKind::kInput, "{}", sentence);
      passed_over.sentence(sentence);
      out.empty_classes.push_back(printable(folder.filename()));
    }
    if (!options.nested) tell_of_merged(folder, images, passed_over);
    const fs::path above = folder.parent_path();
    for (const std::string& image : images) {
      const fs::path inner = options.nested ? fs::path(image).parent_path().lexically_relative(above) : fs::path();
      out.rows.push_back({image, options.nested ? inner.generic_string() : folder.filename().string(), is_train});
    }
  }
}

void warn_of_stray(const fs::path& folder, const Entries& entries, PassedOver& passed_over) {
  if (entries.images.empty()) return;
  passed_over.sentence(fmt::format("passed over {} images that lie in {} itself, outside of its class folders",
                                   entries.images.size(), folder.string()));
}

bool is_split_layout(const Entries& entries) {
  bool has_train = false;
  for (const fs::path& folder : entries.folders) {
    const std::string name = folder.filename().string();
    if (std::find(kSplitNames.begin(), kSplitNames.end(), name) == kSplitNames.end()) return false;
    has_train = has_train || name.starts_with("train");
  }
  return has_train;
}

void read_split(const fs::path& folder, bool is_train, const ImageListOptions& options, PassedOver& passed_over,
                ImageRows& out) {
  if (const fs::path metadata = find_metadata(folder); !metadata.empty()) {
    ImageRows rows = read_metadata(metadata, std::span(&folder, 1));
    for (ImageRow& row : rows.rows) {
      row.is_train = is_train;
      out.rows.push_back(std::move(row));
    }
    out.warnings.insert(out.warnings.end(), rows.warnings.begin(), rows.warnings.end());
    return;
  }
  const Entries entries = entries_of(folder, passed_over);
  warn_of_stray(folder, entries, passed_over);
  add_classes(entries.folders, is_train, options, passed_over, out);
}

// train/ is the training set; test/, or else val/, is the test set. A val/ beside a test/ is left for the user's
// tuning.
void read_splits(const Entries& entries, const ImageListOptions& options, PassedOver& passed_over, ImageRows& out) {
  const bool has_test = std::any_of(entries.folders.begin(), entries.folders.end(),
                                    [](const fs::path& folder) { return folder.filename() == "test"; });
  for (const fs::path& folder : entries.folders) {
    const std::string name = folder.filename().string();
    const bool is_train = name.starts_with("train");
    if (!is_train && has_test && name != "test") {
      passed_over.sentence(fmt::format("passed over {}: test is the test set", folder.string()));
      continue;
    }
    read_split(folder, is_train, options, passed_over, out);
  }
}

ImageRows read_folder(const fs::path& root, const ImageListOptions& options) {
  ImageRows out;
  if (const fs::path metadata = find_metadata(root); !metadata.empty()) {
    return read_metadata(metadata, std::span(&root, 1));
  }
  PassedOver passed_over(options.frames.wanted());
  const Entries entries = entries_of(root, passed_over);
  if (is_split_layout(entries)) {
    warn_of_stray(root, entries, passed_over);
    read_splits(entries, options, passed_over, out);
  } else if (!entries.folders.empty()) {
    warn_of_stray(root, entries, passed_over);
    add_classes(entries.folders, std::nullopt, options, passed_over, out);
  } else {
    for (const fs::path& image : entries.images) out.rows.push_back({image.string(), std::nullopt, std::nullopt});
  }
  passed_over.append_to(out.warnings);
  return out;
}

ImageRows read_any_layout(const fs::path& root, const ImageListOptions& options) {
  const MediaFragment fragment = parse_media_fragment(root.string());
  std::error_code error;
  const fs::file_status status = fs::status(fragment.file, error);
  if (!fs::exists(status)) fail(ErrorKind::kIo, "{}: there is no such file or folder", printable(root));
  if (!options.list_file.empty()) return read_list_file(options.list_file, root);
  if (fs::is_directory(status)) return read_folder(root, options);
  const std::string extension = lower_extension(root);
  if (extension == ".json") return read_boxes_as_rows(root, options.boxes);
  const fs::path folder = root.parent_path();
  if (extension == ".csv" || extension == ".jsonl") return read_metadata(root, std::span(&folder, 1));
  return {{{root.string(), std::nullopt, std::nullopt}}, {}};
}

// Labels and is_train are all or nothing: a mixture indicates an error in the data.
template <class Has>
bool all_have(const ImageRows& rows, const fs::path& root, const char* what, const Has& has) {
  const auto first_without = std::find_if_not(rows.rows.begin(), rows.rows.end(), has);
  if (first_without == rows.rows.end()) return true;
  if (std::none_of(rows.rows.begin(), rows.rows.end(), has)) return false;
  fail(ErrorKind::kInput, "{}: expected {} for every image or for none, found none for {}", root.string(), what,
       first_without->path);
}

}  // namespace

bool holds_images(const fs::path& path) {
  std::error_code error;
  const fs::path file = parse_media_fragment(path.string()).file;
  return fs::is_directory(path, error) || has_image_extension(file) || is_video_extension(file.extension().string()) ||
         lower_extension(path) == ".json";
}

bool has_image_extension(const fs::path& path) { return is_image_extension(path.extension().string()); }

std::string printable(const fs::path& path) {
  std::string text = path.string();
  if (is_utf8(text)) return text;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return text;
}

ImageList image_list_of(ImageRows rows, const fs::path& root, bool labels_expected) {
  if (rows.rows.empty()) {
    fail(ErrorKind::kInput, "{}: expected {} images, found none{}{}", printable(root), image_format_names(),
         rows.warnings.empty() ? "" : "; ", fmt::join(rows.warnings, "; "));
  }
  const bool labelled = all_have(rows, root, "a class", [](const ImageRow& row) { return row.class_name.has_value(); });
  const bool split = all_have(rows, root, "a split", [](const ImageRow& row) { return row.is_train.has_value(); });
  if (labels_expected && !labelled) {
    fail(ErrorKind::kInput,
         "{}: expected labelled images (a folder a class, or metadata.csv with file_name and label), found {} without",
         printable(root), rows.rows.size());
  }
  ImageList list;
  std::vector<std::string> class_of_row;
  std::vector<std::string> groups;
  for (ImageRow& row : rows.rows) {
    list.paths.push_back(std::move(row.path));
    if (labelled) class_of_row.push_back(std::move(*row.class_name));
    groups.push_back(std::move(row.group));
    if (split) list.is_train.push_back(*row.is_train ? 1 : 0);
  }
  if (labelled) {
    FeatureSetParts parts;
    parts.source = printable(root);
    set_text_labels(class_of_row, parts);
    list.labels = std::move(parts.labels);
    list.class_names = std::move(parts.class_names);
  }
  set_groups(groups, list.groups);
  list.warnings = std::move(rows.warnings);
  list.empty_classes = std::move(rows.empty_classes);
  return list;
}

ImageList list_images(const fs::path& root, const ImageListOptions& options) {
  ImageRows rows = read_any_layout(root, options);
  if (options.frames.wanted()) rows = frames_of_rows(std::move(rows), options.frames);
  if (!options.boxes.file.empty()) rows = boxes_of_rows(std::move(rows), root, options.boxes);
  return image_list_of(std::move(rows), root, options.for_training);
}

}  // namespace annulus
