// One task per image (or per batch, if the model fixes one): read, look up, decode, preprocess, encode, store.
#include "annulus/pipeline/extract.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/pipeline/feature_cache.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/store/files/byte_lock.h"
#include "annulus/store/images/example_image.h"
#include "annulus/task/feature_set.h"
#include "annulus/vision/preprocess/preprocess.h"

namespace annulus {
namespace {

constexpr std::uint64_t kBroken = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kMostReasons = 1000;

// True for what is wrong with one image; a full disk or a defect is wrong with the whole run. So is what the system
// says about a file that is there: a disk that fails must not make another model of what it still reads.
bool blames_image(const Error& error, const std::string& path) {
  if (error.kind() != ErrorKind::kIo) return error.kind() == ErrorKind::kFormat || error.kind() == ErrorKind::kInput;
  std::error_code unknown;
  const auto type = std::filesystem::status(path, unknown).type();
  return type == std::filesystem::file_type::not_found || (!unknown && type != std::filesystem::file_type::regular);
}

// The key under which the cache has a view of an image.
Digest view_digest(const Digest& image, const PhotoView& view) {
  const std::string text = to_text(view);
  if (text.empty()) return image;
  std::vector<std::byte> key(image.begin(), image.end());
  for (const char c : text) key.push_back(static_cast<std::byte>(c));
  return sha256_digest(key);
}

class Extraction {
 public:
  Extraction(const ImageList& list, const Backbone& backbone, const PreprocessRecipe& recipe,
             const ExtractOptions& options, FeatureCache& cache)
      : list_(list),
        backbone_(backbone),
        recipe_(recipe),
        options_(options),
        cache_(cache),
        examples_(decode_options(recipe)),
        positions_(list.paths.size(), kBroken) {}

  void run(const ProgressCallback& progress) {
    const auto start = now();
    std::vector<std::size_t> images(list_.paths.size());
    std::iota(images.begin(), images.end(), std::size_t{0});
    const auto first = static_cast<std::size_t>(options_.first_fraction * static_cast<double>(images.size()));
    std::rotate(images.begin(), images.begin() + static_cast<std::ptrdiff_t>(first), images.end());
    const auto tell = [&] {
      const std::size_t done = computed_ + cached_ + broken_;
      report(progress, {"extract features", done, list_.paths.size(),
                        fmt::format("{:.1f} images/s", static_cast<double>(done) / seconds_since(start))});
    };
    // Images that other processes work on are looked up until they are finished, or until their process is gone.
    for (; !images.empty(); images = std::exchange(deferred_, {})) {
      extract_images(images, tell);
      if (deferred_.size() < images.size()) continue;
      tell();
      wait_for_others();
      cache_.refresh();
    }
    tell();
    seconds_ = seconds_since(start);
  }

  const std::vector<std::uint64_t>& positions() const { return positions_; }

  ExtractReport result() const {
    ExtractReport result;
    result.computed = computed_;
    result.cached = cached_;
    result.broken = broken_;
    result.seconds = seconds_;
    for (const auto& [index, reason] : reasons_) result.reasons.push_back(reason);
    return result;
  }

 private:
  template <class Tell>
  void extract_images(std::span<const std::size_t> images, const Tell& tell) {
    // Progress is reported from the calling thread, which is one of the workers and is identified by this variable.
    static thread_local char self = 0;
    const char* const caller = &self;
    const std::size_t group = backbone_.batch();
    parallel_for(options_.threads, (images.size() + group - 1) / group, [&](std::size_t task) {
      extract_group(images.subspan(task * group, std::min(group, images.size() - task * group)));
      if (&self == caller) tell();
    });
  }

  // Whether the features of an image are in the cache.
  bool found(std::size_t index, const Digest& digest, std::span<float> scratch) {
    const auto position = cache_.find(digest);
    if (!position || !cache_.read(*position, scratch)) return false;
    positions_[index] = *position;
    cached_.fetch_add(1);
    return true;
  }

  void extract_group(std::span<const std::size_t> images) {
    std::vector<std::size_t> missing;
    std::vector<Digest> digests;
    std::vector<std::shared_ptr<const void>> claims;
    Matrix<float> prepared(images.size(), recipe_.output_size());
    std::vector<float> scratch(backbone_.dimension());
    for (const std::size_t index : images) {
      ExampleImage image;
      if (!usable(index, [&](const std::string& path) { image = examples_.open(path); })) continue;
      const Digest digest = view_digest(digest_of_hex(image.sha256()), options_.view);
      if (found(index, digest, scratch)) continue;
      auto claim = cache_.claim(digest);
      // Another process may have finished it since the cache was read.
      cache_.refresh();
      if (found(index, digest, scratch)) continue;
      if (!claim) {
        const std::lock_guard lock(mutex_);
        deferred_.push_back(index);
        continue;
      }
      const bool decoded = usable(index, [&](const std::string&) {
        write_network_input(image.image(recipe_.box_margin), recipe_, prepared.row(missing.size()), options_.view);
      });
      if (!decoded) continue;
      missing.push_back(index);
      digests.push_back(digest);
      claims.push_back(std::move(claim));
    }
    if (missing.empty()) return;
    Matrix<float> rows(missing.size(), backbone_.dimension());
    backbone_.run(prepared.view().rows_at(0, missing.size()), recipe_.output_height(), recipe_.output_width(),
                  rows.view());
    for (std::size_t i = 0; i < missing.size(); ++i) {
      if (!usable(missing[i], [&](const std::string& path) { check_feature_row(rows.row(i), path); })) continue;
      positions_[missing[i]] = cache_.append(digests[i], rows.row(i));
      computed_.fetch_add(1);
    }
  }

