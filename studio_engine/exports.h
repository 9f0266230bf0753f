// What a project can be taken out as: the bytes of a file each.
#pragma once

#include <filesystem>
#include <string>

#include "annulus/pipeline/encoder.h"
#include "annulus/pipeline/export/export_web.h"
#include "studio_engine/analysis.h"
#include "studio_engine/model_trainer.h"
#include "studio_engine/thumbnails.h"

namespace annulus::studio {

enum class ExportKind { kModel, kOnnx, kCard, kReport, kWeb };

// From pixels to class names, checked against the model before it is written; `folder` keeps the file. Throws
// Error{kInternal} when the two differ.
std::string onnx_export(const Model& model, const Encoder& encoder, const std::filesystem::path& folder);

// A page for browsers as a zip archive of a folder of this name; `folder` keeps both. Throws as WebPage does.
std::string web_export(const WebPage& page, const std::string& name, const std::filesystem::path& folder);

// What may be wrong with the photos, as one HTML page with small pictures of them.
std::string report_export(const Findings& findings, Thumbnails& thumbnails);

}  // namespace annulus::studio
