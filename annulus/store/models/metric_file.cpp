// Writes and reads metric files; the same checks guard both directions.
#include "annulus/store/models/metric_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/kernels/rows.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/store/formats/safetensors.h"

namespace annulus {
namespace {

using MetricEntries = std::map<std::string, std::string>;

constexpr const char* kMetricFormat = "annulus-metric";
constexpr const char* kMetricVersion = "1";
constexpr const char* kMetricAxes = "axes";
constexpr const char* kMetricShrink = "shrink";
constexpr const char* kMetricChecksum = "checksum";
constexpr const char* kNetworkKeys[] = {"backbone", "backbone_sha256", "backbone_output", "preprocessing"};
constexpr double kUnitTolerance = 1e-3;  // of the squared length of an axis

void check_metric(const BackboneMetric& metric, ErrorKind kind, const std::string& source) {
  const Metric& map = metric.prior.metric;
  if (map.empty() || map.rank() > metric.dimension || map.axes.size() != map.rank() * metric.dimension) {
    fail(kind, "{}: expected 1 to {} axes of {} dimensions and a number for each, found {} numbers and {}", source,
         metric.dimension, metric.dimension, map.axes.size(), map.rank());
  }
  const ConstMatrixView<float> axes = map.axes_view(metric.dimension);
  for (std::size_t k = 0; k < map.rank(); ++k) {
    const auto length = static_cast<double>(squared_length(axes.row(k)));
    if (!(std::fabs(length - 1.0) <= kUnitTolerance)) {
      fail(kind, "{}: expected axes of length 1, found the squared length {} at axis {}", source, length, k);
    }
    if (!(map.shrink[k] >= 0.0F && map.shrink[k] < 1.0F)) {
      fail(kind, "{}: expected \"{}\" to be from 0 to below 1, found {} at axis {}", source, kMetricShrink,
           map.shrink[k], k);
    }
  }
  if (!(metric.prior.power > 0.0F && metric.prior.power <= 1.0F)) {
    fail(kind, "{}: expected a power above 0 and not above 1, found {}", source, metric.prior.power);
  }
  if (!(metric.shrinkage >= 0.0 && metric.shrinkage <= 1.0)) {
    fail(kind, "{}: expected a shrinkage from 0 to 1, found {}", source, metric.shrinkage);
  }
  for (const auto& [key, value] : metric.network) {
    if (!is_utf8(value)) fail(kind, "{}: expected \"{}\" to be UTF-8 text", source, key);
  }
}

MetricEntries metric_entries(const BackboneMetric& metric) {
  MetricEntries entries = {{"format", kMetricFormat},
                           {"version", kMetricVersion},
                           {"dimension", fmt::format("{}", metric.dimension)},
                           {"power", fmt::format("{}", metric.prior.power)},
                           {"shrinkage", fmt::format("{}", metric.shrinkage)},
                           {"examples", fmt::format("{}", metric.examples)},
                           {"classes", fmt::format("{}", metric.classes)},
                           {"sets", fmt::format("{}", metric.sets)},
                           {"learnt_from", metric.views ? "views" : "labels"}};
  for (const char* const key : kNetworkKeys) {
    if (const auto found = metric.network.find(key); found != metric.network.end()) entries[key] = found->second;
  }
  return entries;
}

// Of the entries without the checksum itself, and of the arrays.
std::string checksum_of(const MetricEntries& entries, const Metric& map) {
  Sha256 hash;
  for (const auto& [key, value] : entries) {
    const std::string line = fmt::format("{}:{}={}:{}\n", key.size(), key, value.size(), value);
    hash.update(std::as_bytes(std::span(line)));
  }
  hash.update(std::as_bytes(std::span(map.axes)));
  hash.update(std::as_bytes(std::span(map.shrink)));
  return hash.finish_hex();
}

const std::string& metric_entry(const Safetensors& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) {
    fail(ErrorKind::kFormat, "{}: expected the entry \"{}\" of a metric file, found none", file.source(), key);
  }
  return found->second;
}

template <class Number>
Number metric_number(const Safetensors& file, const std::string& key) {
  const std::string& text = metric_entry(file, key);
  Number value{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) {
    fail(ErrorKind::kFormat, "{}: expected \"{}\" to be a number, found \"{}\"", file.source(), key, text);
  }
  return value;
}

std::vector<float> metric_array(const Safetensors& file, const char* name, std::size_t dimensions) {
  const Tensor& tensor = file.at(name);
  if (tensor.type != ElementType::kF32 || tensor.shape.size() != dimensions) {
    fail(ErrorKind::kFormat, "{}: expected \"{}\" as a {} of F32, found {} of shape [{}]", file.source(), name,
         dimensions == 2 ? "matrix" : "list", to_string(tensor.type), fmt::join(tensor.shape, ", "));
  }
  std::vector<float> values(tensor.elements());
  to_floats(tensor.type, tensor.bytes, values);
  return values;
}

}  // namespace

