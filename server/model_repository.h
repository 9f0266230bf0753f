// The models that are served, by name; each may be replaced while requests are answered.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "annulus/store/encoder.h"
#include "annulus/store/whole_file.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/served_model.h"

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
  // Reads every model and opens the backbones that they name; a model whose backbone cannot be opened takes features
  // only, which is logged. Throws Error for a model that cannot be read, Error{kUsage} for a name given twice.
  ModelRepository(const std::vector<ModelSource>& sources, const EncoderOptions& encoder, Metrics& metrics, LogSink log,
                  const ProgressCallback& progress);

  // "" is the first. Null when there is none of that name.
  std::shared_ptr<const ServedModel> find(const std::string& name) const;
  std::vector<std::shared_ptr<const ServedModel>> all() const;

  // Reads the file again. When that fails the model that was there stays, the fault is logged and thrown.
  void load(const std::string& name);  // throws Error{kUsage} for an unknown name
  // Loads those whose file has changed and has then stayed as it is since the last call. Never throws.
  void load_changed();
  // Loads all. Never throws.
  void load_all();

 private:
  struct Entry {
    ModelSource source;
    std::shared_ptr<const ServedModel> model;
    FileStamp loaded;  // or tried in vain
    FileStamp seen;    // at the last look
  };

  std::shared_ptr<const ServedModel> read(const ModelSource& source, FileStamp& stamp,
                                          const ProgressCallback& progress);
  std::shared_ptr<const Encoder> encoder_of(const Model& model, const ModelSource& source,
                                            const ProgressCallback& progress);
  void load_entry(std::size_t index);

  EncoderOptions encoder_options_;
  Metrics& metrics_;
  LogSink log_;
  std::mutex loading_;        // one at a time; guards encoders_ and stamps
  mutable std::mutex mutex_;  // guards the pointers of entries_
  std::vector<Entry> entries_;
  std::map<std::string, std::shared_ptr<const Encoder>> encoders_;  // by what the models' records say
};

}  // namespace annulus::server
