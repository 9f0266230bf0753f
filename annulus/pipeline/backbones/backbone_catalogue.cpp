// Reads catalogues strictly: a field that is not known is more likely a slip than a wish.
#include "annulus/pipeline/backbones/backbone_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/pipeline/backbones/backbone_feature.h"
#include "annulus/pipeline/backbones/choose_backbone.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/files/whole_file.h"
#include "annulus/vision/networks/architecture.h"
#include "annulus/vision/preprocess/preprocess_recipe.h"

namespace annulus {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLargestCatalogue = std::size_t{4} << 20;
constexpr std::size_t kLongestName = 64;
constexpr double kLargestNumber = 1e15;  // below which a double holds every whole number

// The fields of one entry, each of which is taken once; what is left over at the end is not known.
class EntryReader {
 public:
  EntryReader(const Json& entry, std::string where) : entry_(entry), where_(std::move(where)) {
    if (!entry.is_object()) fail(ErrorKind::kFormat, "{}: expected an object, found {}", where_, entry.type_name());
  }

  void name_entry(const std::string& file, const std::string& name) {
    where_ = fmt::format("{}: entry {}", file, name);
  }

  [[noreturn]] void fault(std::string_view field, const std::string& sentence) const {
    fail(ErrorKind::kFormat, "{}: field \"{}\": {}", where_, field, sentence);
  }

  std::string required_text(const char* field) {
    std::string value = text(field);
    if (value.empty()) fault(field, "expected a text, found none");
    return value;
  }
  std::string text(const char* field) {
    const Json* value = take(field);
    if (value == nullptr) return {};
    if (!value->is_string()) fault(field, fmt::format("expected a text, found {}", value->type_name()));
    auto result = value->get<std::string>();
    if (std::any_of(result.begin(), result.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
      fault(field, "expected one line of text, found control characters");
    }
    return result;
  }
  std::string word(const char* field, const std::string& usual, std::initializer_list<const char*> known) {
    std::string value = text(field);
    if (value.empty()) value = usual;
    if (std::find(known.begin(), known.end(), value) == known.end()) {
      fault(field, fmt::format("expected one of {}, found \"{}\"", fmt::join(known, ", "), value));
    }
    return value;
  }
  double number(const char* field, double low, double high) {
    const Json* value = take(field);
    if (value == nullptr) return 0;
    const double result = value->is_number() ? value->get<double>() : NAN;
    if (!(result >= low && result <= high)) {
      fault(field, fmt::format("expected a number from {} to {}, found {}", low, high,
                               value->is_number() ? fmt::format("{}", result) : value->type_name()));
    }
    return result;
  }
  double whole(const char* field, double high) {
    const double result = number(field, 1, high);
    if (result != std::floor(result)) fault(field, fmt::format("expected a whole number, found {}", result));
    return result;
  }
  double required_whole(const char* field, double high) {
    if (!entry_.contains(field)) fault(field, "expected a whole number, found none");
    return whole(field, high);
  }
  bool flag(const char* field) {
    const Json* value = take(field);
    if (value == nullptr) return false;
    if (!value->is_boolean()) fault(field, fmt::format("expected true or false, found {}", value->type_name()));
    return value->get<bool>();
  }
  bool required_flag(const char* field) {
    if (!entry_.contains(field)) fault(field, "expected true or false, found none");
    return flag(field);
  }
  // A checksum of at least `least` digits.
  std::string checksum(const char* field, std::size_t least) {
    std::string value = text(field);
    if (value.empty()) return value;
    const bool digits = value.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!digits || value.size() < least || value.size() > 64) {
      fault(field, fmt::format("expected {} hexadecimal digits in small letters, found \"{}\"",
                               least == 64 ? "64" : fmt::format("{} to 64", least), value));
    }
    return value;
  }
  void finish() const {
    for (const auto& [field, value] : entry_.items()) {
      if (!taken_.contains(field)) fault(field, "there is no such field");
    }
  }

 private:
  const Json* take(const char* field) {
    taken_.insert(field);
    const auto found = entry_.find(field);
    return found == entry_.end() ? nullptr : &*found;
  }

