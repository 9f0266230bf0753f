// Decodes each file once and computes a few properties.
#include "annulus/store/images/image_inspection.h"

#include <array>
#include <cmath>

#include "annulus/base/error.h"
#include "annulus/base/parallel_progress.h"
#include "annulus/store/images/example_image.h"
#include "annulus/vision/image/thumbnail.h"

namespace annulus {
namespace {

constexpr std::size_t kCell = 4;  // pixels of the small picture per cell of the grid, each way
constexpr std::size_t kColumns = 9;
constexpr std::size_t kRows = 8;
constexpr std::size_t kWidth = kColumns * kCell;
constexpr std::size_t kHeight = kRows * kCell;

double brightness(const std::uint8_t* pixel) {
  return 0.299 * static_cast<double>(pixel[0]) + 0.587 * static_cast<double>(pixel[1]) +
         0.114 * static_cast<double>(pixel[2]);
}

void describe(const Image& image, ImageFacts& facts) {
  facts.width = image.width;
  facts.height = image.height;
  const Image small = shrink_image(image, kWidth, kHeight);
  std::array<double, kColumns * kRows> cells{};
  double sum = 0.0;
  double squares = 0.0;
  for (std::size_t y = 0; y < kHeight; ++y) {
    for (std::size_t x = 0; x < kWidth; ++x) {
      const double value = brightness(small.pixels.get() + 3 * (y * kWidth + x));
      cells[y / kCell * kColumns + x / kCell] += value;
      sum += value;
      squares += value * value;
    }
  }
  constexpr auto kPixels = static_cast<double>(kWidth * kHeight);
  facts.contrast = std::sqrt(std::max(0.0, squares / kPixels - (sum / kPixels) * (sum / kPixels)));
  for (std::size_t y = 0; y < kRows; ++y) {
    for (std::size_t x = 0; x + 1 < kColumns; ++x) {
      const std::size_t cell = y * kColumns + x;
      facts.look = facts.look << 1U | (cells[cell + 1] > cells[cell] ? 1U : 0U);
    }
  }
}

ImageFacts inspect(const std::string& path, ExampleImages& images) {
  ImageFacts facts;
  facts.path = path;
  try {
    const ExampleImage image = images.open(path);
    facts.sha256 = image.sha256();
    describe(image.image(), facts);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCancelled || error.kind() == ErrorKind::kInternal) throw;
    facts.error = error.what();
  }
  return facts;
}

}  // namespace

std::vector<ImageFacts> inspect_images(std::span<const std::string> paths, const DecodeOptions& options, int threads,
                                       const ProgressCallback& progress) {
  std::vector<ImageFacts> facts(paths.size());
  ExampleImages images(options);
  parallel_for_with_progress(threads, paths.size(), "look at images", progress,
                             [&](std::size_t i) { facts[i] = inspect(paths[i], images); });
  return facts;
}

}  // namespace annulus
