// The eight-bit form of a network: QuantizeLinear and DequantizeLinear around its layers, as ONNX Runtime fuses them.
#pragma once

#include <map>
#include <string>

#include "annulus/vision/onnx/onnx_network.h"
#include "annulus/vision/quantize/int8_plan.h"
#include "annulus/vision/quantize/value_histogram.h"

namespace annulus {

using ActivationRanges = std::map<std::string, ValueRange>;  // by the name of the value

// Weights of eight bits for each output channel, or of seven, whose sums of products fit the 16 bits that processors
// without VNNI add them up in.
struct Int8Weights {
  int bits = 8;
};

// `network` is the one that the plan was made of. The same arguments give the same network. Throws Error{kInput} when
// a range is missing or is none.
void make_int8(OnnxNetwork& network, const Int8Plan& plan, const ActivationRanges& ranges, const Int8Weights& weights);

}  // namespace annulus