  const Json& entry_;
  std::string where_;
  std::set<std::string> taken_;
};

bool is_http(const std::string& address) { return address.starts_with("https://") || address.starts_with("http://"); }

// The name becomes the name of files.
void check_name(const EntryReader& reader, const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_';
  });
  if (!plain || name.front() == '.' || name.front() == '-' || name.size() > kLongestName) {
    reader.fault("name", fmt::format("expected up to {} letters, digits, dots, dashes and underscores, found \"{}\"",
                                     kLongestName, name));
  }
}

void read_source(EntryReader& reader, BackboneEntry& entry) {
  entry.address = reader.text("address");
  entry.npm_item = reader.text("npm_item");
  entry.package = reader.text("package");
  entry.bytes = static_cast<std::uint64_t>(reader.whole("bytes", kLargestNumber));
  entry.megabytes = reader.number("megabytes", 0, kLargestNumber);
  entry.sha256 = reader.checksum("sha256", 8);
  entry.verified_by = reader.word("verified_by", entry.sha256.empty() ? "first download" : "publisher",
                                  {"publisher", "others", "first download"});
  entry.by_hand = reader.text("by_hand");
  if (entry.address.empty() == entry.npm_item.empty()) {
    reader.fault("address", "expected either an address or an npm_item");
  }
  if (!entry.address.empty() && !is_http(entry.address)) {
    reader.fault("address", fmt::format("expected https:// or http://, found \"{}\"", entry.address));
  }
  if (entry.npm_item.empty() && (entry.verified_by == "first download") != entry.sha256.empty()) {
    reader.fault("verified_by",
                 fmt::format("expected a sha256 with \"publisher\" and \"others\", and none with \"first "
                             "download\", found \"{}\"",
                             entry.verified_by));
  }
}

void read_import(EntryReader& reader, BackboneEntry& entry) {
  entry.format = reader.word("format", "checkpoint", {"checkpoint", "onnx", "tfjs"});
  entry.arch = reader.text("arch");
  entry.preprocess = reader.text("preprocess");
  entry.within = reader.text("within");
  entry.feature = reader.text("feature");
  entry.allow_inert_objects = reader.flag("allow_inert_objects");
  entry.onnx_sha256 = reader.checksum("onnx_sha256", 64);
  if (entry.format == "checkpoint" && entry.arch.empty()) {
    reader.fault("arch", "expected the architecture of the checkpoint, found none");
  }
  if (entry.format == "onnx" && entry.preprocess.empty()) {
    reader.fault("preprocess", "expected the preprocessing of the ONNX file, found none");
  }
  if ((entry.format == "tfjs") != !entry.npm_item.empty() || entry.npm_item.empty() != entry.onnx_sha256.empty()) {
    reader.fault("format", "expected tfjs with an npm_item and its onnx_sha256, and only there");
  }
  try {
    if (!entry.preprocess.empty()) recipe_from_text(entry.preprocess);
  } catch (const Error& error) {
    reader.fault("preprocess", error.what());
  }
}

BackboneEntry read_entry(const Json& json, std::size_t number, const std::string& where) {
  EntryReader reader(json, fmt::format("{}: entry {}", where, number));
  BackboneEntry entry;
  entry.name = reader.required_text("name");
  check_name(reader, entry.name);
  reader.name_entry(where, entry.name);
  entry.family = reader.required_text("family");
  entry.network = reader.required_text("network");
  entry.trained_on = reader.text("trained_on");
  entry.labels = reader.required_flag("labels");
  entry.dimension = static_cast<std::size_t>(reader.required_whole("dimension", 1 << 20));
  entry.image_size = static_cast<int>(reader.required_whole("image_size", 4096));
  entry.licence = reader.required_text("licence");
  entry.commercial_use = reader.required_flag("commercial_use");
  entry.gated = reader.flag("gated");
  entry.licence_address = reader.text("licence_address");
  read_source(reader, entry);
  read_import(reader, entry);
  entry.imagenet_accuracy = reader.number("imagenet_accuracy", 0, 100);
  entry.imagenet_measure = reader.text("imagenet_measure");
  entry.imagenet_source = reader.text("imagenet_source");
  if (entry.imagenet_accuracy > 0 && (entry.imagenet_measure.empty() || entry.imagenet_source.empty())) {
    reader.fault("imagenet_accuracy", "expected imagenet_measure and imagenet_source beside it");
  }
  entry.advice = reader.text("advice");
  reader.finish();
  return entry;
}

