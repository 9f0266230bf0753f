// Counts the arithmetic of transformers and residual networks, and times a matrix product.
#include "annulus/pipeline/backbones/backbone_cost.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/kernels/gemm.h"
#include "annulus/pipeline/backbones/backbone_store.h"

namespace annulus {
namespace {

constexpr double kResNet50 = 4.1;        // of an image of 224 pixels
constexpr double kResNetSize = 224.0;    // pixels of a side
constexpr double kPartOfProducts = 0.5;  // of the speed of a matrix product that a whole network reaches

// Width and depth of a vision transformer, and the side of its patches.
struct TransformerSize {
  double width = 0;
  double layers = 0;
  int patch = 0;
};

// "ViT-S/14", perhaps with more behind it; nothing: it names none of these.
std::optional<TransformerSize> transformer_size(const std::string& network) {
  constexpr std::size_t kLetter = 4;
  if (!network.starts_with("ViT-") || network.size() < kLetter + 3 || network[kLetter + 1] != '/') return std::nullopt;
  TransformerSize size;
  switch (network[kLetter]) {
    case 'S':
      size = {384, 12};
      break;
    case 'B':
      size = {768, 12};
      break;
    case 'L':
      size = {1024, 24};
      break;
    default:
      return std::nullopt;
  }
  std::from_chars(network.data() + kLetter + 2, network.data() + network.size(), size.patch);
  if (size.patch <= 0) return std::nullopt;
  return size;
}

double transformer_cost(const TransformerSize& size, double tokens) {
  const double products = 12.0 * size.width * size.width * tokens;  // queries, keys, values, output and the MLP's two
  const double attention = 2.0 * tokens * tokens * size.width;
  return 1e-9 * size.layers * (products + attention);
}

// Billions of multiplications and additions a second by one thread: the best of a few products.
double speed_of_products() {
  constexpr std::size_t kSide = 384;
  constexpr int kProducts = 5;
  const Matrix<float> a(kSide, kSide);
  const Matrix<float> b(kSide, kSide);
  Matrix<float> c(kSide, kSide);
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kProducts; ++run) {
    const SteadyTime start = now();
    gemm(Transpose::kNo, Transpose::kNo, 1.0F, a.view(), b.view(), 0.0F, c.view(), 1);
    least = std::min(least, seconds_since(start));
  }
  return 1e-9 * static_cast<double>(kSide * kSide * kSide) / least;
}

}  // namespace

double giga_multiply_adds(const BackboneEntry& entry) {
  if (const auto size = transformer_size(entry.network)) {
    const double side = std::floor(static_cast<double>(entry.image_size) / size->patch);
    return transformer_cost(*size, side * side + 1.0);
  }
  if (!entry.network.starts_with("ResNet-50")) return 0.0;
  const double scale = entry.image_size / kResNetSize;
  return kResNet50 * scale * scale;
}

double expected_seconds(const BackboneEntry& entry, std::size_t images, int threads) {
  const auto count = static_cast<double>(images) / (threads > 0 ? threads : hardware_threads());
  try {
    if (const double measured = read_backbone_record(entry.name).milliseconds; measured > 0.0) {
      return 1e-3 * measured * count;
    }
  } catch (const Error&) {  // a broken record is told of where it is used
  }
  return count * giga_multiply_adds(entry) / (kPartOfProducts * speed_of_products());
}

}  // namespace annulus
