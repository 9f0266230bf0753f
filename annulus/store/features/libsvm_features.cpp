// Feature sets in LIBSVM's sparse text: "label index:value index:value ...", indices from 1 and ascending.
#include <charconv>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/features/feature_formats.h"
#include "annulus/store/features/label_column.h"
#include "annulus/store/formats/number_text.h"

namespace annulus {
namespace {

// Sparse text may describe a dense matrix far larger than itself. At most this many values per byte of text are
// allowed: real features, of which at least a few per cent are not zero, stay well below.
constexpr std::size_t kNumbersPerByte = 32;
constexpr std::size_t kFreeNumbers = std::size_t{1} << 20U;
constexpr std::size_t kMaxDimension = std::size_t{1} << 24U;

struct SparseRows {
  std::vector<std::int64_t> labels;
  std::vector<std::size_t> ends;  // where each row's entries end
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
  std::size_t dimension = 0;
};

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

// Class labels may be written as 3, +1, -1 or 2.0.
std::int64_t parse_label(std::string_view word, const std::string& where) {
  constexpr double kLimit = 9007199254740992.0;  // integers beyond 2^53 are not exact
  std::string_view digits = word;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0.0;
  const char* const end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, value);
  const bool integral = std::isfinite(value) && std::fabs(value) < kLimit && std::floor(value) == value;
  if (result.ec != std::errc() || result.ptr != end || !integral) {
    fail(ErrorKind::kInput, "{}, column 1: expected an integer label, found \"{}\"", where, word.substr(0, 40));
  }
  return static_cast<std::int64_t>(value);
}

void parse_entry(std::string_view word, std::size_t position, std::size_t& previous, SparseRows& rows,
                 const std::string& where) {
  const std::size_t colon = word.find(':');
  std::size_t index = 0;
  float value = 0.0F;
  const char* const end = word.data() + std::min(colon, word.size());
  const auto result = std::from_chars(word.data(), end, index);
  if (colon == std::string_view::npos || result.ec != std::errc() || result.ptr != end ||
      !parse_feature(word.substr(colon + 1), value)) {
    fail(ErrorKind::kInput, "{}, column {}: expected index:value with a finite value, found \"{}\"", where, position,
         word.substr(0, 40));
  }
  if (index <= previous || index > kMaxDimension) {
    fail(ErrorKind::kInput, "{}, column {}: expected an index from {} to {}, found {}", where, position, previous + 1,
         kMaxDimension, index);
  }
  previous = index;
  rows.columns.push_back(static_cast<std::uint32_t>(index - 1));
  rows.values.push_back(value);
}

void parse_line(std::string_view line, SparseRows& rows, const std::string& where) {
  rows.labels.push_back(parse_label(next_word(line), where));
  std::size_t previous = 0;
  std::size_t position = 1;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    parse_entry(word, ++position, previous, rows, where);
  }
  rows.dimension = std::max(rows.dimension, previous);
  rows.ends.push_back(rows.columns.size());
}

}  // namespace

FeatureSetParts libsvm_features(const FileBytes& file) {
  std::string_view text = as_text(file.bytes);
  SparseRows rows;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find('#'));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    parse_line(line, rows, fmt::format("{}: line {}", file.source, number));
  }
  const std::size_t count = rows.labels.size();
  if (rows.dimension == 0) {
    fail(ErrorKind::kInput, "{}: expected lines of \"label index:value ...\", found none with a value", file.source);
  }
  if (count > (kFreeNumbers + kNumbersPerByte * file.bytes.size()) / rows.dimension) {
    fail(ErrorKind::kInput,
         "{}: {} rows of {} dimensions are too sparse for a text of {} bytes: features are stored densely", file.source,
         count, rows.dimension, file.bytes.size());
  }
  Matrix<float> features(count, rows.dimension);
  std::size_t entry = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (; entry < rows.ends[i]; ++entry) features(i, rows.columns[entry]) = rows.values[entry];
  }
  FeatureSetParts parts = parts_of(std::move(features));
  parts.source = file.source;
  // Text for two classes usually labels them -1 and +1.
  set_integer_labels(rows.labels, parts, true);
  return parts;
}

}  // namespace annulus
