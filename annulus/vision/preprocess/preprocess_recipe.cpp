// Presets of preprocessing and their one-line text form.
#include "annulus/vision/preprocess/preprocess_recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr std::size_t kMaxSide = 8192;

template <class Value>
struct Word {
  std::string_view text;
  Value value;
};
constexpr std::array kInterpolations = {Word<Interpolation>{"bicubic", Interpolation::kBicubic},
                                        Word<Interpolation>{"bilinear", Interpolation::kBilinear}};
constexpr std::array kScalings = {
    Word<ValueScaling>{"unit", ValueScaling::kUnit}, Word<ValueScaling>{"signed", ValueScaling::kSigned},
    Word<ValueScaling>{"mean-std", ValueScaling::kMeanStd}, Word<ValueScaling>{"subtract", ValueScaling::kSubtract}};
constexpr std::array kChannelOrders = {Word<ChannelOrder>{"rgb", ChannelOrder::kRgb},
                                       Word<ChannelOrder>{"bgr", ChannelOrder::kBgr}};
constexpr std::array kLayouts = {Word<ChannelLayout>{"nchw", ChannelLayout::kNchw},
                                 Word<ChannelLayout>{"nhwc", ChannelLayout::kNhwc}};
constexpr std::array kExifWords = {Word<bool>{"apply", true}, Word<bool>{"ignore", false}};
constexpr std::array kProfileWords = {Word<bool>{"srgb", true}, Word<bool>{"ignore", false}};

constexpr std::array<std::string_view, 9> kKeys = {"resize", "interpolation", "crop",   "values", "mean",
                                                   "std",    "channels",      "layout", "exif"};
// These may be missing.
constexpr std::string_view kProfileKey = "profile";
constexpr std::string_view kMarginKey = "margin";
constexpr double kMostMargin = 10.0;

template <class Words, class Value>
std::string_view word_of(const Words& words, Value value) {
  for (const auto& word : words) {
    if (word.value == value) return word.text;
  }
  fail(ErrorKind::kInternal, "a preprocessing field holds the unknown value {}", static_cast<int>(value));
}

template <class Words>
auto value_of(const Words& words, std::string_view key, std::string_view text) {
  std::vector<std::string_view> known;
  for (const auto& word : words) {
    if (word.text == text) return word.value;
    known.push_back(word.text);
  }
  fail(ErrorKind::kUsage, "preprocessing {}={}: expected one of {}", key, text, fmt::join(known, ", "));
}

std::size_t side_from(std::string_view key, std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > kMaxSide) {
    fail(ErrorKind::kUsage, "preprocessing {}: expected a length of 1 to {} pixels, found \"{}\"", key, kMaxSide, text);
  }
  return value;
}

// "224" is 224x224.
std::pair<std::size_t, std::size_t> sides_from(std::string_view key, std::string_view text) {
  const std::size_t cross = text.find('x');
  const std::size_t width = side_from(key, text.substr(0, cross));
  return {width, cross == std::string_view::npos ? width : side_from(key, text.substr(cross + 1))};
}

std::array<float, 3> numbers_from(std::string_view key, std::string_view text) {
  std::array<float, 3> numbers{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    const bool last = i + 1 == numbers.size();
    if (error != std::errc() || (last ? next != end : next == end || *next != ',')) {
      fail(ErrorKind::kUsage, "preprocessing {}: expected three numbers with commas between, found \"{}\"", key, text);
    }
    at = next + 1;
  }
  return numbers;
}

double margin_from(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0.0 && value <= kMostMargin)) {
    fail(ErrorKind::kUsage, "preprocessing {}: expected a fraction of a box from 0 to {}, found \"{}\"", kMarginKey,
         kMostMargin, text);
  }
  return value;
}

void set_resize(PreprocessRecipe& recipe, std::string_view text) {
  constexpr std::string_view kShorter = "shorter:";
  recipe.resize_width = recipe.resize_height = 0;
  if (text == "none") {
    recipe.resize = ResizeMode::kNone;
  } else if (text.starts_with(kShorter)) {
    recipe.resize = ResizeMode::kShorterSide;
    recipe.resize_width = side_from("resize", text.substr(kShorter.size()));
  } else {
    recipe.resize = ResizeMode::kExact;
    std::tie(recipe.resize_width, recipe.resize_height) = sides_from("resize", text);
  }
}

