// The type of an image file, by its content, and the one list of the formats that are read.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace annulus {

enum class ImageType { kJpeg, kPng, kWebp, kHeic, kAvif, kTiff, kGif, kBmp, kJxl, kRaw };

// A format as people know it.
struct ImageFormat {
  ImageType type;
  std::string_view name;       // "JPEG XL"
  std::string_view extension;  // "jxl": what files of the format are called when the program names them
  std::string_view package;    // Debian's, of the library that a build needs to read it
};

// Every format, in the order of ImageType.
std::span<const ImageFormat> image_formats();

// "JPEG, PNG, ... or camera RAW": for sentences that say what was expected.
const std::string& image_format_names();

// Nothing for bytes that begin like none of them. Only the first bytes decide, except that a TIFF header may begin a
// camera's RAW file too: then the first directory is looked at.
std::optional<ImageType> image_type_of(std::span<const std::byte> file);

// "jpg", "png", ...
std::string_view extension_of(ImageType type);

// Whether `extension` is one that extension_of gives.
bool is_image_type_extension(std::string_view extension);

// Whether files of any of the formats are commonly called so: ".jpeg", ".heic", ".nef", ... in any case, with the dot.
// Says which files of a folder are looked at; what a file is, its content decides.
bool is_image_extension(std::string_view extension);

// Whether `extension`, as above, is that of a camera's RAW file.
bool is_raw_extension(std::string_view extension);

// Throws Error{kFormat} that says which package would bring a format that the build lacks; `source` names the file.
[[noreturn]] void reject_missing_format(ImageType type, std::string_view source);

}  // namespace annulus
