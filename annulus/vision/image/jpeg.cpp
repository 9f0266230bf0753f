// JPEG through the libjpeg interface of libjpeg-turbo: accurate DCT and smooth chroma upsampling, its defaults.
#include "annulus/vision/image/jpeg.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

// jpeglib.h needs <cstdio> before it, jerror.h needs jpeglib.h.
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "annulus/base/error.h"

namespace annulus {
namespace {

// Progressive files carry some 10 scans; each scan of a hostile one costs a pass over the whole image, so that small
// images may have more than DecodeLimits allows of large ones.
constexpr int kMaxScans = 100;
// Huffman-coded data spends at least a bit on a block of 64 pixels (half of that for odd sampling factors).
constexpr std::size_t kMaxPixelsPerByte = 1024;
// Arithmetic coding has no such bound, and its decoder invents zeros where the data ends: this allows blank pages.
constexpr std::size_t kMaxArithmeticPixelsPerByte = 65536;

// libjpeg reports by callbacks and leaves by longjmp. Every function below that calls setjmp holds no object with a
// destructor, and what changes after setjmp lives in this class.
class JpegFile {
 public:
  explicit JpegFile(const DecodeLimits& limits) : limits_(limits) {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr info) { of(info)->leave(); };
    errors_.output_message = [](j_common_ptr) {};
    errors_.emit_message = [](j_common_ptr info, int level) {
      if (level < 0 && loses_pixels(info->err->msg_code)) of(info)->leave();
    };
    info_.client_data = this;
  }
  ~JpegFile() {
    std::free(profile_);
    jpeg_destroy_decompress(&info_);
  }
  JpegFile(const JpegFile&) = delete;
  JpegFile& operator=(const JpegFile&) = delete;

  // Both return false with message() set when the file is rejected.
  bool read_header(std::span<const std::byte> file) {
    if (setjmp(jump_) != 0) return false;
    jpeg_create_decompress(&info_);
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_save_markers(&info_, JPEG_APP0 + 1, 0xFFFF);
    jpeg_save_markers(&info_, JPEG_APP0 + 2, 0xFFFF);
    jpeg_read_header(&info_, TRUE);
    // Without a profile, or with a damaged one, it stays empty.
    if (jpeg_read_icc_profile(&info_, &profile_, &profile_bytes_) == FALSE) profile_bytes_ = 0;
    return true;
  }

  bool start(J_COLOR_SPACE colours) {
    if (setjmp(jump_) != 0) return false;
    const std::size_t pixels = std::size_t{info_.image_width} * info_.image_height;
    const std::size_t affordable = limits_.max_scans_of_largest * limits_.max_pixels / pixels;
    most_scans_ = static_cast<int>(std::min<std::size_t>(kMaxScans, affordable));
    progress_.progress_monitor = [](j_common_ptr info) { of(info)->keep_to_budget(); };
    info_.progress = &progress_;
    info_.out_color_space = colours;
    jpeg_start_decompress(&info_);
    return true;
  }

  // Reads the next rows into row_pointers and returns how many were read; 0 when the file is rejected.
  std::size_t read_rows(std::uint8_t** row_pointers, std::size_t count) {
    if (setjmp(jump_) != 0) return 0;
    return jpeg_read_scanlines(&info_, row_pointers, static_cast<JDIMENSION>(count));
  }

  const jpeg_decompress_struct& info() const { return info_; }
  std::span<const std::byte> profile() const {
    return std::as_bytes(std::span(profile_, profile_ == nullptr ? 0 : profile_bytes_));
  }
  std::string message() const { return message_.data(); }
  bool is_late() const { return late_; }
  bool is_cut_short() const { return info_.err->msg_code == JWRN_JPEG_EOF; }

 private:
  static JpegFile* of(j_common_ptr info) { return static_cast<JpegFile*>(info->client_data); }

  static bool loses_pixels(int code) {
    return code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE ||
           code == JWRN_ARITH_BAD_CODE || code == JWRN_MUST_RESYNC;
  }

  // Called for every row of blocks of every scan.
  void keep_to_budget() {
    late_ = limits_.deadline != SteadyTime::max() && now() >= limits_.deadline;
    if (!late_ && info_.input_scan_number <= most_scans_) return;
    std::snprintf(message_.data(), message_.size(), "more than %d scans of its size", most_scans_);
    std::longjmp(jump_, 1);
  }

