// JPEG XL through libjxl.
#include "annulus/vision/image/jxl.h"

#include <jxl/decode.h>

#include <cstdint>
#include <memory>

#include "annulus/base/error.h"

namespace annulus {
namespace {

struct ReleaseJxl {
  void operator()(JxlDecoder* decoder) const { JxlDecoderDestroy(decoder); }
};

[[noreturn]] void reject_jxl(std::string_view why, std::string_view source) {
  fail(ErrorKind::kFormat, "{}: the JPEG XL file cannot be decoded: {}", source, why);
}

}  // namespace

DecodedImage decode_jxl(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source) {
  const std::unique_ptr<JxlDecoder, ReleaseJxl> owner(JxlDecoderCreate(nullptr));
  JxlDecoder* decoder = owner.get();
  if (decoder == nullptr || JxlDecoderSubscribeEvents(decoder, JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE) != 0 ||
      JxlDecoderSetInput(decoder, reinterpret_cast<const std::uint8_t*>(file.data()), file.size()) != 0) {
    fail(ErrorKind::kInternal, "{}: the JPEG XL library could not start", source);
  }
  // The input is not declared complete: the library would write to standard error when it wants more.
  const JxlPixelFormat format{3, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
  DecodedImage decoded;
  for (;;) {
    switch (JxlDecoderProcessInput(decoder)) {
      case JXL_DEC_BASIC_INFO: {
        JxlBasicInfo info;
        if (JxlDecoderGetBasicInfo(decoder, &info) != 0) reject_jxl("its header is damaged", source);
        check_image_size(info.xsize, info.ysize, limits, "JPEG XL", source);
        decoded.image = make_image(info.xsize, info.ysize);
        break;
      }
      case JXL_DEC_NEED_IMAGE_OUT_BUFFER: {
        std::size_t size = 0;
        Image& image = decoded.image;
        if (JxlDecoderImageOutBufferSize(decoder, &format, &size) != 0 || size != 3 * image.width * image.height ||
            JxlDecoderSetImageOutBuffer(decoder, &format, image.pixels.get(), size) != 0) {
          reject_jxl("its colours are not RGB or grey", source);
        }
        break;
      }
      case JXL_DEC_FULL_IMAGE:
        return decoded;
      case JXL_DEC_NEED_MORE_INPUT:
        fail(ErrorKind::kFormat, "{}: the JPEG XL file is truncated: its data ends before the last pixel", source);
      case JXL_DEC_SUCCESS:
        reject_jxl("it holds no picture", source);
      default:
        reject_jxl("its data is damaged or truncated", source);
    }
  }
}

}  // namespace annulus
