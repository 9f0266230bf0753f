// Joins folding, planning, ranging and rewriting.
#include "annulus/pipeline/backbones/int8_quantization.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/vision/onnx/onnx_network.h"
#include "annulus/vision/quantize/fold_constants.h"
#include "annulus/vision/quantize/int8_plan.h"

namespace annulus {
namespace {

// The first line names the way that networks are made int8 of; another way gets another number.
constexpr std::string_view kStart = "int8 1, weights of ";
constexpr std::string_view kEnd = " bits\n";

}  // namespace

int usual_weight_bits() {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("avx512vnni") ? 8 : 7;
#else
  return 8;
#endif
}

std::string quantization_to_text(const Quantization& quantization) {
  return fmt::format("{}{}{}{}", kStart, quantization.weight_bits, kEnd, ranges_to_text(quantization.ranges));
}

Quantization quantization_from_text(const std::string& text, const std::string& source) {
  Quantization quantization;
  const bool starts = text.starts_with(kStart) && text.size() > kStart.size();
  const char bits = starts ? text[kStart.size()] : '0';
  if ((bits != '7' && bits != '8') || !std::string_view(text).substr(kStart.size() + 1).starts_with(kEnd)) {
    fail(ErrorKind::kFormat, "{}: expected \"{}7{}\" or 8 and ranges, found \"{}\"", source, kStart,
         kEnd.substr(0, kEnd.size() - 1), text.substr(0, 40));
  }
  quantization.weight_bits = bits - '0';
  quantization.ranges = ranges_from_text(text.substr(kStart.size() + 1 + kEnd.size()), source);
  return quantization;
}

RangeRun::RangeRun(std::span<const std::byte> file, const std::string& source) {
  OnnxNetwork network = OnnxNetwork::read(file, source);
  fold_constants(network);
  Int8Plan plan = plan_int8(network);
  collector_ = std::make_unique<RangeCollector>(network, std::move(plan.ranged));
}

void RangeRun::add(std::span<const float> image, std::size_t height, std::size_t width) {
  collector_->add(image, height, width);
}

ActivationRanges RangeRun::ranges() const { return collector_->ranges(); }

void write_int8(std::span<const std::byte> file, const std::string& source, const std::string& float32_sha256,
                const Quantization& quantization, const std::function<void(std::span<const std::byte>)>& sink) {
  OnnxNetwork network = OnnxNetwork::read(file, source);
  fold_constants(network);
  make_int8(network, plan_int8(network), quantization.ranges, {quantization.weight_bits});
  network.metadata.emplace_back("annulus.precision", "int8");
  network.metadata.emplace_back("annulus.float32_sha256", float32_sha256);
  network.metadata.emplace_back("annulus.quantization", quantization_to_text(quantization));
  network.write(sink);
}

}  // namespace annulus
