// Converts the data of .npy arrays in blocks, in the order of the file.
#include "annulus/store/formats/npy.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr std::size_t kBlockElements = 16384;

void swap_bytes(std::span<std::byte> bytes, std::size_t element_bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += element_bytes) {
    const auto element = bytes.subspan(i, element_bytes);
    std::reverse(element.begin(), element.end());
  }
}

// Calls use(first element, little-endian bytes of a block) for all data in file order.
template <class Use>
void for_each_block(const NpyHeader& header, const ReadBytes& read, const Use& use) {
  const std::size_t elements = header.elements();
  // Elements of text may be wide, so a block is limited by bytes as well.
  const std::size_t block = std::clamp<std::size_t>((1U << 20U) / header.element_bytes, 1, kBlockElements);
  std::vector<std::byte> bytes(std::min(block, elements) * header.element_bytes);
  const std::size_t swapped = header.kind == NpyHeader::Kind::kText ? 4 : header.element_bytes;
  for (std::size_t i = 0; i < elements; i += block) {
    const auto part = std::span(bytes).first(std::min(block, elements - i) * header.element_bytes);
    read(part);
    if (header.big_endian) swap_bytes(part, swapped);
    use(i, std::span<const std::byte>(part));
  }
}

struct Extent {
  std::size_t rows = 0;
  std::size_t cols = 0;
};

Extent feature_extent(const NpyHeader& header, const std::string& where) {
  std::size_t rank = header.shape.size();
  while (rank > 2 && header.shape[rank - 1] == 1) --rank;
  if (rank != 2) {
    fail(ErrorKind::kInput, "{}: expected features of shape (rows, dimension), found ({})", where,
         fmt::join(header.shape, ", "));
  }
  if (header.kind != NpyHeader::Kind::kNumbers) {
    fail(ErrorKind::kInput, "{}: expected features to be numbers, found the type {}", where, header.descr);
  }
  return {header.shape[0], header.shape[1]};
}

template <class T, class Convert>
std::shared_ptr<const Matrix<T>> read_matrix(const NpyHeader& header, const ReadBytes& read, Extent extent,
                                             const Convert& convert) {
  auto matrix = std::make_shared<Matrix<T>>(extent.rows, extent.cols);
  std::vector<T> block(header.fortran_order ? kBlockElements : 0);
  for_each_block(header, read, [&](std::size_t first, std::span<const std::byte> bytes) {
    const std::size_t count = bytes.size() / header.element_bytes;
    if (!header.fortran_order) {
      convert(bytes, std::span<T>(matrix->data() + first, count));
      return;
    }
    convert(bytes, std::span<T>(block).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      (*matrix)((first + i) % extent.rows, (first + i) / extent.rows) = block[i];
    }
  });
  return matrix;
}

void append_utf8(std::uint32_t code, std::string& out, const std::string& where) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
    fail(ErrorKind::kFormat, "{}: expected text, found the invalid code point {:#x}", where, code);
  }
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6U);
    add(0x80 | (code & 0x3FU));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12U);
    add(0x80 | (code >> 6U & 0x3FU));
    add(0x80 | (code & 0x3FU));
  } else {
    add(0xF0 | code >> 18U);
    add(0x80 | (code >> 12U & 0x3FU));
    add(0x80 | (code >> 6U & 0x3FU));
    add(0x80 | (code & 0x3FU));
  }
}

std::string text_element(std::span<const std::byte> bytes, const std::string& where) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    std::uint32_t code = 0;
    std::memcpy(&code, bytes.data() + i, 4);
    append_utf8(code, text, where);
  }
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

bool is_aligned(const FileBytes& file, std::size_t offset, std::size_t element_bytes) {
  return reinterpret_cast<std::uintptr_t>(file.bytes.data() + offset) % element_bytes == 0;
}

}  // namespace

ReadBytes read_from(const FileBytes& file) {
  return [bytes = file.bytes, source = file.source](std::span<std::byte> out) mutable {
    if (out.size() > bytes.size()) {
      fail(ErrorKind::kFormat, "{}: the file ends too early: expected {} more bytes, found {}", source, out.size(),
           bytes.size());
    }
    std::copy_n(bytes.begin(), out.size(), out.begin());
    bytes = bytes.subspan(out.size());
  };
}

