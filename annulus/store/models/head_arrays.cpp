// Checks heads, and writes and reads the trained one.
#include "annulus/store/models/head_arrays.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

namespace annulus {
namespace {

constexpr const char* kTrained = "trained_direction";
constexpr const char* kTrainedGain = "trained_gain";  // cosine
constexpr const char* kTrainedBias = "trained_bias";  // linear
// The metric that it was trained in; all absent without one.
constexpr const char* kTrainedCentre = "metric_centre";
constexpr const char* kTrainedAxes = "metric_axes";      // of all metrics, one after the other
constexpr const char* kTrainedShrink = "metric_shrink";  // of each axis
constexpr const char* kTrainedRanks = "metric_ranks";    // axes of each metric
constexpr std::size_t kMostMetrics = 4;

std::string_view trained_per_class_name(HeadKind kind) {
  return kind == HeadKind::kCosine ? kTrainedGain : kTrainedBias;
}

void check_numbers(std::span<const float> numbers, const char* what, std::size_t row, ErrorKind kind,
                   const std::string& source) {
  if (!std::all_of(numbers.begin(), numbers.end(), [](float number) { return std::isfinite(number); })) {
    fail(kind, "{}: expected finite numbers, found NaN or infinity in the {} of class {}", source, what, row);
  }
}

bool all_finite(std::span<const float> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float number) { return std::isfinite(number); });
}

std::size_t all_axes(const FeatureTransform& transform) {
  return std::accumulate(transform.metrics.begin(), transform.metrics.end(), std::size_t{0},
                         [](std::size_t sum, const Metric& metric) { return sum + metric.rank(); });
}

std::vector<float> floats_of(const Tensor& tensor) {
  std::vector<float> values(tensor.elements());
  to_floats(tensor.type, tensor.bytes, values);
  return values;
}

// The metrics of a file that has some. Their sizes are checked here, their numbers by check_metrics.
void read_metrics(const Safetensors& file, FeatureTransform& transform) {
  const Tensor& axes = file.at(kTrainedAxes);
  const std::vector<float> shrink = floats_of(file.at(kTrainedShrink));
  const Tensor& ranks = file.at(kTrainedRanks);
  std::vector<std::int64_t> counts(ranks.elements());
  to_integers(ranks.type, ranks.bytes, counts, file.source());
  std::size_t sum = 0;
  for (const std::int64_t count : counts) {
    if (count < 1 || static_cast<std::size_t>(count) > shrink.size()) {
      fail(ErrorKind::kFormat, "{}: expected metrics of 1 to {} axes in \"{}\", found one of {}", file.source(),
           shrink.size(), kTrainedRanks, count);
    }
    sum += static_cast<std::size_t>(count);
  }
  if (counts.size() > kMostMetrics || sum != shrink.size() || sum != axes.shape[0]) {
    fail(ErrorKind::kFormat,
         "{}: expected at most {} metrics with as many axes as \"{}\" and \"{}\", found {} and {} in "
         "{}, with {}",
         file.source(), kMostMetrics, kTrainedAxes, kTrainedShrink, axes.shape[0], shrink.size(), counts.size(), sum);
  }
  const std::vector<float> directions = floats_of(axes);
  transform.centre = floats_of(file.at(kTrainedCentre));
  std::size_t first = 0;
  for (const std::int64_t rank : counts) {
    const auto at = [first](const std::vector<float>& from, std::size_t width) {
      return from.begin() + static_cast<std::ptrdiff_t>(first * width);
    };
    const auto count = static_cast<std::size_t>(rank);
    Metric metric;
    metric.axes.assign(at(directions, axes.shape[1]),
                       at(directions, axes.shape[1]) + static_cast<std::ptrdiff_t>(count * axes.shape[1]));
    metric.shrink.assign(at(shrink, 1), at(shrink, 1) + rank);
    transform.metrics.push_back(std::move(metric));
    first += count;
  }
}

void check_metrics(const FeatureTransform& transform, std::size_t dimension, ErrorKind kind,
                   const std::string& source) {
  if (transform.metrics.empty()) return;
  if (transform.centre.size() != dimension || !all_finite(transform.centre)) {
    fail(kind, "{}: expected {} finite numbers in \"{}\", found {} or others", source, dimension, kTrainedCentre,
         transform.centre.size());
  }
  for (const Metric& metric : transform.metrics) {
    const bool in_range = std::all_of(metric.shrink.begin(), metric.shrink.end(),
                                      [](float shrink) { return shrink > -1e3F && shrink < 1.0F; });
    if (metric.axes.size() != metric.rank() * dimension || !all_finite(metric.axes) || !in_range) {
      fail(kind, "{}: expected metrics of finite axes of {} numbers that shrink by less than 1, found others", source,
           dimension);
    }
  }
}

}  // namespace

std::string_view per_class_name(HeadKind kind) { return kind == HeadKind::kCosine ? "gain" : "bias"; }

