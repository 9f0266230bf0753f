// HEIC and AVIF through libheif, which decodes by libde265 and dav1d.
#include "annulus/vision/image/heif.h"

#include <libheif/heif.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/vision/image/colour_profile.h"
#include "annulus/vision/image/image_type.h"

namespace annulus {
namespace {

struct ReleaseHeif {
  void operator()(heif_context* context) const { heif_context_free(context); }
  void operator()(heif_image_handle* handle) const { heif_image_handle_release(handle); }
  void operator()(heif_image* image) const { heif_image_release(image); }
  void operator()(heif_decoding_options* options) const { heif_decoding_options_free(options); }
  void operator()(heif_color_profile_nclx* colours) const { heif_nclx_color_profile_free(colours); }
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

// Colours are stated by an ICC profile, or by a number for the primaries and one for the curve. Curves of pictures with
// a high dynamic range are left alone.
std::vector<std::byte> profile_of(const heif_image_handle* handle) {
  const std::size_t size = heif_image_handle_get_raw_color_profile_size(handle);
  std::vector<std::byte> profile(size);
  if (size != 0 && heif_image_handle_get_raw_color_profile(handle, profile.data()).code == heif_error_Ok) {
    return profile;
  }
  heif_color_profile_nclx* found = nullptr;
  heif_image_handle_get_nclx_color_profile(handle, &found);
  const HeifPointer<heif_color_profile_nclx> colours(found);
  if (!colours || (colours->color_primaries != heif_color_primaries_SMPTE_EG_432_1 &&
                   colours->color_primaries != heif_color_primaries_ITU_R_BT_2020_2_and_2100_0)) {
    return {};
  }
  switch (colours->transfer_characteristics) {
    case heif_transfer_characteristic_ITU_R_BT_709_5:
    case heif_transfer_characteristic_unspecified:
    case heif_transfer_characteristic_ITU_R_BT_601_6:
    case heif_transfer_characteristic_IEC_61966_2_1:
    case heif_transfer_characteristic_ITU_R_BT_2020_2_10bit:
    case heif_transfer_characteristic_ITU_R_BT_2020_2_12bit:
      return profile_of_primaries({{{colours->color_primary_red_x, colours->color_primary_red_y},
                                    {colours->color_primary_green_x, colours->color_primary_green_y},
                                    {colours->color_primary_blue_x, colours->color_primary_blue_y},
                                    {colours->color_primary_white_x, colours->color_primary_white_y}}});
    default:
      return {};
  }
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
  DecodedImage result{make_image(width, height), 1, profile_of(handle.get())};
  copy_rows(pixels, result.image, source);
  return result;
}

}  // namespace annulus