std::size_t npy_column_rows(const NpyHeader& header, const std::string& where) {
  std::size_t rank = header.shape.size();
  while (rank > 1 && header.shape[rank - 1] == 1) --rank;
  if (rank != 1) {
    fail(ErrorKind::kInput, "{}: expected one value per row, found the shape ({})", where,
         fmt::join(header.shape, ", "));
  }
  return header.shape[0];
}

void read_npy_features(const NpyHeader& header, const ReadBytes& read, const std::string& where,
                       FeatureSetParts& parts) {
  const Extent extent = feature_extent(header, where);
  if (header.type == ElementType::kF16) {
    const auto matrix = read_matrix<std::uint16_t>(header, read, extent,
                                                   [](std::span<const std::byte> in, std::span<std::uint16_t> out) {
                                                     std::memcpy(out.data(), in.data(), in.size());
                                                   });
    parts.half_features = matrix->view();
    parts.owner = matrix;
  } else {
    const auto matrix = read_matrix<float>(
        header, read, extent,
        [&](std::span<const std::byte> in, std::span<float> out) { to_floats(header.type, in, out); });
    parts.features = matrix->view();
    parts.owner = matrix;
  }
}

std::vector<std::int64_t> read_npy_integers(const NpyHeader& header, const ReadBytes& read, const std::string& where) {
  if (header.kind != NpyHeader::Kind::kNumbers || is_floating(header.type)) {
    fail(ErrorKind::kInput, "{}: expected integers, found the type {}", where, header.descr);
  }
  std::vector<std::int64_t> values(npy_column_rows(header, where));
  for_each_block(header, read, [&](std::size_t first, std::span<const std::byte> bytes) {
    to_integers(header.type, bytes, std::span(values).subspan(first, bytes.size() / header.element_bytes), where);
  });
  return values;
}

std::vector<std::string> read_npy_strings(const NpyHeader& header, const ReadBytes& read, const std::string& where) {
  if (header.kind == NpyHeader::Kind::kNumbers) {
    fail(ErrorKind::kInput, "{}: expected text, found the type {}", where, header.descr);
  }
  std::vector<std::string> values;
  values.reserve(header.elements());
  for_each_block(header, read, [&](std::size_t, std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += header.element_bytes) {
      const auto element = bytes.subspan(i, header.element_bytes);
      if (header.kind == NpyHeader::Kind::kText) {
        values.push_back(text_element(element, where));
      } else {
        const std::string_view text = as_text(element);
        values.emplace_back(text.substr(0, text.find_last_not_of('\0') + 1));
      }
    }
  });
  return values;
}

FeatureSetParts npy_features(const FileBytes& file) {
  const ReadBytes read = read_from(file);
  const NpyHeader header = read_npy_header(read, file.source);
  if (header.data_bytes != file.bytes.size() - header.data_offset) {
    fail(ErrorKind::kFormat, "{}: expected {} bytes of array data, found {}", file.source, header.data_bytes,
         file.bytes.size() - header.data_offset);
  }
  FeatureSetParts parts;
  parts.source = file.source;
  const bool half = header.type == ElementType::kF16;
  const bool as_is = (half || header.type == ElementType::kF32) && !header.big_endian && !header.fortran_order &&
                     header.kind == NpyHeader::Kind::kNumbers && header.data_bytes != 0 &&
                     is_aligned(file, header.data_offset, header.element_bytes);
  if (!as_is) {
    read_npy_features(header, read, file.source, parts);
    return parts;
  }
  const Extent extent = feature_extent(header, file.source);
  const std::byte* const data = file.bytes.data() + header.data_offset;
  if (half) {
    parts.half_features = {reinterpret_cast<const std::uint16_t*>(data), extent.rows, extent.cols};
  } else {
    parts.features = {reinterpret_cast<const float*>(data), extent.rows, extent.cols};
  }
  parts.owner = file.owner;
  return parts;
}

}  // namespace annulus
