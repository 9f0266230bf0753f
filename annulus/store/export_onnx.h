// Models as ONNX files, each compared with this library's own answers before it gets its name.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "annulus/learn/model.h"
#include "annulus/vision/backbone.h"
#include "annulus/vision/preprocess_recipe.h"

namespace annulus {

// Largest difference of probabilities and scores between ONNX Runtime and this library, given the same features; of a
// score beyond 1 and -1 as a part of it.
inline constexpr double kExportTolerance = 1e-5;
// The same from images on, where the two networks round differently; of backbones in half precision, kHalfTolerance.
inline constexpr double kImageTolerance = 1e-3;
inline constexpr double kHalfTolerance = 0.02;

struct OnnxExportReport {
  bool checked = false;
  std::size_t rows = 0;           // feature rows that both were asked about: support rows and random ones
  double difference = 0.0;        // the largest on those rows
  std::size_t images = 0;         // random images that both were asked about; 0 for a head alone
  double image_difference = 0.0;  // the largest on those, from pixels to probabilities
};

// The head alone: "X" to "label", "probabilities", "unknown_score" (docs/export.md). The file is run by ONNX Runtime
// before it appears; when answers differ by more than kExportTolerance, or a label does, nothing is written and
// Error{kInternal} says by how much. Throws Error{kUsage} when ONNX Runtime is not to be had and `check` is asked for.
OnnxExportReport export_onnx(const Model& model, const std::filesystem::path& path, bool check = true);

struct ExportedEncoder {
  const Backbone& backbone;
  PreprocessRecipe recipe;  // that the model was trained with
  std::string name;         // of the backbone, for the record
};

// Backbone and head in one file: "pixel_values" to the same and "features".
OnnxExportReport export_onnx(const Model& model, const ExportedEncoder& encoder, const std::filesystem::path& path,
                             bool check = true);

}  // namespace annulus
