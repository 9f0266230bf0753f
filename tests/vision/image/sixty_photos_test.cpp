// Every format in every odd way that files come in: the right pixels or a sentence, each in a process of its own that
// is measured. Run with --gtest_output=xml to see the time and the memory of the worst.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "annulus/vision/image/image.h"
#include "tests/fixtures/hostile_images.h"
#include "tests/fixtures/image_fixtures.h"
#include "tests/fixtures/photo_fixtures.h"

namespace annulus {
namespace {

using photos::Picture;

// A file, and what must come of it: a picture by formula, Pillow's pixels, or a sentence.
struct Photo {
  std::string name;  // what the sentence calls it; the extension may be wrong
  std::string bytes;
  bool has_pixels = true;
  std::string words{};   // of the sentence, where it has none
  std::string pillow{};  // the file of tests/data/images whose pixels Pillow gave; empty: by formula
  Picture picture = Picture::kSmooth;
  int most = 0;  // difference of a value
  std::size_t width = 40;
  std::size_t height = 24;
};

std::string part(const std::string& bytes, std::size_t percent) {
  return bytes.substr(0, bytes.size() * percent / 100);
}

Photo by_pillow(const std::string& name) { return {name, hostile::fixture_text(name), true, {}, name}; }
Photo shown(const std::string& name, int most, Picture picture = Picture::kSmooth) {
  return {name, photos::text(name), true, {}, {}, picture, most};
}
Photo dot(const std::string& name, int most) {
  return {name, photos::text(name), true, {}, {}, Picture::kSmooth, most, 1, 1};
}
Photo named(Photo photo, const std::string& name) {
  photo.name = name;
  return photo;
}
Photo rejected(const std::string& name, const std::string& bytes, const std::string& words) {
  return {name, bytes, false, words};
}

std::string with_size(std::string file, const std::string& box, std::size_t at, const std::string& size) {
  for (std::size_t found = file.find(box); found != std::string::npos; found = file.find(box, found + 1)) {
    file.replace(found + at, size.size(), size);
  }
  return file;
}

// A picture of one blue pixel, or one that says it is larger.
std::string bmp(std::uint32_t side) {
  using hostile::number;
  return "BM" + number(58, 4, false) + number(0, 4, false) + number(54, 4, false) + number(40, 4, false) +
         number(side, 4, false) + number(side, 4, false) + number(1, 2, false) + number(24, 2, false) +
         std::string(24, '\0') + std::string("\xFF\0\0\0", 4);
}

std::string gif(std::uint16_t side) {
  return "GIF89a" + hostile::number(side, 2, false) + hostile::number(side, 2, false) + std::string("\x80\0\0", 3) +
         std::string("\0\0\0\xFF\xFF\xFF", 6) + std::string(",\0\0\0\0\1\0\1\0\0\x02\x02\x4C\x01\0;", 16);
}

void add(std::vector<Photo>& all, std::vector<Photo> more) { all.insert(all.end(), more.begin(), more.end()); }

std::vector<Photo> common_formats() {
  const std::string jpeg = hostile::fixture_text("jpeg_420.jpg");
  const std::string png = hostile::fixture_text("png_rgb_8.png");
  const std::string webp = hostile::fixture_text("webp_lossy.webp");
  std::vector<Photo> all;
  for (const char* const name :
       {"jpeg_420.jpg", "jpeg_1x1.jpg", "jpeg_cmyk.jpg", "jpeg_ycck.jpg", "jpeg_grey.jpg", "jpeg_progressive.jpg",
        "exif_6.jpg", "png_rgb_8.png", "png_1x1.png", "png_rgb_16_interlaced.png", "png_palette_4.png",
        "png_rgba_16.png", "exif_6.png", "webp_lossy.webp", "webp_1x1.webp", "webp_lossless_alpha.webp", "exif_3.webp",
        "webp_animated.webp"}) {
    all.push_back(by_pillow(name));
  }
  add(all, {rejected("cut.jpg", part(jpeg, 50), "truncated"), rejected("cut.png", part(png, 50), "truncated"),
            rejected("cut.webp", part(webp, 50), "WebP"),
            rejected("bomb.jpg", hostile::lying_jpeg(65500, 65500), "more than the limit"),
            rejected("bomb.png", hostile::lying_png(30000, 30000), "more than the limit"),
            rejected("bomb.webp", hostile::lying_webp(16384, 16384), "more than the limit"),
            named(by_pillow("png_rgba_8.png"), "a_png.jpg"), named(by_pillow("jpeg_444.jpg"), "a_jpeg.png"),
            named(by_pillow("webp_lossless.webp"), "a_webp.jpg")});
  return all;
}

std::vector<Photo> phone_formats() {
  const std::string large("\0\0\xEA\x60\0\0\xEA\x60", 8);
  std::vector<Photo> all = {shown("smooth.heic", 14),
                            shown("ten_bits.heic", 14),
                            shown("alpha.heic", 14),
                            shown("turned_6.heic", 20),
                            shown("lossless.heic", 1),
                            dot("pixel.heic", 2),
                            shown("grey.heic", 2, Picture::kRedOfSmooth),
                            shown("smooth.avif", 14),
                            shown("alpha.avif", 14),
                            shown("lossless.avif", 1),
                            dot("pixel.avif", 2),
                            named(shown("smooth.heic", 14), "a_heic.jpg"),
                            named(shown("smooth.avif", 14), "an_avif.jpg")};
  for (const std::string name : {"smooth.heic", "smooth.avif"}) {
    add(all, {rejected("cut_" + name, part(photos::text(name), 50), ""),
              rejected("bomb_" + name, with_size(photos::text(name), "ispe", 8, large), "")});
  }
  add(all, {shown("lossless.jxl", 0), shown("lossy.jxl", 30), shown("rgb16.jxl", 0), shown("alpha.jxl", 0),
            shown("jpeg_turned_6.jxl", 4), shown("grey.jxl", 0, Picture::kRedOfSmooth), dot("pixel.jxl", 0),
            named(shown("boxes.jxl", 0), "a_jxl.png"),
            rejected("cut.jxl", part(photos::text("lossless.jxl"), 50), "truncated"),
            // The header of 1 073 741 824 x 1 073 741 824 pixels.
            rejected("bomb.jxl", "\xFF\x0A" + std::string(14, '\xFE'), "")});
  return all;
}

std::vector<Photo> other_formats() {
  std::vector<Photo> all = {shown("lzw.tif", 0),
                            shown("rgb16.tif", 0),
                            shown("rgb16_big_endian.tif", 0),
                            shown("cmyk.tif", 0),
                            shown("alpha.tif", 0),
                            shown("turned_6.tif", 0),
                            shown("palette.tif", 0, Picture::kBlocks),
                            shown("grey16.tif", 0, Picture::kRedOfSmooth),
                            dot("pixel.tif", 0),
                            shown("named.jpg", 0),  // a TIFF file
                            shown("blocks.gif", 0, Picture::kBlocks),
                            shown("animated.gif", 0, Picture::kBlocks),
                            shown("transparent.gif", 0, Picture::kBlocks),
                            dot("pixel.gif", 0),
                            named(shown("blocks.gif", 0, Picture::kBlocks), "a_gif.jpeg"),
                            shown("preview.dng", 6),
                            shown("turned_6.dng", 6),
                            named(shown("preview.dng", 6), "a_raw.tif")};
  const std::string raw = photos::text("preview.dng");
  const Photo blue{"pixel.bmp", bmp(1), true, {}, {}, Picture::kSmooth, 0, 1, 1};
  add(all, {blue, named(blue, "a_bmp.jpg"), rejected("cut.tif", part(photos::text("rgb16.tif"), 50), "truncated"),
            rejected("bomb.tif", photos::text("huge.tif"), "more than the limit"),
            rejected("lying.tif", photos::text("lying.tif"), "truncated"),
            rejected("cut.gif", part(photos::text("blocks.gif"), 75), "truncated"),
            rejected("bomb.gif", gif(65535), "more than the limit"), rejected("lying.gif", gif(14000), "cannot hold"),
            rejected("cut.dng", raw.substr(0, raw.find("\xFF\xD8\xFF") + 300), "with a whole preview"),
            rejected("empty.dng", photos::text("no_preview.dng"), "export the photo as JPEG or TIFF"),
            rejected("cut.bmp", bmp(1).substr(0, 56), ""), rejected("bomb.bmp", bmp(60000), ""),
            rejected("empty.jpg", "", "found"), rejected("words.jpg", "this is no photo at all", "found text"),
            rejected("book.jpg", "%PDF-1.7 and so on", "a PDF document")});
  return all;
}

// What is wrong with the result; empty: nothing.
std::string fault_of(const Photo& photo, const std::map<std::string, nlohmann::json>& pillow) {
  try {
    const Image image = decode_image(std::as_bytes(std::span(photo.bytes)), {}, photo.name);
    if (!photo.has_pixels) return "it was decoded";
    if (!photo.pillow.empty()) {
      return pixel_digest(image) == pillow.at(photo.pillow)["rgb"] ? "" : "its pixels are not Pillow's";
    }
    if (image.width != photo.width || image.height != photo.height) return "its size is wrong";
    for (std::size_t i = 0; i < image.width * image.height; ++i) {
      const auto colour =
          photos::colour_at(photo.picture, static_cast<int>(i % image.width), static_cast<int>(i / image.width));
      for (std::size_t c = 0; c < 3; ++c) {
        if (std::abs(int{image.pixels[3 * i + c]} - colour[c]) > photo.most) return "its pixels are wrong";
      }
    }
    return {};
  } catch (const Error& error) {
    const std::string sentence = error.what();
    if (error.kind() != ErrorKind::kFormat || !sentence.starts_with(photo.name + ": ") ||
        sentence.find('\n') != std::string::npos) {
      return "no sentence: " + sentence;
    }
    const bool expected = !photo.has_pixels && sentence.find(photo.words) != std::string::npos;
    return expected ? "" : "another sentence: " + sentence;
  }
}

// One photo in a process of its own: what it says is wrong, and what it cost.
struct Trial {
  std::string fault;
  double seconds = 0;
  long kilobytes = 0;
};

Trial try_photo(const Photo& photo, const std::map<std::string, nlohmann::json>& pillow) {
  int ends[2];
  if (::pipe(ends) != 0) return {"no pipe"};
  const pid_t child = ::fork();
  if (child == 0) {
    // A process that works for longer than two seconds is ended.
    const rlimit two_seconds{2, 2};
    if (::setrlimit(RLIMIT_CPU, &two_seconds) != 0) ::_exit(2);
    const std::string fault = fault_of(photo, pillow);
    const bool told = ::write(ends[1], fault.data(), fault.size()) == static_cast<ssize_t>(fault.size());
    ::_exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  Trial trial;
  char block[512];
  for (ssize_t count = 0; (count = ::read(ends[0], block, sizeof(block))) > 0;) {
    trial.fault.append(block, static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) trial.fault += "the process ended badly";
  trial.seconds = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                  1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  trial.kilobytes = used.ru_maxrss;
  return trial;
}

TEST(SixtyPhotos, AreRightOrRejectedInASentenceWithinTwoSecondsAndAGigabyte) {
  std::map<std::string, nlohmann::json> pillow;
  const nlohmann::json manifest = fixture_manifest();
  for (const auto& entry : manifest["images"]) pillow[entry["file"]] = entry;
  std::vector<Photo> all = common_formats();
  add(all, phone_formats());
  add(all, other_formats());
  EXPECT_GE(all.size(), 60U);
  Trial worst;
  for (const Photo& photo : all) {
    const Trial trial = try_photo(photo, pillow);
    EXPECT_EQ(trial.fault, "") << photo.name;
    EXPECT_LT(trial.kilobytes, 1L << 20) << photo.name;
    worst.seconds = std::max(worst.seconds, trial.seconds);
    worst.kilobytes = std::max(worst.kilobytes, trial.kilobytes);
  }
  RecordProperty("photos", static_cast<int>(all.size()));
  RecordProperty("most_milliseconds", static_cast<int>(1000 * worst.seconds));
  RecordProperty("most_kilobytes", static_cast<int>(worst.kilobytes));
}

}  // namespace
}  // namespace annulus