void set_field(PreprocessRecipe& recipe, std::string_view key, std::string_view value) {
  if (key == "resize") {
    set_resize(recipe, value);
  } else if (key == "interpolation") {
    recipe.interpolation = value_of(kInterpolations, key, value);
  } else if (key == "crop") {
    std::tie(recipe.crop_width, recipe.crop_height) =
        value == "none" ? std::pair<std::size_t, std::size_t>{0, 0} : sides_from(key, value);
  } else if (key == "values") {
    recipe.scaling = value_of(kScalings, key, value);
  } else if (key == "mean") {
    recipe.mean = numbers_from(key, value);
  } else if (key == "std") {
    recipe.std = numbers_from(key, value);
  } else if (key == "channels") {
    recipe.channels = value_of(kChannelOrders, key, value);
  } else if (key == "layout") {
    recipe.layout = value_of(kLayouts, key, value);
  } else if (key == "exif") {
    recipe.apply_exif = value_of(kExifWords, key, value);
  } else if (key == kProfileKey) {
    recipe.to_srgb = value_of(kProfileWords, key, value);
  } else if (key == kMarginKey) {
    recipe.box_margin = margin_from(value);
  } else {
    fail(ErrorKind::kUsage, "preprocessing: \"{}\" is not a field; expected one of {}, {}, {}", key,
         fmt::join(kKeys, ", "), kProfileKey, kMarginKey);
  }
}

bool uses_mean(ValueScaling scaling) { return scaling == ValueScaling::kMeanStd || scaling == ValueScaling::kSubtract; }
bool uses_std(ValueScaling scaling) { return scaling == ValueScaling::kMeanStd; }

void check_complete(const PreprocessRecipe& recipe, const std::set<std::string_view>& seen, std::string_view text) {
  for (const std::string_view key : kKeys) {
    if ((key == "mean" && !uses_mean(recipe.scaling)) || (key == "std" && !uses_std(recipe.scaling))) continue;
    if (!seen.contains(key)) {
      fail(ErrorKind::kUsage, "preprocessing \"{}\": expected a preset's name first or a value for {}", text, key);
    }
  }
}

PreprocessRecipe square(std::size_t side, Interpolation interpolation) {
  PreprocessRecipe recipe;
  recipe.resize = ResizeMode::kExact;
  recipe.resize_width = recipe.resize_height = side;
  recipe.crop_width = recipe.crop_height = 0;
  recipe.interpolation = interpolation;
  return recipe;
}

PreprocessRecipe shorter_and_crop(std::size_t shorter, std::size_t crop, Interpolation interpolation) {
  PreprocessRecipe recipe;
  recipe.resize_width = shorter;
  recipe.crop_width = recipe.crop_height = crop;
  recipe.interpolation = interpolation;
  return recipe;
}

PreprocessRecipe with_mean_std(PreprocessRecipe recipe, std::array<float, 3> mean, std::array<float, 3> std) {
  recipe.scaling = ValueScaling::kMeanStd;
  recipe.mean = mean;
  recipe.std = std;
  return recipe;
}

PreprocessRecipe with_imagenet_values(const PreprocessRecipe& recipe) {
  return with_mean_std(recipe, {0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F});
}

PreprocessRecipe with_scaling(PreprocessRecipe recipe, ValueScaling scaling) {
  recipe.scaling = scaling;
  return recipe;
}

PreprocessRecipe keras_caffe() {
  PreprocessRecipe recipe = shorter_and_crop(256, 224, Interpolation::kBicubic);
  recipe.scaling = ValueScaling::kSubtract;
  recipe.mean = {123.68F, 116.779F, 103.939F};
  recipe.channels = ChannelOrder::kBgr;
  return recipe;
}

const std::vector<std::pair<std::string, PreprocessRecipe>>& presets() {
  static const auto* const kPresets = [] {
    const PreprocessRecipe standard = shorter_and_crop(256, 224, Interpolation::kBicubic);
    return new std::vector<std::pair<std::string, PreprocessRecipe>>{
        {"imagenet", with_imagenet_values(standard)},
        {"imagenet-bilinear", with_imagenet_values(shorter_and_crop(256, 224, Interpolation::kBilinear))},
        {"clip", with_mean_std(shorter_and_crop(224, 224, Interpolation::kBicubic),
                               {0.48145466F, 0.4578275F, 0.40821073F}, {0.26862954F, 0.26130258F, 0.27577711F})},
        {"keras-caffe", keras_caffe()},
        {"unit", with_scaling(standard, ValueScaling::kUnit)},
        {"signed", with_scaling(standard, ValueScaling::kSigned)},
        {"square-224", with_imagenet_values(square(224, Interpolation::kBicubic))},
        {"episode-84", with_imagenet_values(shorter_and_crop(92, 84, Interpolation::kBilinear))},
        {"episode-80", with_imagenet_values(square(80, Interpolation::kBilinear))},
        {"episode-32", with_imagenet_values(square(32, Interpolation::kBilinear))},
    };
  }();
  return *kPresets;
}

std::optional<PreprocessRecipe> find_preset(std::string_view name) {
  for (const auto& [known, recipe] : presets()) {
    if (known == name) return recipe;
  }
  return std::nullopt;
}

}  // namespace

