// The JSON shapes that live inside Annulus files: a list of strings, an object of strings, an object of plain values.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace annulus {

// A value that is neither a list nor an object. A number of 0 or more without a fraction is a std::uint64_t.
using JsonValue = std::variant<std::string, bool, std::uint64_t, double>;

// The parsers accept exactly their shape and throw Error{kFormat} naming `where` for anything else: another type,
// nesting, a name given twice, text after the end. Memory is a small multiple of the text.
std::vector<std::string> parse_string_list(std::string_view text, const std::string& where);
std::map<std::string, std::string> parse_string_map(std::string_view text, const std::string& where);
std::map<std::string, JsonValue> parse_value_map(std::string_view text, const std::string& where);

// Strings must be valid UTF-8 (see is_utf8), and numbers finite.
std::string to_json(std::span<const std::string> list);
std::string to_json(const std::map<std::string, std::string>& map);
std::string to_json(const std::map<std::string, JsonValue>& map);

// JSON and NumPy text cannot hold anything else, so names and paths are checked before they are written.
bool is_utf8(std::string_view text);

}  // namespace annulus