void check_head(const Head<float>& head, ErrorKind kind, const std::string& source) {
  for (std::size_t c = 0; c < head.classes(); ++c) {
    const auto row = head.direction.row(c);
    check_numbers(row, "direction", c, kind, source);
    const bool zero = std::all_of(row.begin(), row.end(), [](float number) { return number == 0.0F; });
    if (head.kind == HeadKind::kCosine && zero) fail(kind, "{}: the direction of class {} is zero", source, c);
    check_numbers(std::span(per_class(head)).subspan(c, 1), head.kind == HeadKind::kCosine ? "gain" : "bias", c, kind,
                  source);
  }
}

const ArrayShape* trained_head_array(std::string_view name) {
  static constexpr ArrayShape kArrays[] = {{kTrained, ElementType::kF32, 2},     {kTrainedGain, ElementType::kF32, 1},
                                           {kTrainedBias, ElementType::kF32, 1}, {kTrainedCentre, ElementType::kF32, 1},
                                           {kTrainedAxes, ElementType::kF32, 2}, {kTrainedShrink, ElementType::kF32, 1},
                                           {kTrainedRanks, ElementType::kI32, 1}};
  const auto* const found =
      std::find_if(std::begin(kArrays), std::end(kArrays), [&](const ArrayShape& shape) { return shape.name == name; });
  return found == std::end(kArrays) ? nullptr : found;
}

void lay_out_trained_head(const Head<float>& trained, std::vector<TensorLayout>& layout) {
  layout.push_back({kTrained, ElementType::kF32, {trained.classes(), trained.dimension()}});
  layout.push_back({std::string(trained_per_class_name(trained.kind)), ElementType::kF32, {trained.classes()}});
  if (trained.transform.metrics.empty()) return;
  const std::size_t axes = all_axes(trained.transform);
  layout.push_back({kTrainedCentre, ElementType::kF32, {trained.transform.centre.size()}});
  layout.push_back({kTrainedAxes, ElementType::kF32, {axes, trained.dimension()}});
  layout.push_back({kTrainedShrink, ElementType::kF32, {axes}});
  layout.push_back({kTrainedRanks, ElementType::kI32, {trained.transform.metrics.size()}});
}

void write_trained_head(const Head<float>& trained, SafetensorsWriter& writer) {
  writer.write(std::as_bytes(std::span(trained.direction.data(), trained.classes() * trained.dimension())));
  writer.write(std::as_bytes(std::span(per_class(trained))));
  const std::vector<Metric>& metrics = trained.transform.metrics;
  if (metrics.empty()) return;
  writer.write(std::as_bytes(std::span(trained.transform.centre)));
  for (const Metric& metric : metrics) writer.write(std::as_bytes(std::span(metric.axes)));
  for (const Metric& metric : metrics) writer.write(std::as_bytes(std::span(metric.shrink)));
  std::vector<std::int32_t> ranks;
  for (const Metric& metric : metrics) ranks.push_back(static_cast<std::int32_t>(metric.rank()));
  writer.write(std::as_bytes(std::span(ranks)));
}

std::optional<Head<float>> read_trained_head(const Safetensors& file, const FeatureTransform& of_head) {
  const Tensor* const direction = file.find(kTrained);
  const Tensor* const gain = file.find(kTrainedGain);
  const Tensor* const bias = file.find(kTrainedBias);
  if (direction == nullptr && gain == nullptr && bias == nullptr) return std::nullopt;
  if (direction == nullptr || (gain == nullptr) == (bias == nullptr)) {
    fail(ErrorKind::kFormat, "{}: expected \"{}\" together with one of \"{}\" and \"{}\"", file.source(), kTrained,
         kTrainedGain, kTrainedBias);
  }
  Head<float> head;
  head.kind = gain != nullptr ? HeadKind::kCosine : HeadKind::kLinear;
  head.direction = Matrix<float>(direction->shape[0], direction->shape[1]);
  to_floats(direction->type, direction->bytes, {head.direction.data(), direction->elements()});
  const Tensor& numbers = gain != nullptr ? *gain : *bias;
  auto& values = per_class(head);
  values.resize(numbers.elements());
  to_floats(numbers.type, numbers.bytes, values);
  if (file.find(kTrainedAxes) == nullptr) {
    head.transform = of_head;
  } else {
    head.transform.power = of_head.power;
    read_metrics(file, head.transform);
  }
  return head;
}

void check_trained_head(const Head<float>& trained, const Head<float>& head, ErrorKind kind,
                        const std::string& source) {
  if (trained.classes() != head.classes() || trained.dimension() != head.dimension() ||
      per_class(trained).size() != trained.classes()) {
    fail(kind, "{}: expected a trained head of {} classes and {} numbers, found {} and {}, and {} in \"{}\"", source,
         head.classes(), head.dimension(), trained.classes(), trained.dimension(), per_class(trained).size(),
         trained_per_class_name(trained.kind));
  }
  check_head(trained, kind, source);
  check_metrics(trained.transform, head.dimension(), kind, source);
}

}  // namespace annulus
