// Event-driven parsing: no tree is built, and an unexpected shape stops the parser at once.
#include "annulus/store/formats/json_text.h"

#include <nlohmann/json.hpp>

#include "annulus/base/error.h"

namespace annulus {
namespace {

using nlohmann::json;

enum class Shape { kStringList, kStringMap, kValueMap };

const char* name_of(Shape shape) {
  switch (shape) {
    case Shape::kStringList:
      return "array of strings";
    case Shape::kStringMap:
      return "object of strings";
    case Shape::kValueMap:
      return "object of strings, numbers and booleans";
  }
  return "";
}

// Accepts its shape and stops at everything else.
class ShapeHandler : public nlohmann::json_sax<json> {
 public:
  explicit ShapeHandler(Shape shape) : shape_(shape) {}

  std::vector<std::string> list;
  std::map<std::string, JsonValue> map;
  std::string problem;

  bool start_object(std::size_t) override { return open(shape_ != Shape::kStringList, "an object"); }
  bool start_array(std::size_t) override { return open(shape_ == Shape::kStringList, "an array"); }
  bool end_object() override { return true; }
  bool end_array() override { return true; }
  bool key(string_t& name) override {
    if (map.contains(name)) return stop("the name \"" + name + "\" twice");
    key_ = name;
    return true;
  }
  bool string(string_t& value) override {
    if (!opened_) return stop("a lone string");
    if (shape_ == Shape::kStringList) {
      list.push_back(std::move(value));
    } else {
      map.emplace(std::move(key_), std::move(value));
    }
    return true;
  }
  bool null() override { return stop("null"); }
  bool boolean(bool value) override { return keep(value, "a boolean"); }
  bool number_integer(number_integer_t value) override { return keep(static_cast<double>(value), "a number"); }
  bool number_unsigned(number_unsigned_t value) override { return keep(std::uint64_t{value}, "a number"); }
  bool number_float(number_float_t value, const string_t&) override { return keep(value, "a number"); }
  bool binary(binary_t&) override { return stop("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    return stop(fmt::format("invalid text at byte {}", position));
  }

 private:
  bool open(bool wanted, const char* what) {
    if (opened_ || !wanted) return stop(what);
    return opened_ = true;
  }
  bool keep(JsonValue value, const char* what) {
    if (!opened_ || shape_ != Shape::kValueMap) return stop(what);
    map.emplace(std::move(key_), std::move(value));
    return true;
  }
  bool stop(std::string found) {
    if (problem.empty()) problem = std::move(found);
    return false;
  }

  Shape shape_;
  bool opened_ = false;
  std::string key_;
};

ShapeHandler parse(std::string_view text, Shape shape, const std::string& where) {
  ShapeHandler handler(shape);
  if (!json::sax_parse(text, &handler)) {
    fail(ErrorKind::kFormat, "{}: expected a JSON {}, found {}", where, name_of(shape), handler.problem);
  }
  return handler;
}

}  // namespace

std::vector<std::string> parse_string_list(std::string_view text, const std::string& where) {
  return parse(text, Shape::kStringList, where).list;
}

std::map<std::string, std::string> parse_string_map(std::string_view text, const std::string& where) {
  std::map<std::string, std::string> strings;
  for (auto& [name, value] : parse(text, Shape::kStringMap, where).map) {
    strings.emplace(name, std::get<std::string>(std::move(value)));
  }
  return strings;
}

std::map<std::string, JsonValue> parse_value_map(std::string_view text, const std::string& where) {
  return parse(text, Shape::kValueMap, where).map;
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

std::string to_json(const std::map<std::string, JsonValue>& map) {
  json object = json::object();
  for (const auto& entry : map) {
    std::visit([&](const auto& value) { object[entry.first] = value; }, entry.second);
  }
  return object.dump();
}

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
