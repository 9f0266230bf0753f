// Models as ONNX files, each compared with the library's own predictions before it gets its name.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "annulus/learn/model/model.h"
#include "annulus/pipeline/export/image_graph.h"

namespace annulus {

struct Encoder;

// Largest difference of probabilities and scores between ONNX Runtime and this library, for the same features; relative
// for scores beyond 1 and -1.
inline constexpr double kExportTolerance = 1e-5;
// The same from images on, where the two networks round differently; of backbones in half precision, kHalfTolerance.
inline constexpr double kImageTolerance = 1e-3;
inline constexpr double kHalfTolerance = 0.02;

struct OnnxExportReport {
  bool checked = false;
  std::size_t rows = 0;           // feature rows that were compared: support examples and random ones
  double difference = 0.0;        // the largest on those rows
  std::size_t images = 0;         // random images that were compared; 0 for a head alone
  double image_difference = 0.0;  // the largest on those, from pixels to probabilities
};

// The head alone: "X" to "label", "probabilities", "unknown_score" (docs/how-to/export.md). ONNX Runtime runs the file
// before it appears; if predictions differ by more than kExportTolerance, or a label differs, nothing is written and
// Error{kInternal} gives the difference. Throws Error{kUsage} if ONNX Runtime is missing and `check` is set.
OnnxExportReport export_onnx(const Model& model, const std::filesystem::path& path, bool check = true);

// Backbone and head in one file: "pixel_values" to the same and "features".
OnnxExportReport export_onnx(const Model& model, const ExportedEncoder& encoder, const std::filesystem::path& path,
                             bool check = true);
// All networks of an encoder. Throws Error{kInput} for random views, which a graph cannot make.
OnnxExportReport export_onnx(const Model& model, const Encoder& encoder, const std::filesystem::path& path,
                             bool check = true);
// How long that file will be. Costs what writing costs, without the check.
std::size_t onnx_file_bytes(const Model& model, const Encoder& encoder);

}  // namespace annulus
