// JPEG XL through libjxl.
#include "annulus/vision/image/jxl.h"

#include <jxl/decode.h>
#include <jxl/parallel_runner.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/vision/image/colour_profile.h"

namespace annulus {
namespace {

struct ReleaseJxl {
  void operator()(JxlDecoder* decoder) const { JxlDecoderDestroy(decoder); }
};

// Of the pixels as they are given, which are in the file's colours or in sRGB.
std::vector<std::byte> profile_of(const JxlDecoder* decoder) {
  std::size_t size = 0;
  if (JxlDecoderGetICCProfileSize(decoder, nullptr, JXL_COLOR_PROFILE_TARGET_DATA, &size) != JXL_DEC_SUCCESS) return {};
  std::vector<std::byte> profile(std::min(size, kMaxProfileBytes));
  if (JxlDecoderGetColorAsICCProfile(decoder, nullptr, JXL_COLOR_PROFILE_TARGET_DATA,
                                     reinterpret_cast<std::uint8_t*>(profile.data()),
                                     profile.size()) != JXL_DEC_SUCCESS) {
    return {};
  }
  return profile;
}

[[noreturn]] void reject_jxl(std::string_view why, std::string_view source) {
  fail(ErrorKind::kFormat, "{}: the JPEG XL file cannot be decoded: {}", source, why);
}

// Runs the library's tasks, blocks of the picture, one after the other, until the deadline.
JxlParallelRetCode run_in_time(void* limits, void* library, JxlParallelRunInit begin, JxlParallelRunFunction task,
                               std::uint32_t first, std::uint32_t end) {
  if (const JxlParallelRetCode code = begin(library, 1); code != 0) return code;
  const SteadyTime deadline = static_cast<const DecodeLimits*>(limits)->deadline;
  for (std::uint32_t i = first; i < end; ++i) {
    if (deadline != SteadyTime::max() && now() >= deadline) return JXL_PARALLEL_RET_RUNNER_ERROR;
    task(library, i, 0);
  }
  return 0;
}

}  // namespace

DecodedImage decode_jxl(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source) {
  const std::unique_ptr<JxlDecoder, ReleaseJxl> owner(JxlDecoderCreate(nullptr));
  JxlDecoder* decoder = owner.get();
  DecodeLimits timed = limits;
  if (decoder == nullptr || JxlDecoderSetParallelRunner(decoder, run_in_time, &timed) != 0 ||
      JxlDecoderSubscribeEvents(decoder, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE) != 0 ||
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
      case JXL_DEC_COLOR_ENCODING:
        decoded.profile = profile_of(decoder);
        break;
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
        check_decode_time(limits, source);
        reject_jxl("its data is damaged or truncated", source);
    }
  }
}

}  // namespace annulus
