// The two JSON shapes that live inside Annulus files: a list of strings and an object of strings.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annulus {

// Both parsers accept exactly their shape and throw Error{kFormat} naming `where` for anything else: another type,
// nesting, a name given twice, text after the end. Memory is a small multiple of the text.
std::vector<std::string> parse_string_list(std::string_view text, const std::string& where);
std::map<std::string, std::string> parse_string_map(std::string_view text, const std::string& where);

// Strings must be valid UTF-8 (see is_utf8).
std::string to_json(std::span<const std::string> list);
std::string to_json(const std::map<std::string, std::string>& map);

// JSON and NumPy text can hold nothing else, so names and paths are checked before they are written.
bool is_utf8(std::string_view text);

}  // namespace annulus