  [[noreturn]] void leave() {
    info_.err->format_message(reinterpret_cast<j_common_ptr>(&info_), message_.data());
    std::longjmp(jump_, 1);
  }

  const DecodeLimits& limits_;
  int most_scans_ = kMaxScans;
  bool late_ = false;
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  JOCTET* profile_ = nullptr;
  unsigned profile_bytes_ = 0;
  std::jmp_buf jump_{};
  std::array<char, JMSG_LENGTH_MAX> message_{};
};

[[noreturn]] void reject(const JpegFile& jpeg, const DecodeLimits& limits, std::string_view source) {
  if (jpeg.is_late()) check_decode_time(limits, source);
  if (jpeg.is_cut_short()) {
    fail(ErrorKind::kFormat, "{}: the JPEG file is truncated: its data ends before the last pixel", source);
  }
  fail(ErrorKind::kFormat, "{}: the JPEG file cannot be decoded: {}", source, jpeg.message());
}

int orientation_of(const jpeg_decompress_struct& info) {
  for (const jpeg_marker_struct* marker = info.marker_list; marker != nullptr; marker = marker->next) {
    if (marker->data_length >= 6 && std::memcmp(marker->data, "Exif\0", 5) == 0) {
      return exif_orientation(std::as_bytes(std::span(marker->data, marker->data_length)));
    }
  }
  return 1;
}

// CMYK as Adobe writes it, 255 for no ink, to RGB with the roundings of Pillow's own conversion.
void convert_cmyk_row(const std::uint8_t* cmyk, std::size_t width, std::uint8_t* rgb) {
  for (std::size_t x = 0; x < width; ++x) {
    const unsigned light = cmyk[4 * x + 3];
    for (std::size_t c = 0; c < 3; ++c) {
      const unsigned product = (255U - cmyk[4 * x + c]) * light + 128U;
      rgb[3 * x + c] = static_cast<std::uint8_t>(light - ((product + (product >> 8)) >> 8));
    }
  }
}

void read_rgb(JpegFile& jpeg, Image& image, const DecodeLimits& limits, std::string_view source) {
  std::array<std::uint8_t*, 16> pointers{};
  std::size_t y = 0;
  while (y < image.height) {
    const std::size_t count = std::min(pointers.size(), image.height - y);
    for (std::size_t i = 0; i < count; ++i) pointers[i] = image.rows().row(y + i).data();
    const std::size_t read = jpeg.read_rows(pointers.data(), count);
    if (read == 0) reject(jpeg, limits, source);
    y += read;
  }
}

void read_cmyk(JpegFile& jpeg, Image& image, const DecodeLimits& limits, std::string_view source) {
  std::vector<std::uint8_t> row(4 * image.width);
  std::uint8_t* pointer = row.data();
  for (std::size_t y = 0; y < image.height; ++y) {
    if (jpeg.read_rows(&pointer, 1) == 0) reject(jpeg, limits, source);
    convert_cmyk_row(row.data(), image.width, image.rows().row(y).data());
  }
}

}  // namespace

DecodedImage decode_jpeg(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source) {
  JpegFile jpeg(limits);
  if (!jpeg.read_header(file)) reject(jpeg, limits, source);
  const std::size_t width = jpeg.info().image_width;
  const std::size_t height = jpeg.info().image_height;
  check_image_size(width, height, limits, "JPEG", source);
  const std::size_t most = jpeg.info().arith_code ? kMaxArithmeticPixelsPerByte : kMaxPixelsPerByte;
  if (width * height / most > file.size()) {
    fail(ErrorKind::kFormat, "{}: the JPEG file is truncated: {} bytes cannot hold {} x {} pixels", source, file.size(),
         width, height);
  }
  const int components = jpeg.info().num_components;
  if (components != 1 && components != 3 && components != 4) {
    fail(ErrorKind::kFormat, "{}: expected a JPEG with 1, 3 or 4 colour components, found {}", source, components);
  }
  if (!jpeg.start(components == 4 ? JCS_CMYK : JCS_RGB)) reject(jpeg, limits, source);

  DecodedImage decoded{make_image(width, height), orientation_of(jpeg.info())};
  if (components == 4) {
    read_cmyk(jpeg, decoded.image, limits, source);
  } else {
    read_rgb(jpeg, decoded.image, limits, source);
    decoded.profile.assign(jpeg.profile().begin(), jpeg.profile().end());
  }
  return decoded;
}

}  // namespace annulus
