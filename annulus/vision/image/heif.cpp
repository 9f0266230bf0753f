// HEIC and AVIF through libheif, which decodes by libde265 and dav1d.
#include "annulus/vision/image/heif.h"

#include <libheif/heif.h>

#include <cstring>
#include <memory>
#include <string>

#include "annulus/base/error.h"
#include "annulus/vision/image/image_type.h"

namespace annulus {
namespace {

struct ReleaseHeif {
  void operator()(heif_context* context) const { heif_context_free(context); }
  void operator()(heif_image_handle* handle) const { heif_image_handle_release(handle); }
  void operator()(heif_image* image) const { heif_image_release(image); }
  void operator()(heif_decoding_options* options) const { heif_decoding_options_free(options); }
};
template <class Type>
using HeifPointer = std::unique_ptr<Type, ReleaseHeif>;

struct HeifSource {
  std::string_view format;  // "HEIC" or "AVIF"
  std::string_view name;    // of the file
};

void check(const heif_error& error, const HeifSource& source) {
  if (error.code == heif_error_Ok) return;
  if (error.subcode == heif_suberror_End_of_data) {
    fail(ErrorKind::kFormat, "{}: the {} file is truncated: its data ends before the last pixel", source.name,
         source.format);
  }
  if (error.subcode == heif_suberror_Unsupported_codec) {
    fail(ErrorKind::kFormat,
         "{}: the {} file holds pixels of a codec that this machine's libheif lacks: install the Debian packages "
         "libde265-0 (HEIC) and libdav1d6 (AVIF), or convert the file to JPEG",
         source.name, source.format);
  }
  std::string_view message = error.message;
  while (message.ends_with('\n') || message.ends_with('.')) message.remove_suffix(1);
  fail(ErrorKind::kFormat, "{}: the {} file cannot be decoded: {}", source.name, source.format, message);
}

void copy_rows(const heif_image* decoded, Image& image, const HeifSource& source) {
  int stride = 0;
  const std::uint8_t* plane = heif_image_get_plane_readonly(decoded, heif_channel_interleaved, &stride);
  if (plane == nullptr || stride < 0 || static_cast<std::size_t>(stride) < 3 * image.width) {
    fail(ErrorKind::kFormat, "{}: the {} file cannot be decoded: it gave no colours", source.name, source.format);
  }
  for (std::size_t y = 0; y < image.height; ++y) {
    std::memcpy(image.rows().row(y).data(), plane + y * static_cast<std::size_t>(stride), 3 * image.width);
  }
}

}  // namespace

DecodedImage decode_heif(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view name) {
  const HeifSource source{image_type_of(file) == ImageType::kAvif ? "AVIF" : "HEIC", name};
  const HeifPointer<heif_context> context(heif_context_alloc());
  const HeifPointer<heif_decoding_options> options(heif_decoding_options_alloc());
  if (!context || !options) fail(ErrorKind::kInternal, "{}: the HEIF library could not start", name);
  // Photos are decoded beside each other already.
  heif_context_set_max_decoding_threads(context.get(), 0);
  check(heif_context_read_from_memory_without_copy(context.get(), file.data(), file.size(), nullptr), source);
  heif_image_handle* found = nullptr;
  check(heif_context_get_primary_image_handle(context.get(), &found), source);
  const HeifPointer<heif_image_handle> handle(found);
  const auto size_of = [](int value) { return value < 0 ? std::size_t{0} : static_cast<std::size_t>(value); };
  check_image_size(size_of(heif_image_handle_get_width(handle.get())),
                   size_of(heif_image_handle_get_height(handle.get())), limits, source.format, name);

  options->convert_hdr_to_8bit = 1;
  options->strict_decoding = 1;
  heif_image* pixels = nullptr;
  const heif_error outcome =
      heif_decode_image(handle.get(), &pixels, heif_colorspace_RGB, heif_chroma_interleaved_RGB, options.get());
  const HeifPointer<heif_image> decoded(pixels);
  check(outcome, source);
  const std::size_t width = size_of(heif_image_get_width(pixels, heif_channel_interleaved));
  const std::size_t height = size_of(heif_image_get_height(pixels, heif_channel_interleaved));
  // The coded pictures may be of another size than the file states.
  check_image_size(width, height, limits, source.format, name);
  DecodedImage result{make_image(width, height), 1};
  copy_rows(pixels, result.image, source);
  return result;
}

}  // namespace annulus