std::string write_metric(const BackboneMetric& metric, const std::filesystem::path& path) {
  check_metric(metric, ErrorKind::kInput, path.string());
  MetricEntries entries = metric_entries(metric);
  const Metric& map = metric.prior.metric;
  const std::string checksum = checksum_of(entries, map);
  entries[kMetricChecksum] = checksum;
  const TensorLayout layout[] = {{kMetricAxes, ElementType::kF32, {map.rank(), metric.dimension}},
                                 {kMetricShrink, ElementType::kF32, {map.rank()}}};
  SafetensorsWriter writer(path, layout, entries);
  writer.write(std::as_bytes(std::span(map.axes)));
  writer.write(std::as_bytes(std::span(map.shrink)));
  writer.commit();
  return checksum;
}

BackboneMetric read_metric(const FileBytes& bytes) {
  const Safetensors file(bytes);
  const std::string& source = file.source();
  if (const std::string format = file.metadata_or("format", ""); format != kMetricFormat) {
    fail(ErrorKind::kFormat, "{}: expected a metric file, found {}", source,
         format.empty() ? "a safetensors file of another kind" : "the format \"" + format + "\"");
  }
  if (const std::string& version = metric_entry(file, "version"); version != kMetricVersion) {
    fail(ErrorKind::kFormat, "{}: expected a metric file of version {}, found version \"{}\"", source, kMetricVersion,
         version);
  }
  BackboneMetric metric;
  metric.prior.metric.axes = metric_array(file, kMetricAxes, 2);
  metric.prior.metric.shrink = metric_array(file, kMetricShrink, 1);
  metric.dimension = metric_number<std::size_t>(file, "dimension");
  metric.prior.power = metric_number<float>(file, "power");
  metric.shrinkage = metric_number<double>(file, "shrinkage");
  metric.examples = metric_number<std::size_t>(file, "examples");
  metric.classes = metric_number<std::size_t>(file, "classes");
  metric.sets = metric_number<std::size_t>(file, "sets");
  const std::string& learnt_from = metric_entry(file, "learnt_from");
  if (learnt_from != "views" && learnt_from != "labels") {
    fail(ErrorKind::kFormat, "{}: expected a metric learnt from views or labels, found \"{}\"", source, learnt_from);
  }
  metric.views = learnt_from == "views";
  for (const char* const key : kNetworkKeys) {
    if (const auto found = file.metadata().find(key); found != file.metadata().end()) metric.network.insert(*found);
  }
  if (const Tensor& axes = file.at(kMetricAxes); axes.shape[1] != metric.dimension) {
    fail(ErrorKind::kFormat, "{}: expected axes of {} dimensions, found {}", source, metric.dimension, axes.shape[1]);
  }
  check_metric(metric, ErrorKind::kFormat, source);
  metric.prior.checksum = metric_entry(file, kMetricChecksum);
  MetricEntries entries = file.metadata();
  entries.erase(kMetricChecksum);
  if (const std::string found = checksum_of(entries, metric.prior.metric); found != metric.prior.checksum) {
    fail(ErrorKind::kFormat, "{}: expected the checksum {}, found {}: the file was changed or damaged", source,
         metric.prior.checksum, found);
  }
  return metric;
}

BackboneMetric read_metric(const std::filesystem::path& path) { return read_metric(map_file(path)); }

}  // namespace annulus
