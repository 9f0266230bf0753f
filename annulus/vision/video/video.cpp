// Reads videos by libav from bytes alone: it opens no file, follows no reference and starts no thread.
#include "annulus/vision/video/video.h"

#include <algorithm>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/vision/video/video_type.h"

#if defined(ANNULUS_WITH_LIBAV)

#include <array>
#include <cmath>
#include <limits>

#include "annulus/base/clock.h"
#include "annulus/vision/image/exif.h"
#include "annulus/vision/video/libav_video.h"

namespace annulus {
namespace {

// What cameras, phones and editors write; others may be fetched from the network or made of text.
constexpr const char* kContainers = "mov,mp4,matroska,webm,avi,mpegts,mpeg,mpegvideo,flv,ogg,asf";
constexpr const char* kCodecs =
    "h264,hevc,vp8,vp9,libdav1d,av1,mpeg1video,mpeg2video,mpeg4,msmpeg4v1,msmpeg4v2,msmpeg4,mjpeg,theora,prores,h263,"
    "flv,"
    "wmv1,wmv2,wmv3,vc1,ffv1,dvvideo,rawvideo";
constexpr int kBufferBytes = 1 << 16;
constexpr double kTolerance = 0.0005;  // seconds: times in names have eight digits

std::string reason(int error) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(error, text.data(), text.size());
  return text.data();
}

// The orientation, as EXIF numbers it, of a rotation in degrees against the clock.
int orientation_of(double degrees) {
  const int turned = static_cast<int>(std::lround(degrees / 90.0)) & 3;
  return turned == 1 ? 8 : turned == 2 ? 3 : turned == 3 ? 6 : 1;
}

}  // namespace

class VideoReader::Decoder {
 public:
  Decoder(VideoBytes bytes, const VideoLimits& limits, std::string source)
      : bytes_(std::move(bytes)), limits_(limits), source_(std::move(source)) {
    static const bool kQuiet = [] {
      av_log_set_level(AV_LOG_QUIET);
      return true;
    }();
    static_cast<void>(kQuiet);
    start();
  }

  // Opens the file anew, at its first frame.
  void start() {
    codec_.reset();
    format_.reset();
    io_.reset();
    at_ = 0;
    last_ = -1;
    drained_ = false;
    awaits_key_ = false;
    open_container();
    open_codec();
  }

  // When each packet's frame is shown; see VideoReader::frame_times.
  std::vector<double> times() {
    std::vector<double> times;
    while (read_packet()) {
      if ((packet_->flags & AV_PKT_FLAG_DISCARD) == 0) {
        const std::int64_t shown = packet_->pts != AV_NOPTS_VALUE ? packet_->pts : packet_->dts;
        if (shown != AV_NOPTS_VALUE && seconds_of(shown) > -kTolerance) times.push_back(seconds_of(shown));
      }
      if (times.size() > limits_.max_packets) fail_because("it has too many frames");
      av_packet_unref(packet_.get());
    }
    std::sort(times.begin(), times.end());
    for (double& time : times) time = std::max(time, 0.0);
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
  }

  std::optional<VideoFrame> next() {
    if (!decode()) return std::nullopt;
    return VideoFrame{last_, picture()};
  }

  Image at(double seconds) {
    if (last_ > seconds - kTolerance || last_ < seconds - limits_.seek_beyond) seek(seconds);
    while (last_ < seconds - kTolerance) {
      if (!decode()) fail_because(fmt::format("it has no frame at {:.3f} s", seconds));
    }
    return picture();
  }

 private:
  [[noreturn]] void fail_because(const std::string& why) const {
    fail(ErrorKind::kFormat, "{}: the video cannot be read: {}", source_, why);
  }
  void check(int result) const {
    if (result < 0) fail_because(reason(result));
  }

  static int read_bytes(void* self, std::uint8_t* out, int count) {
    auto& decoder = *static_cast<Decoder*>(self);
    const std::size_t done =
        decoder.bytes_.read(decoder.at_, std::as_writable_bytes(std::span(out, static_cast<std::size_t>(count))));
    decoder.at_ += done;
    return done == 0 ? AVERROR_EOF : static_cast<int>(done);
  }
  static std::int64_t seek_bytes(void* self, std::int64_t offset, int whence) {
    auto& decoder = *static_cast<Decoder*>(self);
    const auto size = static_cast<std::int64_t>(decoder.bytes_.size);
    if ((whence & AVSEEK_SIZE) != 0) return size;
    const int from = whence & ~AVSEEK_FORCE;
    const std::int64_t base = from == SEEK_CUR ? static_cast<std::int64_t>(decoder.at_) : from == SEEK_END ? size : 0;
    if (offset > size || base + offset < 0) return AVERROR(EINVAL);
    decoder.at_ = static_cast<std::uint64_t>(base + offset);
    return base + offset;
  }
  // Files that a video refers to are not opened.
  static int refuse_to_open(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
    return AVERROR(EACCES);
  }

