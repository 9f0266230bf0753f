// Which operators of a network run on eight bits, and which values have to be ranged for that.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "annulus/vision/onnx/onnx_network.h"

namespace annulus {

struct Int8Plan {
  std::set<std::size_t> nodes;                // numbers of nodes that take eight bits
  std::set<std::size_t> gives_int8;           // those of them whose output is eight bits as well
  std::map<std::size_t, std::size_t> ends;    // node number of a Relu or Clip that a range replaces, to what it follows
  std::map<std::string, std::string> values;  // to hold in eight bits, each with the value whose range it has
  std::vector<std::string> ranged;            // whose ranges are needed
};

// Convolutions, Gemm and MatMul with constant weights take eight bits, but for the first layer; convolutions give eight
// bits too, and so do sums and maxima of what they give. All else stays in float: pooling by means, LayerNorm, softmax,
// GELU, attention. Throws Error{kInput} with a sentence for a network that has nothing to gain or is not understood.
Int8Plan plan_int8(const OnnxNetwork& network);

}  // namespace annulus
