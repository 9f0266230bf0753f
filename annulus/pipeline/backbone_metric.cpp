// Finds metric files and checks that they belong to features.
#include "annulus/pipeline/backbone_metric.h"

#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/pipeline/provenance.h"

namespace annulus {
namespace {

constexpr const char* kChecksumKey = "backbone_sha256";

std::string provenance_entry(const Provenance& provenance, const char* key) {
  const auto found = provenance.find(key);
  return found == provenance.end() ? std::string() : found->second;
}

// Provenance comes from files of anybody: only a checksum, or those of joined networks, may become the name of a file.
bool is_sha256(std::string_view text) {
  constexpr std::size_t kDigits = 64;
  constexpr std::string_view kBetween = " + ";
  for (;;) {
    if (text.substr(0, kDigits).find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
    if (text.size() <= kDigits) return text.size() == kDigits;
    if (!text.substr(kDigits).starts_with(kBetween)) return false;
    text.remove_prefix(kDigits + kBetween.size());
  }
}

bool has_cache_folder() {
  try {
    cache_folder();
  } catch (const Error&) {
    return false;
  }
  return true;
}

// Throws Error{kInput} for a metric of other features.
void check_belongs(const BackboneMetric& metric, const std::string& source, const Provenance& provenance,
                   std::size_t dimension) {
  if (metric.dimension != dimension) {
    fail(ErrorKind::kInput, "{}: expected a metric of {} dimensions as the features have, found {}", source, dimension,
         metric.dimension);
  }
  check_same_provenance(metric.network, source, provenance, "the features");
}

BackboneMetric required_metric(const Provenance& provenance, std::size_t dimension) {
  const std::string sha256 = provenance_entry(provenance, kChecksumKey);
  if (!is_sha256(sha256)) {
    fail_field(ErrorKind::kInput, "metric",
               "expected {} to be none, data or a metric file: the features do not say which network they came from");
  }
  std::error_code error;
  const std::filesystem::path file = kept_metric_file(sha256);
  if (!std::filesystem::is_regular_file(file, error)) {
    const std::string name = provenance_entry(provenance, "backbone");
    fail_field(ErrorKind::kInput, "metric",
               "expected {} to be none, data or a metric file, or a metric to be kept for the network {}, found none: "
               "`annulus backbones learn-metric` learns one from photos",
               name.empty() ? sha256 : name);
  }
  BackboneMetric metric = read_metric(file);
  check_belongs(metric, file.string(), provenance, dimension);
  return metric;
}

}  // namespace

void set_metric_prior(MetricPrior prior, bool always, Recipe& recipe) {
  const auto shared = std::make_shared<const MetricPrior>(std::move(prior));
  if (always || recipe.metric.within_classes) recipe.metric.prior = shared;
  if (!recipe.metric_of_default) recipe.metric_of_default = recipe_named("default").metric;
  recipe.metric_of_default->prior = shared;
}

std::filesystem::path kept_metric_file(const std::string& backbone_sha256) {
  if (!is_sha256(backbone_sha256)) {
    fail(ErrorKind::kInput, "expected the SHA-256 of a network, found \"{}\"", backbone_sha256);
  }
  return cache_folder() / "backbones" / (backbone_sha256 + ".metric.safetensors");
}

std::optional<BackboneMetric> kept_metric(const std::map<std::string, std::string>& provenance, std::size_t dimension) {
  const std::string sha256 = provenance_entry(provenance, kChecksumKey);
  if (!is_sha256(sha256) || !has_cache_folder()) return std::nullopt;
  std::error_code error;
  const std::filesystem::path file = kept_metric_file(sha256);
  if (!std::filesystem::is_regular_file(file, error)) return std::nullopt;
  BackboneMetric metric = read_metric(file);
  const auto differs = [&](const char* key) {
    const std::string wanted = provenance_entry(metric.network, key);
    const std::string found = provenance_entry(provenance, key);
    return !wanted.empty() && !found.empty() && wanted != found;
  };
  if (metric.dimension != dimension || differs(kChecksumKey) || differs("backbone_output") ||
      differs("preprocessing")) {
    return std::nullopt;
  }
  return metric;
}

void add_metric_prior(const std::optional<std::string>& choice, const std::map<std::string, std::string>& provenance,
                      std::size_t dimension, Recipe& recipe) {
  if (!choice) {
    if (auto metric = kept_metric(provenance, dimension)) set_metric_prior(std::move(metric->prior), false, recipe);
    return;
  }
  if (*choice == "none" || *choice == "data") return;
  if (*choice == "backbone") {
    set_metric_prior(required_metric(provenance, dimension).prior, true, recipe);
    return;
  }
  BackboneMetric metric = read_metric(std::filesystem::path(*choice));
  check_belongs(metric, *choice, provenance, dimension);
  set_metric_prior(std::move(metric.prior), true, recipe);
}

}  // namespace annulus
