// Models by name, read from files that may change.
#include "server/predict/model_repository.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/store/models/model_file.h"

namespace annulus::server {
namespace {

constexpr std::size_t kMaxModelBytes = std::size_t{8} << 30;
constexpr std::size_t kVersionDigits = 12;
constexpr std::chrono::seconds kFirstPause{1};
constexpr std::chrono::seconds kLongestPause{60};

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
                                 bool features_only, Metrics& metrics, LogSink log, const ProgressCallback& progress)
    : encoder_options_(encoder), features_only_(features_only), metrics_(metrics), log_(std::move(log)) {
  if (sources.empty()) fail(ErrorKind::kUsage, "expected a model to serve, found none");
  for (const ModelSource& source : sources) {
    for (const Entry& other : entries_) {
      if (other.source.name == source.name) {
        fail(ErrorKind::kUsage, "expected models of different names, found \"{}\" twice: name one NAME=FILE",
             source.name);
      }
    }
    Entry entry;
    entry.source = source;
    entry.model = read(source, entry.loaded, progress, false);
    entry.seen = entry.loaded;
    entries_.push_back(std::move(entry));
  }
}

std::shared_ptr<const Encoder> ModelRepository::encoder_of(const Model& model, const ModelSource& source,
                                                           const ProgressCallback& progress) {
  const std::string key =
      recorded(model, "backbone") + "\n" + recorded(model, "backbone_sha256") + "\n" + recorded(model, "preprocessing");
  std::erase_if(encoders_, [](const auto& entry) { return entry.second.expired(); });
  const auto found = encoders_.find(key);
  std::shared_ptr<const Encoder> encoder = found == encoders_.end() ? nullptr : found->second.lock();
  if (!encoder) {
    encoder = std::make_shared<const Encoder>(open_encoder_of(model, source.file, encoder_options_, progress));
  }
  if (encoder->dimension() != model.head.dimension()) {
    fail(ErrorKind::kInput, "expected a backbone of {} dimensions an image, found {}", model.head.dimension(),
         encoder->dimension());
  }
  encoders_[key] = encoder;
  return encoder;
}

std::shared_ptr<const Encoder> ModelRepository::encoder_or_null(const Model& model, const ModelSource& source,
                                                                const ProgressCallback& progress) {
  try {
    return encoder_of(model, source, progress);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCancelled) throw;
    log_({LogLevel::kWarning, "no images yet", {{"model", source.name}, {"reason", std::string(error.what())}}});
    return nullptr;
  }
}

std::shared_ptr<const ServedModel> ModelRepository::read(const ModelSource& source, FileIdentity& identity,
                                                         const ProgressCallback& progress, bool needs_images) {
  const WholeFile file = read_whole_file(source.file, kMaxModelBytes);
  identity = file.identity;
  Model model = read_model(FileBytes{file.bytes, nullptr, source.file});
  const bool takes_images =
      !features_only_ && !(recorded(model, "backbone").empty() && encoder_options_.backbone.empty());
  if (needs_images && !takes_images) {
    fail(ErrorKind::kInput, "{}: expected a model that takes images, as the one that is served, found one of features",
         source.file);
  }
  std::shared_ptr<const Encoder> encoder;
  if (takes_images) {
    encoder = needs_images ? encoder_of(model, source, progress) : encoder_or_null(model, source, progress);
  }
  const bool waits = takes_images && !encoder;
  return std::make_shared<const ServedModel>(source.name, sha256_hex(file.bytes).substr(0, kVersionDigits),
                                             std::move(model), std::move(encoder), waits);
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
    const FileIdentity now = identity_of(entry.source.file);
    if (now != std::exchange(entry.tried, now)) entry.pause = kFirstPause;
    FileIdentity identity;
    auto fresh = read(entry.source, identity, {}, entry.model->encoder() != nullptr);
    metrics_.reloaded(entry.source.name, true);
    log_({LogLevel::kInfo, "model loaded", {{"model", entry.source.name}, {"version", fresh->version()}}});
    entry.loaded = identity;
    entry.pause = kFirstPause;
    const std::lock_guard lock(mutex_);
    // The old model dies with the last request that uses it, outside this lock.
    entry.model.swap(fresh);
  } catch (const std::exception& error) {
    try_later(entry);
    metrics_.reloaded(entry.source.name, false);
    log_({LogLevel::kWarning, "model kept", {{"model", entry.source.name}, {"reason", std::string(error.what())}}});
    throw;
  }
}

void ModelRepository::try_later(Entry& entry) {
  entry.next_try = std::chrono::steady_clock::now() + entry.pause;
  entry.pause = std::min(2 * entry.pause, kLongestPause);
}

void ModelRepository::try_encoder(Entry& entry) {
  FileIdentity identity;
  try_later(entry);
  auto fresh = read(entry.source, identity, {}, false);
  if (fresh->waits_for_encoder()) return;
  log_({LogLevel::kInfo, "model loaded", {{"model", entry.source.name}, {"version", fresh->version()}}});
  entry.loaded = identity;
  const std::lock_guard lock(mutex_);
  entry.model.swap(fresh);
}

std::vector<std::string> ModelRepository::waiting() const {
  std::vector<std::string> names;
  for (const auto& model : all()) {
    if (model->waits_for_encoder()) names.push_back(model->name());
  }
  return names;
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
      const FileIdentity now = identity_of(entry.source.file);
      const bool settled = now == std::exchange(entry.seen, now);
      const bool due = std::chrono::steady_clock::now() >= entry.next_try;
      if (settled && now != entry.loaded && (due || now != entry.tried)) {
        load_entry(i);
      } else if (now == entry.loaded && entry.model->waits_for_encoder() && due) {
        try_encoder(entry);
      }
    } catch (const std::exception&) {
      // Missing for a moment, or reported already.
    }
  }
}

void ModelRepository::load_all() {
  const std::lock_guard lock(loading_);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    try {
      load_entry(i);
    } catch (const std::exception&) {
      // Reported already.
    }
  }
}

}  // namespace annulus::server
