// Four lists whose lines begin with a number.
#include "annulus/store/images/cub_layout.h"

#include <charconv>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "annulus/base/error.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/store/images/image_rows.h"

namespace annulus {
namespace {

// A line of a list: what follows the number, and where it stands.
struct NumberedLine {
  std::string text;
  std::string where;
};

// The lines "number text" of a list, by number.
std::unordered_map<std::size_t, NumberedLine> read_numbered(const std::filesystem::path& path,
                                                            std::vector<std::size_t>* order = nullptr) {
  const MappedFile file(path);
  std::string_view text = as_text(file.bytes());
  if (!is_utf8(text)) fail(ErrorKind::kFormat, "{}: expected a list as UTF-8 text", path.string());
  std::unordered_map<std::size_t, NumberedLine> lines;
  for (std::size_t line_number = 1; !text.empty(); ++line_number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::string where = fmt::format("{}: line {}", path.string(), line_number);
    std::size_t number = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    const auto digits = static_cast<std::size_t>(rest - line.data());
    if (error != std::errc() || digits + 1 >= line.size() || line[digits] != ' ') {
      fail(ErrorKind::kFormat, "{}: expected a number and a word, found \"{}\"", where, line);
    }
    if (!lines.emplace(number, NumberedLine{std::string(line.substr(digits + 1)), where}).second) {
      fail(ErrorKind::kFormat, "{}: expected every number once, found {} again", where, number);
    }
    if (order != nullptr) order->push_back(number);
  }
  if (lines.empty()) fail(ErrorKind::kFormat, "{}: expected a list, found an empty file", path.string());
  return lines;
}

const NumberedLine& listed_entry(const std::unordered_map<std::size_t, NumberedLine>& lines, std::size_t number,
                                 const std::filesystem::path& path, const std::string& asked_by) {
  const auto found = lines.find(number);
  if (found == lines.end()) {
    fail(ErrorKind::kInput, "{}: expected an entry for {}, which {} names, found none", path.string(), number,
         asked_by);
  }
  return found->second;
}

std::size_t class_number(const NumberedLine& line) {
  std::size_t number = 0;
  const char* const end = line.text.data() + line.text.size();
  const auto [rest, error] = std::from_chars(line.text.data(), end, number);
  if (error != std::errc() || rest != end) {
    fail(ErrorKind::kFormat, "{}: expected the number of a class, found \"{}\"", line.where, line.text);
  }
  return number;
}

}  // namespace

bool is_cub(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(folder / "images.txt", ignored);
}

ImageList read_cub(const std::filesystem::path& folder) {
  const auto labels_path = folder / "image_class_labels.txt";
  const auto split_path = folder / "train_test_split.txt";
  const auto classes_path = folder / "classes.txt";
  std::vector<std::size_t> order;
  const auto images = read_numbered(folder / "images.txt", &order);
  const auto labels = read_numbered(labels_path);
  const auto split = read_numbered(split_path);
  const auto classes = read_numbered(classes_path);
  ImageRows rows;
  for (const std::size_t number : order) {
    const NumberedLine& image = images.at(number);
    const NumberedLine& label = listed_entry(labels, number, labels_path, image.where);
    const NumberedLine& flag = listed_entry(split, number, split_path, image.where);
    if (flag.text != "0" && flag.text != "1") {
      fail(ErrorKind::kFormat, "{}: expected 1 for a training image or 0, found \"{}\"", flag.where, flag.text);
    }
    const std::filesystem::path path = folder / "images" / image.text;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
      fail(ErrorKind::kInput, "{}: expected the image {}, found no such file", image.where, path.string());
    }
    rows.rows.push_back({path.string(), listed_entry(classes, class_number(label), classes_path, label.where).text,
                         std::optional<bool>(flag.text == "1")});
  }
  return image_list_of(std::move(rows), folder, true);
}

}  // namespace annulus
