// The table of named networks and the parser of explicit ones.
#include "annulus/vision/networks/architecture.h"

#include <charconv>
#include <map>
#include <optional>
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
      {"clip-vit-b/32", "clip:width=768,depth=12,heads=12,patch=32"},
      {"clip-vit-b/16", "clip:width=768,depth=12,heads=12,patch=16"},
      {"clip-vit-l/14", "clip:width=1024,depth=24,heads=16,patch=14"},
      {"openclip-vit-b/32", "clip:width=768,depth=12,heads=12,patch=32,activation=erf"},
      {"openclip-vit-b/16", "clip:width=768,depth=12,heads=12,patch=16,activation=erf"},
      {"openclip-vit-l/14", "clip:width=1024,depth=24,heads=16,patch=14,activation=erf"},
      {"clip-rn50", "clip-resnet:blocks=3-4-6-3,width=64,heads=32"},
      {"dinov3-vit-s/16", "dinov3:width=384,depth=12,heads=6,patch=16"},
      {"dinov3-vit-b/16", "dinov3:width=768,depth=12,heads=12,patch=16"},
      {"dinov3-vit-l/16", "dinov3:width=1024,depth=24,heads=16,patch=16"},
      {"siglip-b/16", "siglip:width=768,depth=12,heads=12,patch=16"},
      {"siglip-l/16", "siglip:width=1024,depth=24,heads=16,patch=16"},
      {"convnext-tiny", "convnext:blocks=3-3-9-3,width=96"},
      {"convnext-small", "convnext:blocks=3-3-27-3,width=96"},
      {"convnext-base", "convnext:blocks=3-3-27-3,width=128"},
      {"convnext-large", "convnext:blocks=3-3-27-3,width=192"},
      {"mobilenetv4-small", "mobilenetv4:image=224"},
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

std::optional<NetworkFamily> family_of(const std::string& word) {
  static const std::map<std::string, NetworkFamily> kFamilies = {
      {"vit", NetworkFamily::kVit},           {"resnet", NetworkFamily::kResnet},
      {"wrn", NetworkFamily::kWideResnet},    {"resnet12", NetworkFamily::kResnet12},
      {"clip", NetworkFamily::kClipVit},      {"clip-resnet", NetworkFamily::kClipResnet},
      {"dinov3", NetworkFamily::kDinov3Vit},  {"siglip", NetworkFamily::kSiglip},
      {"convnext", NetworkFamily::kConvnext}, {"mobilenetv4", NetworkFamily::kMobilenetV4},
  };
  const auto found = kFamilies.find(word);
  return found == kFamilies.end() ? std::nullopt : std::optional(found->second);
}

void parse_transformer(Architecture& net, Settings& settings, const std::string& whole) {
  net.width = settings.number("width", 384);
  net.depth = settings.number("depth", 12);
  net.heads = settings.number("heads", 6);
  net.patch = settings.number("patch", 16);
  if (net.width % net.heads != 0) {
    fail(ErrorKind::kUsage, "architecture {}: a width of {} cannot be split into {} heads", whole, net.width,
         net.heads);
  }
  if (net.family == NetworkFamily::kDinov3Vit && net.width / net.heads % 4 != 0) {
    fail(ErrorKind::kUsage, "architecture {}: rotary positions need heads of 4 n dimensions, found {}", whole,
         net.width / net.heads);
  }
  if (net.family == NetworkFamily::kSiglip) net.activation = Activation::kTanh;
  if (net.family == NetworkFamily::kClipVit) {
    const std::string word = settings.text("activation", "quick");
    if (word != "quick" && word != "erf") {
      fail(ErrorKind::kUsage, "architecture {}: expected activation=quick or erf, found \"{}\"", whole, word);
    }
    net.activation = word == "quick" ? Activation::kQuick : Activation::kErf;
  }
}

void parse_stages(Architecture& net, Settings& settings, const std::string& usual_blocks, int usual_width) {
  net.blocks = settings.four("blocks", usual_blocks);
  const int width = settings.number("width", usual_width);
  net.channels = {width, 2 * width, 4 * width, 8 * width};
}

Architecture parse_settings(NetworkFamily family, Settings& settings, const std::string& whole) {
  Architecture net;
  net.family = family;
  const bool episodes = family == NetworkFamily::kWideResnet || family == NetworkFamily::kResnet12;
  net.image_size = settings.number("image", episodes ? 80 : 224);
  if (net.is_transformer()) {
    parse_transformer(net, settings, whole);
  } else if (family == NetworkFamily::kResnet) {
    const std::string block = settings.text("block", "bottleneck");
    if (block != "basic" && block != "bottleneck") unknown(whole);
    net.bottleneck = block == "bottleneck";
    parse_stages(net, settings, "3-4-6-3", 64);
  } else if (family == NetworkFamily::kClipResnet) {
    net.bottleneck = true;
    parse_stages(net, settings, "3-4-6-3", 64);
    net.heads = settings.number("heads", 32);
    if (4 * net.channels[3] % net.heads != 0) {
      fail(ErrorKind::kUsage, "architecture {}: a width of {} cannot be split into {} heads", whole,
           4 * net.channels[3], net.heads);
    }
  } else if (family == NetworkFamily::kConvnext) {
    parse_stages(net, settings, "3-3-9-3", 96);
  } else if (family == NetworkFamily::kWideResnet) {
    net.depth = settings.number("depth", 28);
    const int width = settings.number("width", 16);
    const int widen = settings.number("widen", 10);
    net.channels = {width, width * widen, 2 * width * widen, 4 * width * widen};
    if ((net.depth - 4) % 6 != 0 || net.depth < 10) {
      fail(ErrorKind::kUsage, "architecture {}: the depth of a wide residual network is 6 n + 4, not {}", whole,
           net.depth);
    }
  } else if (family == NetworkFamily::kResnet12) {
    net.channels = settings.four("channels", "64-128-256-512");
  }
  return net;
}

}  // namespace

bool Architecture::is_transformer() const {
  return family == NetworkFamily::kVit || family == NetworkFamily::kClipVit || family == NetworkFamily::kDinov3Vit ||
         family == NetworkFamily::kSiglip;
}

const char* token_feature_word(TokenFeature feature) {
  constexpr const char* kWords[] = {"", "cls", "mean", "cls+mean"};
  return kWords[static_cast<std::size_t>(feature)];
}

TokenFeature parse_token_feature(const std::string& text) {
  for (const auto feature :
       {TokenFeature::kUsual, TokenFeature::kClass, TokenFeature::kMean, TokenFeature::kClassAndMean}) {
    if (text == token_feature_word(feature)) return feature;
  }
  fail_field(ErrorKind::kUsage, "feature", "expected {} to be cls, mean or cls+mean, found \"{}\"", text);
}

Architecture parse_architecture(const std::string& text) {
  const auto found = named().find(text);
  const std::string& spelled = found == named().end() ? text : found->second;
  const std::size_t colon = spelled.find(':');
  const auto family = family_of(spelled.substr(0, colon));
  if (colon == std::string::npos || !family) unknown(text);
  Settings settings(std::string_view(spelled).substr(colon + 1), text);
  Architecture net = parse_settings(*family, settings, text);
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
