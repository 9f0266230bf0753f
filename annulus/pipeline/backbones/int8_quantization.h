// What makes an int8 network of a float one: the ranges of its values and the bits of its weights, also as text.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "annulus/vision/quantize/activation_ranges.h"
#include "annulus/vision/quantize/int8_network.h"

namespace annulus {

struct Quantization {
  int weight_bits = 8;
  ActivationRanges ranges;
};

// 8 where the processor sums products of eight bits in 32 bits (VNNI, and all of ARM), else 7.
int usual_weight_bits();

// As records keep it: equal texts and equal networks give equal int8 networks. Throws Error{kFormat}.
std::string quantization_to_text(const Quantization& quantization);
Quantization quantization_from_text(const std::string& text, const std::string& source);

// Takes the ranges of a network's values on images.
class RangeRun {
 public:
  // `file` must outlive the run. Throws what plan_int8 throws.
  RangeRun(std::span<const std::byte> file, const std::string& source);

  // As RangeCollector::add.
  void add(std::span<const float> image, std::size_t height, std::size_t width);
  ActivationRanges ranges() const;

 private:
  std::unique_ptr<RangeCollector> collector_;
};

// Writes the int8 form of the network in `file`, with a record of what it was made of in its metadata.
void write_int8(std::span<const std::byte> file, const std::string& source, const std::string& float32_sha256,
                const Quantization& quantization, const std::function<void(std::span<const std::byte>)>& sink);

}  // namespace annulus
