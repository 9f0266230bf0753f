// The table of named networks and the parser of spelled-out ones.
#include "annulus/vision/architecture.h"

#include <charconv>
#include <map>
#include <string_view>
#include <vector>

#include "annulus/base/error.h"

namespace annulus {
namespace {

// Widths, depths and heads of the papers; the MoCo v3 small transformer alone has 12 heads.
const std::map<std::string, std::string>& named() {
  static const std::map<std::string, std::string> kNamed = {
      {"vit-s/16", "vit:width=384,depth=12,heads=6,patch=16"},
      {"vit-s/8", "vit:width=384,depth=12,heads=6,patch=8"},
      {"vit-s/14", "vit:width=384,depth=12,heads=6,patch=14"},
      {"moco-vit-s/16", "vit:width=384,depth=12,heads=12,patch=16"},
      {"vit-b/16", "vit:width=768,depth=12,heads=12,patch=16"},
      {"vit-b/14", "vit:width=768,depth=12,heads=12,patch=14"},
      {"vit-b/8", "vit:width=768,depth=12,heads=12,patch=8"},
      {"vit-b/4", "vit:width=768,depth=12,heads=12,patch=4"},
      {"vit-l/16", "vit:width=1024,depth=24,heads=16,patch=16"},
      {"vit-l/14", "vit:width=1024,depth=24,heads=16,patch=14"},
      {"vit-l/7", "vit:width=1024,depth=24,heads=16,patch=7"},
      {"resnet18", "resnet:block=basic,blocks=2-2-2-2"},
      {"resnet34", "resnet:block=basic,blocks=3-4-6-3"},
      {"resnet50", "resnet:block=bottleneck,blocks=3-4-6-3"},
      {"resnet101", "resnet:block=bottleneck,blocks=3-4-23-3"},
      {"resnet12", "resnet12:channels=64-128-256-512"},
      {"wrn-28-10", "wrn:depth=28,widen=10"},
  };
  return kNamed;
}

int parse_number(std::string_view text, const std::string& whole) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr int kLargest = 1 << 16;
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kLargest) {
    fail(ErrorKind::kUsage, "architecture {}: expected a whole number from 1 to {}, found \"{}\"", whole, kLargest,
         text);
  }
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

class Settings {
 public:
  Settings(std::string_view text, const std::string& whole) : whole_(whole) {
    for (const std::string_view part : split(text, ',')) {
      const std::size_t equals = part.find('=');
      if (equals == std::string_view::npos) {
        fail(ErrorKind::kUsage, "architecture {}: expected name=value, found \"{}\"", whole, part);
      }
      values_[std::string(part.substr(0, equals))] = std::string(part.substr(equals + 1));
    }
  }
  std::string text(const std::string& name, const std::string& usual) {
    const auto found = values_.find(name);
    if (found == values_.end()) return usual;
    const std::string value = found->second;
    values_.erase(found);
    return value;
  }
  int number(const std::string& name, int usual) { return parse_number(text(name, std::to_string(usual)), whole_); }
  std::array<int, 4> four(const std::string& name, const std::string& usual) {
    const std::string value = text(name, usual);
    const auto parts = split(value, '-');
    if (parts.size() != 4) {
      fail(ErrorKind::kUsage, "architecture {}: expected four numbers like 2-2-2-2, found \"{}\"", whole_, value);
    }
    std::array<int, 4> numbers{};
    for (std::size_t i = 0; i < 4; ++i) numbers[i] = parse_number(parts[i], whole_);
    return numbers;
  }
  void finish() const {
    if (!values_.empty()) {
      fail(ErrorKind::kUsage, "architecture {}: unknown setting \"{}\"", whole_, values_.begin()->first);
    }
  }

 private:
  const std::string& whole_;
  std::map<std::string, std::string> values_;
};

[[noreturn]] void unknown(const std::string& text) {
  fail(ErrorKind::kUsage, "expected an architecture among {}, found \"{}\"", known_architectures(), text);
}

Architecture parse_settings(const std::string& family, Settings& settings, const std::string& whole) {
  Architecture net;
  if (family == "vit") {
    net.image_size = settings.number("image", 224);
    net.width = settings.number("width", 384);
    net.depth = settings.number("depth", 12);
    net.heads = settings.number("heads", 6);
    net.patch = settings.number("patch", 16);
    if (net.width % net.heads != 0) {
      fail(ErrorKind::kUsage, "architecture {}: a width of {} cannot be split into {} heads", whole, net.width,
           net.heads);
    }
  } else if (family == "resnet") {
    net.family = NetworkFamily::kResnet;
    net.image_size = settings.number("image", 224);
    const std::string block = settings.text("block", "bottleneck");
    if (block != "basic" && block != "bottleneck") unknown(whole);
    net.bottleneck = block == "bottleneck";
    net.blocks = settings.four("blocks", "3-4-6-3");
    const int width = settings.number("width", 64);
    net.channels = {width, 2 * width, 4 * width, 8 * width};
  } else if (family == "wrn") {
    net.family = NetworkFamily::kWideResnet;
    net.image_size = settings.number("image", 80);
    net.depth = settings.number("depth", 28);
    const int width = settings.number("width", 16);
    const int widen = settings.number("widen", 10);
    net.channels = {width, width * widen, 2 * width * widen, 4 * width * widen};
    if ((net.depth - 4) % 6 != 0 || net.depth < 10) {
      fail(ErrorKind::kUsage, "architecture {}: the depth of a wide residual network is 6 n + 4, not {}", whole,
           net.depth);
    }
  } else if (family == "resnet12") {
    net.family = NetworkFamily::kResnet12;
    net.image_size = settings.number("image", 80);
    net.channels = settings.four("channels", "64-128-256-512");
  } else {
    unknown(whole);
  }
  return net;
}

}  // namespace

int Architecture::dimension() const {
  if (family == NetworkFamily::kVit) return width;
  return channels[3] * (bottleneck ? 4 : 1);
}

Architecture parse_architecture(const std::string& text) {
  const auto found = named().find(text);
  const std::string& spelled = found == named().end() ? text : found->second;
  const std::size_t colon = spelled.find(':');
  if (colon == std::string::npos) unknown(text);
  Settings settings(std::string_view(spelled).substr(colon + 1), text);
  Architecture net = parse_settings(spelled.substr(0, colon), settings, text);
  settings.finish();
  net.name = text;
  return net;
}

std::string known_architectures() {
  std::string names;
  for (const auto& [name, settings] : named()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace annulus
