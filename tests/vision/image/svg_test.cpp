// Drawings come out as PNG pictures on white; damaged and greedy ones are errors, not crashes.
#include "annulus/vision/image/svg.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <string>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/vision/image/image.h"

namespace annulus {
namespace {

std::string svg(const std::string& body) {
  return R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">)" + body + "</svg>";
}

TEST(RenderSvg, DrawsOnWhiteAtTheSizeAsked) {
  const auto png = render_svg(svg(R"(<rect width="16" height="32" fill="#102030"/>)"), 64, "half");
  const Image image = decode_image(png, {}, "half");
  ASSERT_EQ(image.width, 64U);
  ASSERT_EQ(image.height, 64U);
  const auto pixel = [&](std::size_t x, std::size_t y) { return image.pixels.get() + 3 * (y * 64 + x); };
  EXPECT_EQ(pixel(10, 50)[0], 0x10);
  EXPECT_EQ(pixel(10, 50)[2], 0x30);
  EXPECT_EQ(pixel(50, 10)[0], 0xFF);
}

TEST(RenderSvg, RejectsWhatIsNoDrawing) {
  EXPECT_THROW(render_svg("", 64, "empty"), Error);
  EXPECT_THROW(render_svg("<svg", 64, "cut"), Error);
  EXPECT_THROW(render_svg("<html/>", 64, "html"), Error);
  EXPECT_THROW(render_svg(svg(""), 0, "no side"), Error);
  EXPECT_THROW(render_svg(svg(""), 100000, "huge side"), Error);
  EXPECT_THROW(render_svg(std::string(9 << 20, ' '), 64, "long"), Error);
}

// Filters of a million units, patterns of a millionth, gradients without end: a picture or an error, and little memory.
TEST(RenderSvg, GreedyDrawingsDoNotTakeTheMachineDown) {
  const std::string huge = R"(<filter id="f" x="-1e6" y="-1e6" width="2e6" height="2e6" filterUnits="userSpaceOnUse">)";
  const std::string shape = R"svg(<rect filter="url(#f)" fill="url(#p)" width="30" height="30"/>)svg";
  const auto largest_kilobytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const long before = largest_kilobytes();
  for (
      const std::string& body :
      {"<defs>" + huge + R"(<feGaussianBlur stdDeviation="1e5"/></filter></defs>)" + shape,
       "<defs>" + huge + R"(<feMorphology radius="1e5"/></filter></defs>)" + shape,
       R"(<defs><pattern id="p" width="1e-6" height="1e-6" patternUnits="userSpaceOnUse"><rect width="1" height="1"/></pattern></defs>)" +
           shape,
       R"(<image href="file:///etc/passwd" width="9" height="9"/>)" + shape}) {
    try {
      EXPECT_GT(render_svg(svg(body), 224, "greedy").size(), 100U);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kFormat);
    }
  }
  EXPECT_LT(largest_kilobytes() - before, 500'000);
}

TEST(RenderSvg, ThreadsDrawTheSame) {
  const std::string text = svg(R"(<circle cx="16" cy="16" r="11" fill="red"/>)");
  const auto expected = render_svg(text, 96, "circle");
  std::atomic<int> different{0};
  parallel_for(4, 32, [&](std::size_t) { different += render_svg(text, 96, "circle") != expected ? 1 : 0; });
  EXPECT_EQ(different.load(), 0);
}

}  // namespace
}  // namespace annulus
