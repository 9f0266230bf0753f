// The ranges of the values inside a network, seen on images.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "annulus/vision/backbone/onnx_session.h"
#include "annulus/vision/onnx/onnx_network.h"
#include "annulus/vision/quantize/int8_network.h"
#include "annulus/vision/quantize/value_histogram.h"

namespace annulus {

// Runs a network in float with values inside it as further outputs. Memory: a second copy of the weights.
class RangeCollector {
 public:
  // Throws Error{kFormat} when the runtime cannot run the network.
  RangeCollector(const OnnxNetwork& network, std::vector<std::string> values);

  // One image, three planes of height x width. Safe to call from several threads at once; the order of the images
  // changes nothing. Throws Error{kInput} when a value is not finite.
  void add(std::span<const float> image, std::size_t height, std::size_t width);

  ActivationRanges ranges() const;

 private:
  std::string source_;
  std::vector<std::string> values_;
  std::vector<std::size_t> outputs_;  // of the session, one per value
  std::unique_ptr<OnnxSession> session_;
  std::mutex mutex_;
  std::vector<ValueHistogram> seen_;  // guarded by mutex_
};

// As text: "LOW HIGH NAME", a line each.
std::string ranges_to_text(const ActivationRanges& ranges);
// Throws Error{kFormat}; `source` names the text.
ActivationRanges ranges_from_text(const std::string& text, const std::string& source);

}  // namespace annulus
