// Model files: one safetensors file that holds a trained head and its record. Reading one executes nothing.
#pragma once

#include <filesystem>
#include <string>

#include "annulus/learn/model/model.h"
#include "annulus/store/files/mapped_file.h"

namespace annulus {

// Throws Error{kInput} for a model that could not be read back, Error{kIo} when the disk rejects. The file appears
// whole or not at all.
void write_model(const Model& model, const std::filesystem::path& path);

// The bytes of that file.
std::string model_bytes(const Model& model);

// Every number and name is checked: shapes agree, all finite, directions not zero, class names unique and as many as
// there are rows. Throws Error{kFormat} otherwise. Layout: docs/reference/file-formats.md.
Model read_model(const std::filesystem::path& path);
Model read_model(const FileBytes& bytes);

}  // namespace annulus
