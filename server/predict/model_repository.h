// The models that are served, by name; each may be replaced while requests are answered.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "annulus/pipeline/encoder.h"
#include "annulus/store/files/whole_file.h"
#include "server/http/log.h"
#include "server/predict/metrics.h"
#include "server/predict/served_model.h"

namespace annulus::server {

struct ModelSource {
  std::string name;
  std::string file;
};

// "birds=model.safetensors" or a file, whose name without its ending is then the model's. Throws Error{kUsage} for a
// name that has a slash or control characters.
ModelSource model_source_of(const std::string& text);

class ModelRepository {
 public:
  // Reads every model and opens the backbones that they name, unless they are to take features only. A model whose
  // backbone cannot be opened takes features until it can, which is logged. Throws Error for a model that cannot be
  // read, Error{kUsage} for a name given twice.
  ModelRepository(const std::vector<ModelSource>& sources, const EncoderOptions& encoder, bool features_only,
                  Metrics& metrics, LogSink log, const ProgressCallback& progress);

  // "" is the first. Null when there is none of that name.
  std::shared_ptr<const ServedModel> find(const std::string& name) const;
  std::vector<std::shared_ptr<const ServedModel>> all() const;

  // Reads the file again. If that fails, or the new model cannot take images where the present one does, the present
  // one stays, and the error is logged and thrown.
  void load(const std::string& name);  // throws Error{kUsage} for an unknown name
  // Names of models that are to take images and cannot yet.
  std::vector<std::string> waiting() const;
  // Loads models whose file has changed and is the same as at the last call. Tries loads that failed and backbones that
  // are missing again: after a second, then after twice as long each time, up to a minute. Never throws.
  void load_changed();
  // Loads all. Never throws.
  void load_all();

 private:
  struct Entry {
    ModelSource source;
    std::shared_ptr<const ServedModel> model;
    FileIdentity loaded;
    FileIdentity seen;   // at the last check
    FileIdentity tried;  // at the last try to load it
    // Of a load that failed, or a model that waits for its backbone.
    std::chrono::seconds pause{1};
    std::chrono::steady_clock::time_point next_try{};
  };

  std::shared_ptr<const ServedModel> read(const ModelSource& source, FileIdentity& identity,
                                          const ProgressCallback& progress, bool needs_images);
  std::shared_ptr<const Encoder> encoder_of(const Model& model, const ModelSource& source,
                                            const ProgressCallback& progress);
  std::shared_ptr<const Encoder> encoder_or_null(const Model& model, const ModelSource& source,
                                                 const ProgressCallback& progress);
  void load_entry(std::size_t index);
  static void try_later(Entry& entry);
  void try_encoder(Entry& entry);

  EncoderOptions encoder_options_;
  bool features_only_;
  Metrics& metrics_;
  LogSink log_;
  std::mutex loading_;        // one at a time; guards encoders_ and the file identities
  mutable std::mutex mutex_;  // guards the pointers of entries_
  std::vector<Entry> entries_;
  // By the provenance of the models, which own them: one dies with the last model that uses it.
  std::map<std::string, std::weak_ptr<const Encoder>> encoders_;
};

}  // namespace annulus::server