  void open_container() {
    io_.reset(avio_alloc_context(static_cast<unsigned char*>(av_malloc(kBufferBytes)), kBufferBytes, 0, this,
                                 read_bytes, nullptr, seek_bytes));
    AVFormatContext* context = avformat_alloc_context();
    context->pb = io_.get();
    context->io_open = refuse_to_open;
    context->format_whitelist = av_strdup(kContainers);
    context->codec_whitelist = av_strdup(kCodecs);
    context->max_streams = 64;
    context->probesize = 4 << 20;
    context->max_analyze_duration = 2 * AV_TIME_BASE;
    check(avformat_open_input(&context, nullptr, nullptr, nullptr));  // releases it where it fails
    format_.reset(context);
    check(avformat_find_stream_info(context, nullptr));
    stream_ = av_find_best_stream(context, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    if (stream_ < 0) fail_because("it holds no pictures of a known kind");
    for (unsigned i = 0; i < context->nb_streams; ++i) {
      if (static_cast<int>(i) != stream_) context->streams[i]->discard = AVDISCARD_ALL;
    }
    const AVStream& stream = *context->streams[stream_];
    unit_ = av_q2d(stream.time_base);
    origin_ = stream.start_time != AV_NOPTS_VALUE ? stream.start_time : 0;
    const auto* const matrix = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, nullptr);
    if (matrix != nullptr) {
      const double degrees = av_display_rotation_get(reinterpret_cast<const std::int32_t*>(matrix));
      orientation_ = std::isfinite(degrees) ? orientation_of(degrees) : 1;
    }
  }

  void open_codec() {
    const AVCodecParameters& parameters = *format_->streams[stream_]->codecpar;
    const AVCodec* const codec = avcodec_find_decoder(parameters.codec_id);
    if (codec == nullptr) fail_because("its pictures are of an unknown kind");
    codec_.reset(avcodec_alloc_context3(codec));
    check(avcodec_parameters_to_context(codec_.get(), &parameters));
    codec_->thread_count = 1;
    codec_->max_pixels = static_cast<std::int64_t>(limits_.max_pixels);
    codec_->codec_whitelist = av_strdup(kCodecs);
    codec_->pkt_timebase = format_->streams[stream_]->time_base;
    check(avcodec_open2(codec_.get(), codec, nullptr));
  }

  double seconds_of(std::int64_t stamp) const {
    return (static_cast<double>(stamp) - static_cast<double>(origin_)) * unit_;
  }

  // The next packet of the video; false at the end, and where nothing more can be read.
  bool read_packet() {
    for (;;) {
      if (av_read_frame(format_.get(), packet_.get()) < 0) return false;
      if (packet_->stream_index == stream_) return true;
      av_packet_unref(packet_.get());
    }
  }

  // The next frame into frame_, its time into last_; false at the end.
  bool decode() {
    const SteadyTime start_of_work = now();
    for (std::size_t lost = 0; lost < limits_.most_lost;) {
      const int received = avcodec_receive_frame(codec_.get(), frame_.get());
      if (received == 0) {
        if (use_frame()) return true;
        ++lost;
        continue;
      }
      if (received == AVERROR_EOF || drained_) return false;
      if (seconds_since(start_of_work) > limits_.most_seconds) break;
      ++lost;
      if (!read_packet()) {
        drained_ = true;
        avcodec_send_packet(codec_.get(), nullptr);
        continue;
      }
      awaits_key_ = awaits_key_ && (packet_->flags & AV_PKT_FLAG_KEY) == 0;
      if (!awaits_key_) avcodec_send_packet(codec_.get(), packet_.get());  // a damaged packet gives no frame
      av_packet_unref(packet_.get());
    }
    fail_because("its frames are damaged");
  }

