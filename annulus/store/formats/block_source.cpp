// Blocks of about a mebibyte: large enough for the disk, small beside the data.
#include "annulus/store/formats/block_source.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/kernels/half.h"

namespace annulus {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20U;

void check_half_row(std::span<const float> row, std::span<const std::uint16_t> half, std::size_t index,
                    const std::string& source) {
  constexpr std::uint16_t kInfinity = 0x7C00;
  bool all_zero = true;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const std::uint16_t magnitude = half[j] & 0x7FFFU;
    if (magnitude == kInfinity) {
      fail(ErrorKind::kInput, "{}: {} at row {}, column {} is too large for float16; write float32", source, row[j],
           index, j);
    }
    all_zero = all_zero && magnitude == 0;
  }
  if (all_zero) {
    fail(ErrorKind::kInput, "{}: every value of row {} is too small for float16; write float32", source, index);
  }
}

// Decodes one code point of valid UTF-8 and moves past it.
std::uint32_t next_code_point(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  std::uint32_t code = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t k = 1; k < length; ++k) code = code << 6U | (static_cast<unsigned char>(text[k]) & 0x3FU);
  text.remove_prefix(length);
  return code;
}

}  // namespace

BlockSource feature_blocks(const FeatureSet& set, FeatureType type) {
  const std::size_t block_rows = std::max<std::size_t>(1, kBlockBytes / (set.dimension() * sizeof(float)));
  return [&set, type, block_rows](std::size_t index, std::vector<std::byte>& block) {
    const std::size_t first = index * block_rows;
    if (first >= set.rows()) return false;
    Matrix<float> rows(std::min(block_rows, set.rows() - first), set.dimension());
    set.copy_rows(first, rows.view());
    const std::span<const float> numbers(rows.data(), rows.rows() * rows.cols());
    if (type == FeatureType::kFloat32) {
      const auto bytes = std::as_bytes(numbers);
      block.assign(bytes.begin(), bytes.end());
      return true;
    }
    std::vector<std::uint16_t> half(numbers.size());
    narrow_half(numbers, half);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      check_half_row(rows.row(i), std::span(half).subspan(i * rows.cols(), rows.cols()), first + i, set.source());
    }
    const auto bytes = std::as_bytes(std::span(half));
    block.assign(bytes.begin(), bytes.end());
    return true;
  };
}

BlockSource text_blocks(std::span<const std::string> strings, std::size_t width) {
  const std::size_t block_strings = std::max<std::size_t>(1, kBlockBytes / (width * 4));
  return [strings, width, block_strings](std::size_t index, std::vector<std::byte>& block) {
    const std::size_t first = index * block_strings;
    if (first >= strings.size()) return false;
    const std::size_t count = std::min(block_strings, strings.size() - first);
    block.assign(count * width * 4, std::byte{0});
    for (std::size_t i = 0; i < count; ++i) {
      std::string_view text = strings[first + i];
      for (std::byte* out = block.data() + i * width * 4; !text.empty(); out += 4) {
        const std::uint32_t code = next_code_point(text);
        std::memcpy(out, &code, 4);
      }
    }
    return true;
  };
}

BlockSource single_block(std::vector<std::byte> bytes) {
  return [bytes = std::move(bytes)](std::size_t index, std::vector<std::byte>& block) {
    if (index > 0) return false;
    block = bytes;
    return true;
  };
}

void for_each_block(const BlockSource& source, const std::function<void(std::span<const std::byte>)>& use) {
  std::vector<std::byte> block;
  for (std::size_t i = 0; source(i, block); ++i) use(block);
}

std::size_t text_width(std::span<const std::string> strings) {
  std::size_t width = 1;
  for (const std::string& text : strings) {
    // Every byte that does not continue a character starts one.
    const auto characters =
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; });
    width = std::max(width, static_cast<std::size_t>(characters));
  }
  return width;
}

}  // namespace annulus
