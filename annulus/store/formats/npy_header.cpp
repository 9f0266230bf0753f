// Reads and writes the header of a .npy array: a Python dictionary literal of three known keys.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "annulus/base/error.h"
#include "annulus/store/formats/npy.h"

namespace annulus {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeaderBytes = 65536;
constexpr std::size_t kMaxRank = 32;
constexpr std::size_t kMaxElementBytes = 1U << 26U;  // of one string

// Walks over {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class LiteralReader {
 public:
  LiteralReader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  bool take(char symbol) {
    skip_space();
    if (text_.empty() || text_.front() != symbol) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char symbol) {
    if (!take(symbol)) stop();
  }
  bool at_end() {
    skip_space();
    return text_.empty();
  }
  std::string quoted() {
    skip_space();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) stop();
    const std::size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos || text_.substr(0, end).find('\\') != std::string_view::npos) stop();
    std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return value;
  }
  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return word == "True";
      }
    }
    stop();
  }
  std::size_t number() {
    skip_space();
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) stop();
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    if (text_.starts_with('L')) text_.remove_prefix(1);  // as Python 2 wrote long integers
    return value;
  }
  [[noreturn]] void stop() const {
    fail(ErrorKind::kFormat, "{}: the array's header cannot be understood near \"{}\"", where_,
         text_.substr(0, std::min<std::size_t>(text_.find_first_not_of(kPrintable), 24)));
  }

 private:
  static constexpr std::string_view kPrintable =
      " !#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~";

  void skip_space() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\n\r"), text_.size())); }

  std::string_view text_;
  const std::string& where_;
};

std::optional<ElementType> number_type(char kind, std::size_t bytes) {
  using enum ElementType;
  const auto pick = [&](std::optional<ElementType> one, ElementType two, ElementType four, ElementType eight) {
    return bytes == 1 ? one : bytes == 2 ? two : bytes == 4 ? four : bytes == 8 ? std::optional(eight) : std::nullopt;
  };
  switch (kind) {
    case 'f':
      return pick(std::nullopt, kF16, kF32, kF64);
    case 'i':
      return pick(kI8, kI16, kI32, kI64);
    case 'u':
      return pick(kU8, kU16, kU32, kU64);
    case 'b':
      return bytes == 1 ? std::optional(kBool) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// descr is a byte order (<, >, |, =), a letter and a number of bytes or characters: "<f4", "|S12", ">U7".
void set_type(NpyHeader& header, const std::string& where) {
  const std::string& descr = header.descr;
  if (descr.find('O') != std::string::npos) {
    fail(ErrorKind::kFormat,
         "{}: holds pickled Python objects, which Annulus never executes; save it as an array of numbers or of "
         "fixed-width text",
         where);
  }
  std::size_t size = 0;
  const bool well_formed = descr.size() >= 3 && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const char* const end = descr.data() + descr.size();
  const bool has_size = well_formed && std::from_chars(descr.data() + 2, end, size).ptr == end;
  if (has_size && size > 0 && size <= kMaxElementBytes / 4) {
    header.big_endian = descr[0] == '>';
    if (descr[1] == 'S' || descr[1] == 'U') {
      header.kind = descr[1] == 'S' ? NpyHeader::Kind::kBytes : NpyHeader::Kind::kText;
      header.element_bytes = descr[1] == 'S' ? size : size * 4;
      if (descr[1] == 'S') header.big_endian = false;
      return;
    }
    if (const auto type = number_type(descr[1], size)) {
      header.type = *type;
      header.element_bytes = size;
      return;
    }
  }
  fail(ErrorKind::kFormat, "{}: expected numbers, booleans or text, found the element type \"{}\"", where, descr);
}

void parse_literal(std::string_view text, NpyHeader& header, const std::string& where) {
  LiteralReader reader(text, where);
  bool has_descr = false;
  bool has_order = false;
  bool has_shape = false;
  reader.expect('{');
  while (!reader.take('}')) {
    const std::string key = reader.quoted();
    reader.expect(':');
    if (key == "descr" && !std::exchange(has_descr, true)) {
      if (reader.take('[')) fail(ErrorKind::kFormat, "{}: holds records; expected one plain array", where);
      header.descr = reader.quoted();
    } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
      header.fortran_order = reader.boolean();
    } else if (key == "shape" && !std::exchange(has_shape, true)) {
      reader.expect('(');
      while (!reader.take(')')) {
        if (header.shape.size() == kMaxRank) reader.stop();
        header.shape.push_back(reader.number());
        if (!reader.take(',')) {
          reader.expect(')');
          break;
        }
      }
    } else {
      reader.stop();
    }
    if (!reader.take(',')) {
      reader.expect('}');
      break;
    }
  }
  if (!reader.at_end() || !has_descr || !has_order || !has_shape) reader.stop();
}

}  // namespace

NpyHeader read_npy_header(const ReadBytes& read, const std::string& where) {
  std::array<std::byte, 8> start{};
  read(start);
  if (!as_text(start).starts_with(kMagic)) {
    fail(ErrorKind::kFormat, "{}: expected a NumPy array, found other data", where);
  }
  const auto version = std::to_integer<unsigned>(start[6]);
  if (version < 1 || version > 3) {
    fail(ErrorKind::kFormat, "{}: expected version 1, 2 or 3 of the .npy format, found {}", where, version);
  }
  std::array<std::byte, 4> length_bytes{};
  const std::size_t width = version == 1 ? 2 : 4;
  read(std::span(length_bytes).first(width));
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i) length |= std::to_integer<std::size_t>(length_bytes[i]) << (8 * i);
  if (length > kMaxHeaderBytes) {
    fail(ErrorKind::kFormat, "{}: the array's header claims {} bytes; at most {} are plausible", where, length,
         kMaxHeaderBytes);
  }
  std::string text(length, '\0');
  read(std::as_writable_bytes(std::span(text)));

  NpyHeader header;
  parse_literal(text, header, where);
  set_type(header, where);
  const auto bytes = array_bytes(header.shape, header.element_bytes);
  if (!bytes) {
    fail(ErrorKind::kFormat, "{}: the shape ({}) is impossibly large", where, fmt::join(header.shape, ", "));
  }
  header.data_bytes = *bytes;
  header.data_offset = start.size() + width + length;
  return header;
}

std::string npy_header(const std::string& descr, std::span<const std::size_t> shape) {
  constexpr std::size_t kAlignment = 64;
  constexpr std::size_t kPreamble = 10;
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  text.append(kAlignment - (kPreamble + text.size() + 1) % kAlignment, ' ');
  text += '\n';
  std::string header(kMagic);
  header += '\x01';
  header += '\0';
  header += static_cast<char>(text.size() & 0xFFU);
  header += static_cast<char>(text.size() >> 8U);
  return header + text;
}

}  // namespace annulus