  // Whether frame_ is whole, of a size that is allowed, and after the last one.
  bool use_frame() {
    const AVFrame& frame = *frame_;
    if (frame.width <= 0 || frame.height <= 0 || (frame.flags & (AV_FRAME_FLAG_CORRUPT | AV_FRAME_FLAG_DISCARD)) != 0) {
      return false;
    }
    if (static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height) > limits_.max_pixels) {
      fail_because(fmt::format("a frame has {} x {} pixels", frame.width, frame.height));
    }
    const std::int64_t stamp = frame.best_effort_timestamp;
    const double seconds = stamp != AV_NOPTS_VALUE ? seconds_of(stamp) : last_ + unit_;
    if (!std::isfinite(seconds) || seconds < -kTolerance) return false;
    last_ = std::max(seconds, 0.0);
    return true;
  }

  // Before the first frame at `seconds`, for decode() to come to it.
  void seek(double seconds) {
    const double stamp = seconds / unit_ + static_cast<double>(origin_);
    if (seconds > limits_.seek_beyond && std::abs(stamp) < 9e18 &&
        av_seek_frame(format_.get(), stream_, static_cast<std::int64_t>(stamp), AVSEEK_FLAG_BACKWARD) >= 0) {
      avcodec_flush_buffers(codec_.get());
      drained_ = false;
      last_ = -1;
      awaits_key_ = true;
      // Frames before the first whole one lean on others that were not read.
      bool found = false;
      while (!found && decode()) found = frame_->key_frame != 0;
      if (found && last_ < seconds + kTolerance) return;
    }
    start();
  }

  // frame_ as RGB, by the same operations on every processor.
  Image picture() {
    const AVFrame& frame = *frame_;
    const auto format = static_cast<AVPixelFormat>(frame.format);
    const Libav<SwsContext> scaler(
        sws_getContext(frame.width, frame.height, format, frame.width, frame.height, AV_PIX_FMT_RGB24,
                       SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP, nullptr,
                       nullptr, nullptr));
    if (!scaler) fail_because("its colours are of an unknown kind");
    constexpr int kHighDefinition = 720;  // videos without a record of their colours: by their size, as players do
    const int space = frame.colorspace != AVCOL_SPC_UNSPECIFIED
                          ? static_cast<int>(frame.colorspace)
                          : (frame.height >= kHighDefinition ? SWS_CS_ITU709 : SWS_CS_ITU601);
    const int* const table = sws_getCoefficients(space);
    constexpr int kOne = 1 << 16;
    sws_setColorspaceDetails(scaler.get(), table, frame.color_range == AVCOL_RANGE_JPEG ? 1 : 0, table, 1, 0, kOne,
                             kOne);
    Image image = make_image(static_cast<std::size_t>(frame.width), static_cast<std::size_t>(frame.height));
    const std::array<std::uint8_t*, 1> planes = {image.pixels.get()};
    const std::array<int, 1> strides = {3 * frame.width};
    if (sws_scale(scaler.get(), frame.data, frame.linesize, 0, frame.height, planes.data(), strides.data()) !=
        frame.height) {
      fail_because("its colours cannot be converted");
    }
    return orientation_ == 1 ? std::move(image) : turned_upright(image, orientation_);
  }

  VideoBytes bytes_;
  VideoLimits limits_;
  std::string source_;
  std::uint64_t at_ = 0;  // offset of the next byte to read
  Libav<AVIOContext> io_;
  Libav<AVFormatContext> format_;
  Libav<AVCodecContext> codec_;
  Libav<AVPacket> packet_{av_packet_alloc()};
  Libav<AVFrame> frame_{av_frame_alloc()};
  int stream_ = -1;
  int orientation_ = 1;
  double unit_ = 1;  // seconds of a stamp
  std::int64_t origin_ = 0;
  double last_ = -1;  // when frame_ is shown; below 0: there is none yet
  bool drained_ = false;
  bool awaits_key_ = false;  // packets are passed over until one that needs no other
};

VideoReader::VideoReader(VideoBytes bytes, const VideoLimits& limits, std::string source)
    : decoder_(std::make_unique<Decoder>(std::move(bytes), limits, std::move(source))) {}

std::vector<double> VideoReader::frame_times() {
  std::vector<double> times = decoder_->times();
  decoder_->start();
  return times;
}

std::optional<VideoFrame> VideoReader::next() { return decoder_->next(); }

Image VideoReader::at(double seconds) { return decoder_->at(seconds); }

#else

namespace annulus {

class VideoReader::Decoder {};

VideoReader::VideoReader(VideoBytes, const VideoLimits&, std::string source) { reject_missing_videos(source); }

std::vector<double> VideoReader::frame_times() { return {}; }
std::optional<VideoFrame> VideoReader::next() { return std::nullopt; }
Image VideoReader::at(double) { return {}; }

#endif

VideoReader::~VideoReader() = default;

}  // namespace annulus