void check_recipe(const PreprocessRecipe& recipe) {
  if ((recipe.crop_width == 0) != (recipe.crop_height == 0)) {
    fail(ErrorKind::kUsage, "preprocessing: expected a crop with two sides, found {} x {}", recipe.crop_width,
         recipe.crop_height);
  }
  if (recipe.crop_width == 0 && recipe.resize != ResizeMode::kExact) {
    fail(ErrorKind::kUsage,
         "preprocessing: without a crop every image must be resized to a fixed size (resize=224x224)");
  }
  const bool resizes = recipe.resize != ResizeMode::kNone;
  const bool exact = recipe.resize == ResizeMode::kExact;
  if ((resizes && recipe.resize_width == 0) || (exact && recipe.resize_height == 0) ||
      std::max({recipe.resize_width, recipe.resize_height, recipe.crop_width, recipe.crop_height}) > kMaxSide) {
    fail(ErrorKind::kUsage, "preprocessing: expected lengths of 1 to {} pixels, found resize {} x {} and crop {} x {}",
         kMaxSide, recipe.resize_width, recipe.resize_height, recipe.crop_width, recipe.crop_height);
  }
  for (std::size_t c = 0; c < 3; ++c) {
    if (!std::isfinite(recipe.mean[c]) || !std::isfinite(recipe.std[c]) || recipe.std[c] <= 0.0F) {
      fail(ErrorKind::kUsage, "preprocessing: expected a finite mean and a std above 0, found mean {} and std {}",
           recipe.mean[c], recipe.std[c]);
    }
  }
  if (!(recipe.box_margin >= 0.0 && recipe.box_margin <= kMostMargin)) {
    fail_field(ErrorKind::kUsage, "crop_margin", "expected {} to be a fraction of a box from 0 to {}, found {}",
               kMostMargin, recipe.box_margin);
  }
}

std::string to_text(const PreprocessRecipe& recipe) {
  check_recipe(recipe);
  std::string text = "resize=";
  if (recipe.resize == ResizeMode::kNone) text += "none";
  if (recipe.resize == ResizeMode::kShorterSide) text += fmt::format("shorter:{}", recipe.resize_width);
  if (recipe.resize == ResizeMode::kExact) text += fmt::format("{}x{}", recipe.resize_width, recipe.resize_height);
  text += fmt::format(" interpolation={}", word_of(kInterpolations, recipe.interpolation));
  text += recipe.crop_width == 0 ? " crop=none" : fmt::format(" crop={}x{}", recipe.crop_width, recipe.crop_height);
  text += fmt::format(" values={}", word_of(kScalings, recipe.scaling));
  if (uses_mean(recipe.scaling)) text += fmt::format(" mean={}", fmt::join(recipe.mean, ","));
  if (uses_std(recipe.scaling)) text += fmt::format(" std={}", fmt::join(recipe.std, ","));
  text += fmt::format(" channels={} layout={} exif={}", word_of(kChannelOrders, recipe.channels),
                      word_of(kLayouts, recipe.layout), word_of(kExifWords, recipe.apply_exif));
  if (recipe.to_srgb) text += fmt::format(" {}={}", kProfileKey, word_of(kProfileWords, recipe.to_srgb));
  if (recipe.box_margin != 0.0) text += fmt::format(" {}={}", kMarginKey, recipe.box_margin);
  return text;
}

PreprocessRecipe recipe_from_text(std::string_view text) {
  PreprocessRecipe recipe;
  std::set<std::string_view> seen;
  bool from_preset = false;
  for (std::size_t at = 0, word_number = 0; at < text.size(); ++word_number) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      if (word_number != 0) {
        fail(ErrorKind::kUsage, "preprocessing: expected key=value after the first word, found \"{}\"", word);
      }
      recipe = preprocess_preset(word);
      from_preset = true;
      continue;
    }
    const std::string_view key = word.substr(0, equals);
    set_field(recipe, key, word.substr(equals + 1));
    if (!seen.insert(key).second) fail(ErrorKind::kUsage, "preprocessing: {} is given twice", key);
  }
  if (!from_preset) check_complete(recipe, seen, text);
  if (!uses_mean(recipe.scaling)) recipe.mean = {0, 0, 0};
  if (!uses_std(recipe.scaling)) recipe.std = {1, 1, 1};
  check_recipe(recipe);
  return recipe;
}

PreprocessRecipe preprocess_preset(std::string_view name) {
  if (const auto recipe = find_preset(name)) return *recipe;
  fail(ErrorKind::kUsage, "preprocessing \"{}\" is not known; expected one of {}", name,
       fmt::join(preprocess_preset_names(), ", "));
}

std::vector<std::string> preprocess_preset_names() {
  std::vector<std::string> names;
  for (const auto& preset : presets()) names.push_back(preset.first);
  return names;
}

}  // namespace annulus