  // Runs work on one image that does not touch the cache; returns false and marks the image as broken if it fails.
  template <class Work>
  bool usable(std::size_t index, const Work& work) {
    try {
      work(list_.paths[index]);
      return true;
    } catch (const Error& error) {
      if (options_.strict || list_.paths.size() == 1 || !blames_image(error, list_.paths[index])) throw;
      const std::lock_guard lock(mutex_);
      ++broken_;
      reasons_.emplace(index, error.what());
      if (reasons_.size() > kMostReasons) reasons_.erase(std::prev(reasons_.end()));
      return false;
    }
  }

  const ImageList& list_;
  const Backbone& backbone_;
  const PreprocessRecipe& recipe_;
  const ExtractOptions& options_;
  FeatureCache& cache_;
  ExampleImages examples_;
  std::vector<std::uint64_t> positions_;  // in the cache, one per image
  std::atomic<std::size_t> computed_{0};
  std::atomic<std::size_t> cached_{0};
  std::atomic<std::size_t> broken_{0};
  std::mutex mutex_;
  std::map<std::size_t, std::string> reasons_;
  std::vector<std::size_t> deferred_;  // images that other processes work on
  double seconds_ = 0;
};

// The rows as they lie in the cache, in the order of the list, with what the list knows about them. Each was checked
// when it was found or has just been written.
FeatureSetParts collect(const ImageList& list, std::span<const std::uint64_t> positions, const FeatureCache& cache) {
  FeatureSetParts parts;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] == kBroken) continue;
    parts.order.push_back(positions[i]);
    parts.paths.push_back(list.paths[i]);
    if (!list.labels.empty()) parts.labels.push_back(list.labels[i]);
    if (!list.is_train.empty()) parts.is_train.push_back(list.is_train[i]);
    if (!list.groups.empty()) parts.groups.push_back(list.groups[i]);
  }
  CachedRows cached = cache.map_rows();
  parts.features = cached.rows;
  parts.owner = std::move(cached.owner);
  parts.class_names = list.class_names;
  return parts;
}

// Computes missing features into the cache, fills in the report and returns the cache position of each image.
std::vector<std::uint64_t> fill_cache(const ImageList& list, const Backbone& backbone, const PreprocessRecipe& recipe,
                                      const ExtractOptions& options, FeatureCache& cache, ExtractReport& result,
                                      const ProgressCallback& progress) {
  check_recipe(recipe);
  Extraction extraction(list, backbone, recipe, options, cache);
  extraction.run(progress);
  std::string warning = std::move(result.cache_warning);
  result = extraction.result();
  result.cache_warning = std::move(warning);
  result.written = list.paths.size() - result.broken;
  if (result.written == 0) {
    fail(ErrorKind::kInput, "none of {} images could be used; the first: {}", list.paths.size(),
         result.reasons.empty() ? "there are none" : result.reasons.front());
  }
  return extraction.positions();
}

std::unique_ptr<FeatureCache> open_cache(const Backbone& backbone, const PreprocessRecipe& recipe,
                                         const ExtractOptions& options, ExtractReport& result) {
  return open_feature_cache(options.cache, feature_maker(backbone, recipe), backbone.dimension(), result.cache_warning);
}

// Fills in the report and gives back the rows, which stay in the cache.
FeatureSetParts extract_parts(const ImageList& list, const Backbone& backbone, const PreprocessRecipe& wanted,
                              const ExtractOptions& options, ExtractReport& result, const ProgressCallback& progress) {
  const PreprocessRecipe recipe = planar_recipe(wanted);
  const auto cache = open_cache(backbone, recipe, options, result);
  const auto positions = fill_cache(list, backbone, recipe, options, *cache, result, progress);
  FeatureSetParts parts = collect(list, positions, *cache);
  parts.provenance = feature_provenance(backbone, recipe, options.backbone_name);
  return parts;
}

}  // namespace

std::string feature_maker(const Backbone& backbone, const PreprocessRecipe& recipe) {
  const auto provenance = feature_provenance(backbone, recipe);
  return fmt::format("{}\n{}\n{}", backbone.identity(), provenance.at("preprocessing"), provenance.at("engine"));
}

FeatureSet extract_set(const ImageList& list, const std::string& source, const Backbone& backbone,
                       const PreprocessRecipe& recipe, const ExtractOptions& options, ExtractReport& result,
                       const ProgressCallback& progress) {
  FeatureSetParts parts = extract_parts(list, backbone, recipe, options, result, progress);
  parts.source = source;
  return FeatureSet(std::move(parts));
}

ExtractReport extract_to_cache(const ImageList& list, const Backbone& backbone, const PreprocessRecipe& wanted,
                               const ExtractOptions& options, const ProgressCallback& progress) {
  const PreprocessRecipe recipe = planar_recipe(wanted);
  ExtractReport result;
  const auto cache = open_cache(backbone, recipe, options, result);
  fill_cache(list, backbone, recipe, options, *cache, result, progress);
  return result;
}

ExtractReport extract(const ImageList& list, const Backbone& backbone, const PreprocessRecipe& recipe,
                      const ExtractOptions& options, const std::filesystem::path& output,
                      const ProgressCallback& progress) {
  ExtractReport result;
  FeatureSetParts parts = extract_parts(list, backbone, recipe, options, result, progress);
  parts.source = output.string();
  report(progress, {"write features", 0, 0, output.string()});
  WriteOptions write_options;
  write_options.type = options.type;
  write_features(FeatureSet(std::move(parts)), output, write_options);
  return result;
}

}  // namespace annulus
