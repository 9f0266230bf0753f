// Labels as keywords in XMP sidecars, files beside photos that digiKam, darktable and Lightroom read.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace annulus {

// `xmp` with these keywords in dc:subject. Keywords that an earlier call put there and that are not among them any more
// are removed; all else that the text holds, keywords of others too, stays. An empty text stands for a new sidecar.
// Throws Error{kFormat} that names `source` for a text that is not XMP.
std::string xmp_with_keywords(std::string_view xmp, std::span<const std::string> keywords, std::string_view source);

// The sidecar of a photo: photo.jpg.xmp or photo.xmp where one of them is there, in this order; else photo.jpg.xmp.
std::filesystem::path xmp_sidecar_of(const std::filesystem::path& photo);

// Writes the keywords into the photo's sidecar, whole or not at all. A photo without keywords gets no new sidecar.
// Returns whether a file was written: one that would not change is left alone. Throws Error{kIo} where there is no such
// photo or its folder cannot be written, Error{kFormat} as above.
bool write_xmp_keywords(const std::filesystem::path& photo, std::span<const std::string> keywords);

}  // namespace annulus
