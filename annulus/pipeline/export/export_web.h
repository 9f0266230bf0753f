// Models as folders of static files that recognise photos in any browser: the model as ONNX with its backbone inside,
// ONNX Runtime for browsers, and a page that works without a network after the first visit.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/learn/model/model.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/pipeline/encoder.h"
#include "annulus/pipeline/export/export_onnx.h"

namespace annulus {

struct WebPageOptions {
  std::string title;                   // heading of the page and of the model card
  double false_reject = kFalseReject;  // fraction of known inputs that the page may call unknown
  bool check = true;                   // compare the ONNX file with the library's predictions
};

struct WebPageSize {
  std::size_t files = 0;
  std::size_t bytes = 0;          // of all files
  std::size_t model_bytes = 0;    // of these, the ONNX file
  std::size_t runtime_bytes = 0;  // and ONNX Runtime
};

// Throws Error{kIo} unless `folder` is missing, empty, or holds a page of an earlier export and nothing else.
void check_web_folder(const std::filesystem::path& folder);

// A page that is ready to be written. Model and encoder must outlive it.
class WebPage {
 public:
  // Downloads ONNX Runtime for browsers where the cache has none; throws Error{kIo} that says so where that fails, and
  // what export_onnx throws for encoders that cannot be in one file.
  WebPage(const Model& model, const Encoder& encoder, WebPageOptions options, const ProgressCallback& progress = {});

  // Exact, and known before anything is written.
  const WebPageSize& size() const { return size_; }

  // The folder appears whole or not at all. Throws as check_web_folder and export_onnx do.
  OnnxExportReport write(const std::filesystem::path& folder) const;

 private:
  std::string settings(std::size_t model_bytes) const;
  std::vector<std::string> names() const;

  const Model& model_;
  const Encoder& encoder_;
  WebPageOptions options_;
  std::filesystem::path runtime_;                           // folder of ONNX Runtime for browsers
  std::vector<std::pair<std::string, std::string>> texts_;  // name and content of what is neither model nor runtime
  WebPageSize size_;
};

}  // namespace annulus
