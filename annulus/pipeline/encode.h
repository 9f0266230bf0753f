// Images to features by an encoder, whatever it is made of: one image, a list, a feature file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/pipeline/encoder.h"
#include "annulus/pipeline/extract.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/task/feature_set.h"
#include "annulus/vision/image/image.h"

namespace annulus {

// The feature row of one image; `source` names it in errors. Throws as extract_image does. Safe to call from several
// threads at once.
std::vector<float> encode_image(const Image& image, const std::string& source, const Encoder& encoder);
// The same from the bytes of a file. Throws Error{kFormat} for bytes that are no image.
std::vector<float> encode_image(std::span<const std::byte> file, const std::string& source, const Encoder& encoder,
                                const DecodeLimits& limits = {});

// extract_set, extract_to_cache and extract for an encoder: the same rows as encode_image gives, bit for bit. The cache
// holds each view by each network; images that one of them cannot use are left out. `computed` and `cached` of the
// report count views of images and networks. Rows of one network without further views are mapped from the cache,
// others are in memory. With options.view_examples every training example is a row for each view, which share a group.
FeatureSet encode_list(const ImageList& list, const std::string& source, const Encoder& encoder,
                       const ExtractOptions& options, ExtractReport& result, const ProgressCallback& progress = {});
ExtractReport encode_to_cache(const ImageList& list, const Encoder& encoder, const ExtractOptions& options,
                              const ProgressCallback& progress = {});
ExtractReport encode_to_file(const ImageList& list, const Encoder& encoder, const ExtractOptions& options,
                             const std::filesystem::path& output, const ProgressCallback& progress = {});

}  // namespace annulus
