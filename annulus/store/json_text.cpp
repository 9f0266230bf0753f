// Event-driven parsing: no tree is built, and a shape that is not expected stops the parser at once.
#include "annulus/store/json_text.h"

#include <nlohmann/json.hpp>

#include "annulus/base/error.h"

namespace annulus {
namespace {

using nlohmann::json;

// Accepts [ "a", "b" ] or { "a": "b" } and stops at everything else.
class StringsHandler : public nlohmann::json_sax<json> {
 public:
  explicit StringsHandler(bool wants_object) : wants_object_(wants_object) {}

  std::vector<std::string> list;
  std::map<std::string, std::string> map;
  std::string problem;

  bool start_object(std::size_t) override { return open(wants_object_, "an object"); }
  bool start_array(std::size_t) override { return open(!wants_object_, "an array"); }
  bool end_object() override { return true; }
  bool end_array() override { return true; }
  bool key(string_t& name) override {
    if (map.contains(name)) return stop("the name \"" + name + "\" twice");
    key_ = name;
    return true;
  }
  bool string(string_t& value) override {
    if (!opened_) return stop("a lone string");
    if (wants_object_) {
      map.emplace(std::move(key_), std::move(value));
    } else {
      list.push_back(std::move(value));
    }
    return true;
  }
  bool null() override { return stop("null"); }
  bool boolean(bool) override { return stop("a boolean"); }
  bool number_integer(number_integer_t) override { return stop("a number"); }
  bool number_unsigned(number_unsigned_t) override { return stop("a number"); }
  bool number_float(number_float_t, const string_t&) override { return stop("a number"); }
  bool binary(binary_t&) override { return stop("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    return stop(fmt::format("invalid text at byte {}", position));
  }

 private:
  bool open(bool wanted, const char* what) {
    if (opened_ || !wanted) return stop(what);
    return opened_ = true;
  }
  bool stop(std::string found) {
    if (problem.empty()) problem = std::move(found);
    return false;
  }

  bool wants_object_;
  bool opened_ = false;
  std::string key_;
};

StringsHandler parse(std::string_view text, bool wants_object, const std::string& where) {
  StringsHandler handler(wants_object);
  if (!json::sax_parse(text, &handler)) {
    fail(ErrorKind::kFormat, "{}: expected a JSON {} of strings, found {}", where, wants_object ? "object" : "array",
         handler.problem);
  }
  return handler;
}

}  // namespace

std::vector<std::string> parse_string_list(std::string_view text, const std::string& where) {
  return parse(text, false, where).list;
}

std::map<std::string, std::string> parse_string_map(std::string_view text, const std::string& where) {
  return parse(text, true, where).map;
}

std::string to_json(std::span<const std::string> list) {
  std::string text = "[";
  for (const std::string& item : list) {
    if (text.size() > 1) text += ',';
    text += json(item).dump();
  }
  return text + "]";
}

std::string to_json(const std::map<std::string, std::string>& map) { return json(map).dump(); }

bool is_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xC2 ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    if (length == 0 || length > text.size() - i) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0U) != 0x80) return false;
    }
    if (length > 2) {
      // Overlong forms, surrogates and code points above U+10FFFF differ from valid ones only in the second byte.
      const auto second = static_cast<unsigned char>(text[i + 1]);
      if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) || (lead == 0xF0 && second < 0x90) ||
          (lead == 0xF4 && second > 0x8F)) {
        return false;
      }
    }
    i += length;
  }
  return true;
}

}  // namespace annulus
