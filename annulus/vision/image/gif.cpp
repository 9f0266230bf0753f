// GIF through giflib, record by record until the first frame is complete.
#include "annulus/vision/image/gif.h"

#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "annulus/base/error.h"

namespace annulus {
namespace {

// A code of 12 bits stands for at most 4096 pixels. Canvases that a frame leaves free cost no bytes: small ones may.
constexpr std::size_t kMaxGifPixelsPerByte = 4096;
constexpr std::size_t kFreeGifPixels = std::size_t{1} << 24;

struct ReleaseGif {
  void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};
using Gif = std::unique_ptr<GifFileType, ReleaseGif>;

int read_gif(GifFileType* gif, GifByteType* to, int size) {
  auto& left = *static_cast<std::span<const std::byte>*>(gif->UserData);
  const std::size_t count = std::min(left.size(), static_cast<std::size_t>(std::max(size, 0)));
  if (count != 0) std::memcpy(to, left.data(), count);
  left = left.subspan(count);
  return static_cast<int>(count);
}

[[noreturn]] void reject_gif(int code, bool at_end, std::string_view source) {
  if (at_end || code == D_GIF_ERR_READ_FAILED || code == D_GIF_ERR_EOF_TOO_SOON) {
    fail(ErrorKind::kFormat, "{}: the GIF file is truncated: its data ends before the last pixel", source);
  }
  const char* text = GifErrorString(code);
  fail(ErrorKind::kFormat, "{}: the GIF file cannot be decoded: {}", source,
       text == nullptr ? "its data is damaged" : text);
}

class FirstFrame {
 public:
  FirstFrame(std::span<const std::byte> file, std::string_view source)
      : size_(file.size()), left_(file), source_(source) {
    int code = 0;
    gif_.reset(DGifOpen(&left_, read_gif, &code));
    if (!gif_) reject_gif(code, left_.empty(), source_);
  }

  Image decode(const DecodeLimits& limits) {
    find();
    const GifImageDesc& frame = gif_->Image;
    const auto number = [](int value) { return static_cast<std::size_t>(std::max(value, 0)); };
    const std::size_t left = number(frame.Left);
    const std::size_t top = number(frame.Top);
    const std::size_t width = std::max(number(gif_->SWidth), left + number(frame.Width));
    const std::size_t height = std::max(number(gif_->SHeight), top + number(frame.Height));
    check_image_size(width, height, limits, "GIF", source_);
    const std::size_t stored =
        std::max(number(frame.Width) * number(frame.Height), width * height > kFreeGifPixels ? width * height : 0);
    if (stored / kMaxGifPixelsPerByte > size_) {
      fail(ErrorKind::kFormat, "{}: the GIF file is truncated: {} bytes cannot hold {} x {} pixels", source_, size_,
           width, height);
    }
    set_colours(frame);
    Image image = make_image(width, height);
    const auto& empty = colours_[transparent_.value_or(0)];
    for (std::size_t i = 0; i < width * height; ++i) std::copy(empty.begin(), empty.end(), &image.pixels[3 * i]);
    read_rows(image, left, top, number(frame.Width), number(frame.Height), limits);
    return image;
  }

 private:
  void check_gif(int result) {
    if (result != GIF_OK) reject_gif(gif_->Error, left_.empty(), source_);
  }

  // Reads up to the first frame; a control block in front of it may name a transparent colour.
  void find() {
    for (;;) {
      GifRecordType type = UNDEFINED_RECORD_TYPE;
      check_gif(DGifGetRecordType(gif_.get(), &type));
      if (type == IMAGE_DESC_RECORD_TYPE) return check_gif(DGifGetImageDesc(gif_.get()));
      if (type != EXTENSION_RECORD_TYPE) {
        fail(ErrorKind::kFormat, "{}: the GIF file cannot be decoded: it holds no frame", source_);
      }
      int kind = 0;
      GifByteType* block = nullptr;
      check_gif(DGifGetExtension(gif_.get(), &kind, &block));
      while (block != nullptr) {
        GraphicsControlBlock control{};
        if (kind == GRAPHICS_EXT_FUNC_CODE && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK &&
            control.TransparentColor >= 0 && control.TransparentColor < 256) {
          transparent_ = static_cast<std::size_t>(control.TransparentColor);
        }
        check_gif(DGifGetExtensionNext(gif_.get(), &block));
      }
    }
  }

  // Without a palette, and beyond its end, indices are grey levels.
  void set_colours(const GifImageDesc& frame) {
    for (std::size_t i = 0; i < colours_.size(); ++i) colours_[i].fill(static_cast<std::uint8_t>(i));
    const ColorMapObject* map = frame.ColorMap != nullptr ? frame.ColorMap : gif_->SColorMap;
    for (int i = 0; map != nullptr && i < std::min(map->ColorCount, 256); ++i) {
      colours_[static_cast<std::size_t>(i)] = {map->Colors[i].Red, map->Colors[i].Green, map->Colors[i].Blue};
    }
  }

  void read_rows(Image& image, std::size_t left, std::size_t top, std::size_t width, std::size_t height,
                 const DecodeLimits& limits) {
    // Interlaced frames give every 8th row first, then those between.
    static constexpr std::array<std::array<std::size_t, 2>, 4> kPasses = {{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
    std::vector<GifPixelType> row(width);
    const auto read = [&](std::size_t y) {
      check_decode_time(limits, source_);
      check_gif(DGifGetLine(gif_.get(), row.data(), static_cast<int>(width)));
      std::uint8_t* rgb = image.rows().row(top + y).data() + 3 * left;
      for (std::size_t x = 0; x < width; ++x) {
        std::copy(colours_[row[x]].begin(), colours_[row[x]].end(), rgb + 3 * x);
      }
    };
    if (width == 0) return;
    if (!gif_->Image.Interlace) {
      for (std::size_t y = 0; y < height; ++y) read(y);
      return;
    }
    for (const auto& [first, step] : kPasses) {
      for (std::size_t y = first; y < height; y += step) read(y);
    }
  }

  std::size_t size_;
  std::span<const std::byte> left_;
  std::string_view source_;
  Gif gif_;
  std::optional<std::size_t> transparent_;
  std::array<std::array<std::uint8_t, 3>, 256> colours_{};
};

}  // namespace

DecodedImage decode_gif(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source) {
  return {FirstFrame(file, source).decode(limits), 1};
}

}  // namespace annulus
