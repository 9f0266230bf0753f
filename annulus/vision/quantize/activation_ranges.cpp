// Writes the network with more outputs into memory and counts what they give.
#include "annulus/vision/quantize/activation_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "annulus/base/error.h"

namespace annulus {

RangeCollector::RangeCollector(const OnnxNetwork& network, std::vector<std::string> values)
    : source_(network.source()), values_(std::move(values)), seen_(values_.size()) {
  std::vector<std::string> extra;
  for (const std::string& name : values_) {
    const bool there = std::find(network.outputs.begin(), network.outputs.end(), name) != network.outputs.end();
    if (!there) extra.push_back(name);
  }
  std::vector<std::byte> bytes;
  network.write([&](std::span<const std::byte> part) { bytes.insert(bytes.end(), part.begin(), part.end()); }, extra);
  session_ = std::make_unique<OnnxSession>(bytes, source_);
  const auto outputs = session_->outputs();
  for (const std::string& name : values_) {
    const auto found =
        std::find_if(outputs.begin(), outputs.end(), [&](const TensorInfo& info) { return info.name == name; });
    if (found == outputs.end() || found->type != TensorType::kFloat) {
      fail(ErrorKind::kInput, "{}: expected float values in \"{}\", found others", source_, name);
    }
    outputs_.push_back(static_cast<std::size_t>(found - outputs.begin()));
  }
}

void RangeCollector::add(std::span<const float> image, std::size_t height, std::size_t width) {
  const std::int64_t shape[] = {1, 3, static_cast<std::int64_t>(height), static_cast<std::int64_t>(width)};
  const std::vector<FloatTensor> found = session_->run_all(image, shape, outputs_);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ValueHistogram histogram;
    if (!histogram.add(found[i].values)) {
      fail(ErrorKind::kInput, "{}: expected finite values in \"{}\", found others", source_, values_[i]);
    }
    const std::lock_guard lock(mutex_);
    seen_[i].merge(histogram);
  }
}

ActivationRanges RangeCollector::ranges() const {
  ActivationRanges ranges;
  for (std::size_t i = 0; i < values_.size(); ++i) ranges[values_[i]] = seen_[i].best_range();
  return ranges;
}

std::string ranges_to_text(const ActivationRanges& ranges) {
  std::string text;
  for (const auto& [name, range] : ranges) text += fmt::format("{:.9g} {:.9g} {}\n", range.low, range.high, name);
  return text;
}

ActivationRanges ranges_from_text(const std::string& text, const std::string& source) {
  ActivationRanges ranges;
  std::string_view rest = text;
  const auto broken = [&](std::string_view line) {
    fail(ErrorKind::kFormat, "{}: expected a range as LOW HIGH NAME, found \"{}\"", source, line.substr(0, 80));
  };
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    ValueRange range;
    const char* const end = line.data() + line.size();
    const auto [middle, error] = std::from_chars(line.data(), end, range.low);
    if (error != std::errc() || middle == end || *middle != ' ') broken(line);
    const auto [last, second_error] = std::from_chars(middle + 1, end, range.high);
    if (second_error != std::errc() || last == end || *last != ' ' || last + 1 == end) broken(line);
    if (!std::isfinite(range.low) || !std::isfinite(range.high)) broken(line);
    ranges[std::string(last + 1, end)] = range;
  }
  return ranges;
}

}  // namespace annulus
