// Puts the pieces of an Iconify collection together: sizes inherited from the collection, aliases that mirror or turn.
#include "cli/demo/icon_set.h"

#include <nlohmann/json.hpp>

#include "annulus/base/error.h"

namespace annulus {
namespace {

using nlohmann::json;

constexpr int kLongestChain = 8;  // aliases of aliases

struct Turn {
  bool flip_x = false;
  bool flip_y = false;
  int quarters = 0;
};

// The icon behind a name and how the aliases on the way turn it; null when there is none.
const json* find_icon(const json& set, const std::string& name, Turn& turn) {
  const json& icons = set.at("icons");
  std::string current = name;
  for (int step = 0; step < kLongestChain; ++step) {
    if (const auto icon = icons.find(current); icon != icons.end()) return &*icon;
    const auto aliases = set.find("aliases");
    if (aliases == set.end()) return nullptr;
    const auto alias = aliases->find(current);
    if (alias == aliases->end()) return nullptr;
    turn.flip_x ^= alias->value("hFlip", false);
    turn.flip_y ^= alias->value("vFlip", false);
    turn.quarters += alias->value("rotate", 0);
    current = alias->value("parent", "");
  }
  return nullptr;
}

double number(const json& icon, const json& set, const char* key, double fallback) {
  return icon.value(key, set.value(key, fallback));
}

std::string drawing(const json& icon, const json& set, const Turn& turn) {
  const double width = number(icon, set, "width", 16);
  const double height = number(icon, set, "height", 16);
  const double left = number(icon, set, "left", 0);
  const double top = number(icon, set, "top", 0);
  std::string transform;
  const double centre_x = left + width / 2;
  const double centre_y = top + height / 2;
  if (turn.quarters % 4 != 0) transform += fmt::format("rotate({} {} {})", turn.quarters % 4 * 90, centre_x, centre_y);
  if (turn.flip_x) transform += fmt::format("translate({} 0) scale(-1 1)", 2 * centre_x);
  if (turn.flip_y) transform += fmt::format("translate(0 {}) scale(1 -1)", 2 * centre_y);
  const auto& body = icon.at("body").get_ref<const std::string&>();
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{} {} {} {}">)"
      R"(<g transform="{}">{}</g></svg>)",
      left, top, width, height, transform, body);
}

}  // namespace

IconSet parse_icon_set(std::string_view text, const std::string& source) {
  IconSet result;
  try {
    const json set = json::parse(text);
    const auto add = [&](const std::string& name) {
      Turn turn;
      if (const json* icon = find_icon(set, name, turn)) result.drawings[name] = drawing(*icon, set, turn);
    };
    for (const auto& entry : set.at("icons").items()) add(entry.key());
    if (const auto aliases = set.find("aliases"); aliases != set.end()) {
      for (const auto& entry : aliases->items()) add(entry.key());
    }
  } catch (const json::exception& error) {
    fail(ErrorKind::kFormat, "{}: expected an Iconify collection: {}", source, error.what());
  }
  return result;
}

}  // namespace annulus
