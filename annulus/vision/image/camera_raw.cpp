// RAW files of cameras through LibRaw, which finds the preview; most are JPEG files.
#include "annulus/vision/image/camera_raw.h"

#include <libraw/libraw.h>

#include <cstring>
#include <memory>

#include "annulus/base/error.h"
#include "annulus/vision/image/jpeg.h"

namespace annulus {
namespace {

// LibRaw never allocates more than this at a time.
constexpr unsigned kMostRawMegabytes = 512;

void check_raw(int code, std::string_view source) {
  if (code == LIBRAW_SUCCESS) return;
  if (code == LIBRAW_NO_THUMBNAIL || code == LIBRAW_UNSUPPORTED_THUMBNAIL) {
    fail(ErrorKind::kFormat,
         "{}: expected a camera RAW file with a whole preview, found none: export the photo as JPEG or TIFF", source);
  }
  if (code == LIBRAW_FILE_UNSUPPORTED) {
    fail(
        ErrorKind::kFormat,
        "{}: the camera RAW file cannot be decoded: LibRaw {} does not know the camera, or the file is damaged; export "
        "the photo as JPEG or TIFF",
        source, LibRaw::version());
  }
  if (code == LIBRAW_IO_ERROR || code == LIBRAW_INPUT_CLOSED) {
    fail(ErrorKind::kFormat, "{}: the camera RAW file is truncated: its data ends before its preview does", source);
  }
  fail(ErrorKind::kFormat, "{}: the camera RAW file cannot be decoded: {}", source, libraw_strerror(code));
}

// LibRaw's way to say how the photo is to be turned, as an EXIF orientation.
int orientation_of_flip(int flip) {
  switch (flip) {
    case 3:
      return 3;
    case 5:
      return 8;
    case 6:
      return 6;
    default:
      return 1;
  }
}

}  // namespace

DecodedImage decode_camera_raw(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source) {
  const auto raw = std::make_unique<LibRaw>(LIBRAW_OPIONS_NO_DATAERR_CALLBACK);  // hundreds of kB
  raw->imgdata.params.max_raw_memory_mb = kMostRawMegabytes;
  // LibRaw never writes to the buffer.
  check_raw(raw->open_buffer(const_cast<std::byte*>(file.data()), file.size()), source);
  const libraw_thumbnail_t& preview = raw->imgdata.thumbnail;
  if (preview.twidth != 0 && preview.theight != 0) {
    check_image_size(preview.twidth, preview.theight, limits, "camera RAW", source);
  }
  check_raw(raw->unpack_thumb(), source);
  const int turned = orientation_of_flip(raw->imgdata.sizes.flip);
  if (preview.thumb == nullptr) check_raw(LIBRAW_NO_THUMBNAIL, source);
  if (preview.tformat == LIBRAW_THUMBNAIL_JPEG) {
    DecodedImage decoded = decode_jpeg(std::as_bytes(std::span(preview.thumb, preview.tlength)), limits, source);
    // Some previews state their own orientation, most leave that to the file.
    if (decoded.orientation == 1) decoded.orientation = turned;
    return decoded;
  }
  const std::size_t width = preview.twidth;
  const std::size_t height = preview.theight;
  check_image_size(width, height, limits, "camera RAW", source);
  if (preview.tformat != LIBRAW_THUMBNAIL_BITMAP || preview.tcolors != 3 || preview.tlength < 3 * width * height) {
    check_raw(LIBRAW_UNSUPPORTED_THUMBNAIL, source);
  }
  DecodedImage decoded{make_image(width, height), turned};
  std::memcpy(decoded.image.pixels.get(), preview.thumb, 3 * width * height);
  return decoded;
}

}  // namespace annulus