std::vector<BackboneEntry> load_catalogue() {
  std::vector<BackboneEntry> entries = parse_catalogue(kBackbonesText, "the catalogue of this program");
  const std::filesystem::path file = user_catalogue_file();
  std::error_code ignored;
  if (file.empty() || !std::filesystem::exists(file, ignored)) return entries;
  const WholeFile own = read_whole_file(file, kLargestCatalogue);
  for (BackboneEntry& entry : parse_catalogue(as_text(own.bytes), file.string())) {
    const auto same = std::find_if(entries.begin(), entries.end(),
                                   [&](const BackboneEntry& known) { return known.name == entry.name; });
    if (same == entries.end()) {
      entries.push_back(std::move(entry));
    } else {
      *same = std::move(entry);
    }
  }
  return entries;
}

// Letters to insert, remove or change.
std::size_t differences(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, change}));
    }
  }
  return row.back();
}

constexpr char kBeforeFeature = ':';
constexpr char kJoinsNames = '+';
constexpr TokenFeature kTokenFeatures[] = {TokenFeature::kClass, TokenFeature::kMean, TokenFeature::kClassAndMean};

std::string name_with_feature(std::string_view network, const std::string& feature) {
  return std::string(network) + kBeforeFeature + feature;
}

bool imports_transformer(const BackboneEntry& entry) {
  if (entry.format != "checkpoint") return false;
  try {
    return parse_architecture(entry.arch).is_transformer();
  } catch (const Error&) {
    return false;  // import_obstacle names it
  }
}

// Whether the feature is the one that the network has anyway.
bool is_own_feature(const BackboneEntry& network, TokenFeature feature) {
  const bool usual = network.feature.empty() && feature == TokenFeature::kClass && imports_transformer(network);
  return usual || network.feature == token_feature_word(feature);
}

BackboneEntry featured(const BackboneEntry& network, TokenFeature feature) {
  BackboneEntry entry = network;
  entry.feature = token_feature_word(feature);
  entry.name = name_with_feature(network.name, entry.feature);
  const bool halves = network.feature == token_feature_word(TokenFeature::kClassAndMean);
  entry.dimension = network.dimension / (halves ? 2 : 1) * (feature == TokenFeature::kClassAndMean ? 2 : 1);
  if (network.format == "onnx") entry.dimension = 0;  // tokens may be longer than what the file projects them to
  entry.imagenet_accuracy = 0;
  entry.imagenet_measure.clear();
  entry.imagenet_source.clear();
  entry.advice.clear();
  return entry;
}

std::map<std::string, BackboneEntry, std::less<>> make_featured() {
  std::map<std::string, BackboneEntry, std::less<>> entries;
  for (const BackboneEntry& network : known_backbones()) {
    for (const TokenFeature feature : kTokenFeatures) {
      BackboneEntry entry = is_own_feature(network, feature) ? network : featured(network, feature);
      entries.emplace(name_with_feature(network.name, token_feature_word(feature)), std::move(entry));
    }
  }
  return entries;
}

// One network or file, or kAutoBackbone.
std::string one_with_feature(const std::string& name, const std::string& feature) {
  const std::string_view network = network_of(name);
  const std::string featured_name = name_with_feature(network, feature);
  if (network == kAutoBackbone) return featured_name;
  if (const BackboneEntry* const entry = find_backbone(featured_name)) return entry->name;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(name, ignored)) return name;
  fail_field(ErrorKind::kUsage, "feature",
             "expected {} only with networks that annulus backbones lists, found the file {}, which has the feature "
             "that it was made with: annulus import makes one with another",
             name);
}

}  // namespace

