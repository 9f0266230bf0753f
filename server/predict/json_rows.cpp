// Rows of numbers from JSON, without a tree in between.
#include "server/predict/json_rows.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "annulus/base/error.h"

namespace annulus::server {
namespace {

namespace ondemand = simdjson::ondemand;

// Arrays within arrays, as deep as a shape may have sides; the stack of a thread holds no more than that.
constexpr int kMaxDepth = 8;

float number_of(ondemand::value value) {
  const auto number = static_cast<float>(double(value.get_double()));
  if (!std::isfinite(number)) fail(ErrorKind::kInput, "expected numbers within the range of float32");
  return number;
}

Matrix<float> matrix_of(const std::vector<float>& numbers, std::size_t rows) {
  Matrix<float> matrix(rows, rows == 0 ? 0 : numbers.size() / rows);
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(i * matrix.cols()), matrix.cols(), matrix.row(i).begin());
  }
  return matrix;
}

}  // namespace

bool read_rows(ondemand::value value, std::size_t max_rows, Matrix<float>& rows) {
  std::vector<float> numbers;
  std::size_t count = 0;
  std::size_t width = 0;
  bool nested = false;
  for (ondemand::value entry : value.get_array()) {
    if (entry.type() != ondemand::json_type::array) {
      if (nested) fail(ErrorKind::kInput, "features: expected rows of numbers, found a number among them");
      numbers.push_back(number_of(entry));
      continue;
    }
    if (!nested && !numbers.empty()) fail(ErrorKind::kInput, "features: expected numbers, found a row among them");
    nested = true;
    if (count == max_rows) fail(ErrorKind::kInput, "features: expected at most {} rows in one request", max_rows);
    const std::size_t before = numbers.size();
    for (ondemand::value number : entry.get_array()) numbers.push_back(number_of(number));
    const std::size_t length = numbers.size() - before;
    if (length == 0 || (count > 0 && length != width)) {
      fail(ErrorKind::kInput, "features: expected rows of equal length, found {} numbers in row {}", length, count);
    }
    width = length;
    ++count;
  }
  if (!nested) count = numbers.empty() ? 0 : 1;
  rows = matrix_of(numbers, count);
  return !nested;
}

void read_numbers(ondemand::array array, std::vector<float>& numbers, int depth) {
  if (depth > kMaxDepth) fail(ErrorKind::kFormat, "expected arrays nested at most {} deep", kMaxDepth);
  for (ondemand::value entry : array) {
    if (entry.type() == ondemand::json_type::array) {
      read_numbers(entry.get_array(), numbers, depth + 1);
    } else {
      numbers.push_back(number_of(entry));
    }
  }
}

void expect_end(ondemand::document& document) {
  const char* rest = nullptr;
  if (document.current_location().get(rest) == simdjson::SUCCESS) {
    fail(ErrorKind::kFormat, "expected one JSON object, found more after it");
  }
}

}  // namespace annulus::server
