// Models by name, read from files that may change.
#include "server/model_repository.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/store/model_file.h"

namespace annulus::server {
namespace {

constexpr std::size_t kMaxModelBytes = std::size_t{8} << 30;
constexpr std::size_t kVersionDigits = 12;

std::string recorded(const Model& model, const char* key) {
  const auto found = model.provenance.find(key);
  return found == model.provenance.end() ? std::string() : found->second;
}

}  // namespace

ModelSource model_source_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  ModelSource source;
  if (equals != std::string::npos && text.substr(0, equals).find('/') == std::string::npos) {
    source = {text.substr(0, equals), text.substr(equals + 1)};
  } else {
    source = {std::filesystem::path(text).stem().string(), text};
  }
  const auto bad = [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20; };
  if (source.name.empty() || source.name == "." || source.name == ".." ||
      std::any_of(source.name.begin(), source.name.end(), bad)) {
    fail(ErrorKind::kUsage, "expected a model as FILE or NAME=FILE, found \"{}\"", text);
  }
  return source;
}

ModelRepository::ModelRepository(const std::vector<ModelSource>& sources, const EncoderOptions& encoder,
                                 Metrics& metrics, LogSink log, const ProgressCallback& progress)
    : encoder_options_(encoder), metrics_(metrics), log_(std::move(log)) {
  if (sources.empty()) fail(ErrorKind::kUsage, "expected a model to serve, found none");
  for (const ModelSource& source : sources) {
    for (const Entry& other : entries_) {
      if (other.source.name == source.name) {
        fail(ErrorKind::kUsage, "expected models of different names, found \"{}\" twice: name one NAME=FILE",
             source.name);
      }
    }
    Entry entry{source, nullptr, {}, {}};
    entry.model = read(source, entry.loaded, progress);
    entry.seen = entry.loaded;
    entries_.push_back(std::move(entry));
  }
}

std::shared_ptr<const Encoder> ModelRepository::encoder_of(const Model& model, const ModelSource& source,
                                                           const ProgressCallback& progress) {
  const std::string backbone = recorded(model, "backbone");
  if (backbone.empty() && encoder_options_.backbone.empty()) return nullptr;
  const std::string key =
      backbone + "\n" + recorded(model, "backbone_sha256") + "\n" + recorded(model, "preprocessing");
  auto& found = encoders_[key];
  if (!found) {
    try {
      auto encoder = std::make_shared<const Encoder>(open_encoder_of(model, source.file, encoder_options_, progress));
      if (encoder->backbone.dimension() != model.head.dimension()) {
        fail(ErrorKind::kInput, "expected a backbone of {} numbers an image, found {}", model.head.dimension(),
             encoder->backbone.dimension());
      }
      found = std::move(encoder);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kCancelled) throw;
      log_({LogLevel::kWarning, "features only", {{"model", source.name}, {"reason", std::string(error.what())}}});
      encoders_.erase(key);
      return nullptr;
    }
  }
  return found;
}

std::shared_ptr<const ServedModel> ModelRepository::read(const ModelSource& source, FileStamp& stamp,
                                                         const ProgressCallback& progress) {
  const WholeFile file = read_whole_file(source.file, kMaxModelBytes);
  stamp = file.stamp;
  Model model = read_model(FileBytes{file.bytes, nullptr, source.file});
  std::shared_ptr<const Encoder> encoder = encoder_of(model, source, progress);
  return std::make_shared<const ServedModel>(source.name, sha256_hex(file.bytes).substr(0, kVersionDigits),
                                             std::move(model), std::move(encoder));
}

std::shared_ptr<const ServedModel> ModelRepository::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  if (name.empty()) return entries_.front().model;
  for (const Entry& entry : entries_) {
    if (entry.source.name == name) return entry.model;
  }
  return nullptr;
}

std::vector<std::shared_ptr<const ServedModel>> ModelRepository::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const ServedModel>> models;
  for (const Entry& entry : entries_) models.push_back(entry.model);
  return models;
}

void ModelRepository::load_entry(std::size_t index) {
  Entry& entry = entries_[index];
  try {
    entry.loaded = stamp_of(entry.source.file);
    auto fresh = read(entry.source, entry.loaded, {});
    metrics_.reloaded(entry.source.name, true);
    log_({LogLevel::kInfo, "model loaded", {{"model", entry.source.name}, {"version", fresh->version()}}});
    const std::lock_guard lock(mutex_);
    // The old model dies with the last request that was asked of it, outside this lock.
    entry.model.swap(fresh);
  } catch (const std::exception& error) {
    metrics_.reloaded(entry.source.name, false);
    log_({LogLevel::kWarning, "model kept", {{"model", entry.source.name}, {"reason", std::string(error.what())}}});
    throw;
  }
}

void ModelRepository::load(const std::string& name) {
  const std::lock_guard lock(loading_);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].source.name == name) return load_entry(i);
  }
  fail(ErrorKind::kUsage, "there is no model named \"{}\"", name);
}

void ModelRepository::load_changed() {
  const std::lock_guard lock(loading_);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    try {
      const FileStamp now = stamp_of(entry.source.file);
      const bool settled = now == std::exchange(entry.seen, now);
      if (settled && now != entry.loaded) load_entry(i);
    } catch (const std::exception&) {
      // Missing for a moment, or told of already.
    }
  }
}

void ModelRepository::load_all() {
  const std::lock_guard lock(loading_);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    try {
      load_entry(i);
    } catch (const std::exception&) {
      // Told of already.
    }
  }
}

}  // namespace annulus::server