std::vector<BackboneEntry> parse_catalogue(std::string_view text, const std::string& where) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    fail(ErrorKind::kFormat, "{}: expected JSON, found a fault: {}", where, error.what());
  }
  if (!json.is_object() || json.size() != 1 || !json.contains("backbones") || !json["backbones"].is_array()) {
    fail(ErrorKind::kFormat, "{}: expected an object with the one field \"backbones\", a list", where);
  }
  std::vector<BackboneEntry> entries;
  std::set<std::string> names;
  for (const Json& item : json["backbones"]) {
    entries.push_back(read_entry(item, entries.size() + 1, where));
    if (!names.insert(entries.back().name).second) {
      fail(ErrorKind::kFormat, "{}: entry {}: field \"name\": there is another entry of this name", where,
           entries.back().name);
    }
  }
  return entries;
}

std::filesystem::path user_catalogue_file() {
  const auto folder = [](const char* name) -> std::filesystem::path {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  std::filesystem::path config = folder("XDG_CONFIG_HOME");
  if (config.empty() && !folder("HOME").empty()) config = folder("HOME") / ".config";
  return config.empty() ? config : config / "annulus" / "backbones.json";
}

const std::vector<BackboneEntry>& known_backbones() {
  static const std::vector<BackboneEntry> kEntries = load_catalogue();
  return kEntries;
}

const BackboneEntry* find_backbone(std::string_view name) {
  const auto& known = known_backbones();
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const BackboneEntry& entry) { return entry.name == name; });
  if (found != known.end()) return &*found;
  const auto featured = featured_backbones().find(name);
  return featured == featured_backbones().end() ? nullptr : &featured->second;
}

std::string_view network_of(std::string_view name) { return name.substr(0, name.find(kBeforeFeature)); }

std::string_view feature_of(std::string_view name) {
  const std::size_t length = network_of(name).size();
  return length == name.size() ? std::string_view() : name.substr(length + 1);
}

const std::map<std::string, BackboneEntry, std::less<>>& featured_backbones() {
  static const std::map<std::string, BackboneEntry, std::less<>> kEntries = make_featured();
  return kEntries;
}

std::vector<std::string> split_joined(std::string_view text) {
  const std::string class_token = kBeforeFeature + std::string(token_feature_word(TokenFeature::kClass));
  std::vector<std::string> names;
  for (;;) {
    const std::size_t end = text.find(kJoinsNames);
    const std::string_view name = text.substr(0, end);
    if (!names.empty() && name == token_feature_word(TokenFeature::kMean) && names.back().ends_with(class_token)) {
      names.back() += kJoinsNames + std::string(name);
    } else {
      names.emplace_back(name);
    }
    if (end == std::string_view::npos) return names;
    text.remove_prefix(end + 1);
  }
}

std::string with_feature(const std::string& backbone, const std::string& feature) {
  if (feature.empty()) return backbone;
  parse_token_feature(feature);
  if (backbone.empty()) return name_with_feature(kAutoBackbone, feature);
  std::error_code ignored;
  if (std::filesystem::is_regular_file(backbone, ignored)) return one_with_feature(backbone, feature);
  std::string text;
  for (const std::string& name : split_joined(backbone)) {
    if (!text.empty()) text += kJoinsNames;
    text += one_with_feature(name, feature);
  }
  return text;
}

std::string nearest_backbone(std::string_view name) {
  constexpr std::size_t kNear = 3;
  std::string nearest;
  std::size_t fewest = kNear + 1;
  const std::string_view network = network_of(name);
  if (network.size() > kLongestName) return nearest;
  for (const BackboneEntry& entry : known_backbones()) {
    const std::size_t count = differences(network, entry.name);
    if (count >= fewest) continue;
    fewest = count;
    nearest = entry.name;
  }
  if (nearest.empty() || network.size() == name.size()) return nearest;
  const std::string featured = nearest + std::string(name.substr(network.size()));
  return featured_backbones().contains(featured) ? featured : with_feature(nearest, "mean");
}

std::string training_text(const BackboneEntry& entry) {
  return fmt::format("{}, {}", entry.trained_on.empty() ? "data that is not stated" : entry.trained_on,
                     entry.labels ? "with labels" : "without labels");
}

double download_megabytes(const BackboneEntry& entry) {
  return entry.bytes > 0 ? static_cast<double>(entry.bytes) / 1e6 : entry.megabytes;
}

}  // namespace annulus
