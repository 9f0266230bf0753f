// Metric files: the metric of a backbone with a record of the network and of what it was learnt from, as safetensors.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

#include "annulus/learn/transform/metric_prior.h"
#include "annulus/store/files/mapped_file.h"

namespace annulus {

struct BackboneMetric {
  MetricPrior prior;          // its checksum stands for all of the file, and is given by the writer and the reader
  std::size_t dimension = 0;  // of the features
  // Where features come from that the metric is for, by the names of their provenance (backbone, backbone_sha256,
  // backbone_output, preprocessing); what is not known is absent.
  std::map<std::string, std::string> network;
  std::size_t examples = 0;  // that it was learnt from: photos, or feature rows
  std::size_t classes = 0;   // of all sets; 0 with views
  std::size_t sets = 0;
  bool views = false;  // learnt from views of each photo, without labels
  double shrinkage = 0.0;
};

// Writes the file, whole or not at all, and returns the checksum. Throws Error{kInput} for a metric that could not be
// read back and Error{kIo} when it cannot be written.
std::string write_metric(const BackboneMetric& metric, const std::filesystem::path& path);

// Throws Error{kIo} when the file cannot be opened and Error{kFormat}, with one sentence, for anything that is no whole
// metric file.
BackboneMetric read_metric(const std::filesystem::path& path);
BackboneMetric read_metric(const FileBytes& file);

}  // namespace annulus
