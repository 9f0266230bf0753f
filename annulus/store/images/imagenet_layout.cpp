// Folders by class, a table for a flat validation set, a list for 1 %.
#include "annulus/store/images/imagenet_layout.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "annulus/base/error.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/formats/csv_reader.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/store/images/image_rows.h"

namespace annulus {
namespace {

constexpr const char* kSolution = "LOC_val_solution.csv";
constexpr std::array<const char*, 3> kImageEndings = {".JPEG", ".jpg", ".png"};

bool has_folders(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.is_directory(ignored)) return true;
  }
  return false;
}

// The first of `names` that is a file in `folder`, or in one of the folders above it; empty: none.
std::filesystem::path find_upwards(std::filesystem::path folder, const std::vector<std::filesystem::path>& names,
                                   int above) {
  folder = std::filesystem::absolute(folder).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  for (int i = 0; i <= above; ++i, folder = folder.parent_path()) {
    for (const auto& name : names) {
      std::error_code ignored;
      if (std::filesystem::is_regular_file(folder / name, ignored)) return folder / name;
    }
  }
  return {};
}

std::filesystem::path image_of(const std::filesystem::path& folder, const std::string& name) {
  for (const char* const ending : kImageEndings) {
    std::error_code ignored;
    const std::filesystem::path path = folder / (name + ending);
    if (std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return {};
}

ImageRows read_solution(const std::filesystem::path& table, const std::filesystem::path& images) {
  const MappedFile file(table);
  const std::string source = table.string();
  if (!is_utf8(as_text(file.bytes()))) fail(ErrorKind::kFormat, "{}: expected a table as UTF-8 text", source);
  CsvReader reader(as_text(file.bytes()), source);
  std::vector<std::string_view> fields;
  if (!reader.next(fields) || fields.size() != 2 || fields[0] != "ImageId" || fields[1] != "PredictionString") {
    fail(ErrorKind::kFormat, "{}: expected the columns ImageId,PredictionString, found \"{}\"", source,
         fmt::join(fields, ","));
  }
  ImageRows rows;
  std::set<std::string> seen;
  while (reader.next(fields)) {
    const std::string where = fmt::format("{}: line {}", source, reader.line());
    if (fields.size() != 2 || fields[0].empty() || fields[1].empty() || fields[1].front() == ' ') {
      fail(ErrorKind::kFormat, "{}: expected an image and its class, found \"{}\"", where, fmt::join(fields, ","));
    }
    const std::string name(fields[0]);
    if (!seen.insert(name).second)
      fail(ErrorKind::kFormat, "{}: expected every image once, found {} again", where, name);
    const std::filesystem::path path = image_of(images, name);
    if (path.empty()) {
      fail(ErrorKind::kInput, "{}: expected the image {} in {}, found no such file", where, name, images.string());
    }
    rows.rows.push_back({path.string(), std::string(fields[1].substr(0, fields[1].find(' '))), std::nullopt});
  }
  return rows;
}

}  // namespace

bool is_imagenet(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::is_directory(folder / "train", ignored) &&
         std::filesystem::is_directory(folder / "val", ignored);
}

ImageList imagenet_train(const std::filesystem::path& folder) {
  ImageListOptions options;
  options.for_training = true;
  return list_images(folder / "train", options);
}

ImageList imagenet_validation(const std::filesystem::path& folder) {
  const std::filesystem::path images = folder / "val";
  if (has_folders(images)) {
    ImageListOptions options;
    options.for_training = true;  // that is, labelled
    return list_images(images, options);
  }
  const std::filesystem::path table = find_upwards(folder, {kSolution}, 3);
  if (table.empty()) {
    fail(ErrorKind::kInput, "{}: expected a folder a class, or {} in {} or above it, found neither", images.string(),
         kSolution, folder.string());
  }
  return image_list_of(read_solution(table, images), images, true);
}

ImageList imagenet_one_percent(const std::filesystem::path& folder) {
  const std::vector<std::filesystem::path> names{"1percent.txt", "imagenet_subsets/1percent.txt",
                                                 "subsets/1percent.txt", "splits/1percent.txt"};
  ImageListOptions options;
  options.for_training = true;
  options.list_file = find_upwards(folder, names, 1);
  if (options.list_file.empty()) {
    fail(ErrorKind::kInput, "{}: expected the list of 1 % of the training images as 1percent.txt there, found none",
         folder.string());
  }
  return list_images(folder, options);
}

}  // namespace annulus
