// Runs every network on every view, takes the means over views and joins the networks.
#include "annulus/pipeline/encode.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/pipeline/joined_row.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/vision/backbone/image_feature.h"
#include "annulus/vision/preprocess/preprocess.h"

namespace annulus {
namespace {

bool is_plain(const Encoder& encoder) { return encoder.parts.size() == 1 && !encoder.views.any(); }

std::vector<std::size_t> dimensions_of(const Encoder& encoder) {
  std::vector<std::size_t> dimensions;
  for (const EncoderPart& part : encoder.parts) dimensions.push_back(part.backbone.dimension());
  return dimensions;
}

std::vector<std::size_t> all_views(const Encoder& encoder) {
  std::vector<std::size_t> views(encoder.views.count);
  std::iota(views.begin(), views.end(), std::size_t{0});
  return views;
}

// The images of the list that every set has features of: for each, its row in each set. The rows of a set are images of
// the list, in its order.
std::vector<std::vector<std::uint32_t>> usable_images(const ImageList& list, std::span<const FeatureSet> sets,
                                                      std::vector<std::size_t>& images) {
  std::vector<std::vector<std::uint32_t>> rows;
  std::vector<std::uint32_t> next(sets.size(), 0);
  for (std::size_t i = 0; i < list.paths.size(); ++i) {
    std::vector<std::uint32_t> row;
    for (std::size_t set = 0; set < sets.size(); ++set) {
      const auto paths = sets[set].paths();
      if (next[set] < paths.size() && paths[next[set]] == list.paths[i]) row.push_back(next[set]++);
    }
    if (row.size() != sets.size()) continue;
    rows.push_back(std::move(row));
    images.push_back(i);
  }
  return rows;
}

void add_to_report(const ExtractReport& pass, ExtractReport& result) {
  result.computed += pass.computed;
  result.cached += pass.cached;
  result.seconds += pass.seconds;
  for (const std::string& reason : pass.reasons) {
    if (std::find(result.reasons.begin(), result.reasons.end(), reason) == result.reasons.end()) {
      result.reasons.push_back(reason);
    }
  }
  if (result.cache_warning.empty()) result.cache_warning = pass.cache_warning;
}

// Calls run(part, options of the view) for every network and view.
template <class Run>
void for_each_pass(const Encoder& encoder, const ExtractOptions& options, const Run& run) {
  for (const EncoderPart& part : encoder.parts) {
    for (const PhotoView& view : list_of(encoder.views)) {
      ExtractOptions pass = options;
      pass.view = view;
      pass.backbone_name = part.name;
      run(part, pass);
    }
  }
}

// Builds the rows of a list, image by image.
class JoinedRows {
 public:
  JoinedRows(const ImageList& list, const Encoder& encoder, bool view_examples)
      : list_(list), encoder_(encoder), dimensions_(dimensions_of(encoder)), view_examples_(view_examples) {}

  FeatureSetParts join(std::span<const FeatureSet> sets) {
    std::vector<std::size_t> images;
    const auto rows = usable_images(list_, sets, images);
    if (images.empty()) fail(ErrorKind::kInput, "none of {} images could be used by every network", list_.paths.size());
    std::size_t count = 0;
    for (const std::size_t image : images) count += rows_of(image);
    Matrix<float> features(count, encoder_.dimension());
    std::size_t next = 0;
    for (std::size_t i = 0; i < images.size(); ++i) {
      next = add_image(sets, images[i], rows[i], features, next);
    }
    FeatureSetParts parts = parts_of(std::move(features));
    parts.labels = std::move(labels_);
    parts.paths = std::move(paths_);
    parts.is_train = std::move(is_train_);
    parts.groups = std::move(groups_);
    parts.class_names = list_.class_names;
    parts.provenance = feature_provenance(encoder_);
    used_ = images.size();
    return parts;
  }

  std::size_t used() const { return used_; }

 private:
  bool apart(std::size_t image) const {
    return view_examples_ && (list_.is_train.empty() || list_.is_train[image] != 0);
  }
  std::size_t rows_of(std::size_t image) const { return apart(image) ? encoder_.views.count : 1; }

  // Returns the number of the next row.
  std::size_t add_image(std::span<const FeatureSet> sets, std::size_t image, std::span<const std::uint32_t> rows,
                        Matrix<float>& features, std::size_t next) {
    std::vector<Matrix<float>> found;
    for (std::size_t set = 0; set < sets.size(); ++set) {
      found.emplace_back(1, sets[set].dimension());
      sets[set].copy_rows(rows[set], found.back().view());
    }
    const auto row_of = [&](std::size_t part, std::size_t view) {
      return std::span<const float>(std::as_const(found[part * encoder_.views.count + view]).row(0));
    };
    const std::vector<std::size_t> views = all_views(encoder_);
    const std::size_t count = rows_of(image);
    for (std::size_t i = 0; i < count; ++i, ++next) {
      const auto used = count == 1 ? std::span(views) : std::span(views).subspan(i, 1);
      join_row(dimensions_, used, list_.paths[image], row_of, features.row(next));
      paths_.push_back(list_.paths[image]);
      if (!list_.labels.empty()) labels_.push_back(list_.labels[image]);
      if (!list_.is_train.empty()) is_train_.push_back(list_.is_train[image]);
      if (!list_.groups.empty()) {
        groups_.push_back(list_.groups[image]);
      } else if (view_examples_) {
        groups_.push_back(static_cast<std::int32_t>(image));
      }
    }
    return next;
  }

  const ImageList& list_;
  const Encoder& encoder_;
  std::vector<std::size_t> dimensions_;
  bool view_examples_;
  std::size_t used_ = 0;
  std::vector<std::int32_t> labels_;
  std::vector<std::string> paths_;
  std::vector<std::uint8_t> is_train_;
  std::vector<std::int32_t> groups_;
};

}  // namespace

std::vector<float> encode_image(const Image& image, const std::string& source, const Encoder& encoder) {
  const std::vector<PhotoView> views = list_of(encoder.views);
  std::vector<std::vector<float>> rows;
  for (const EncoderPart& part : encoder.parts) {
    for (const PhotoView& view : views) rows.push_back(extract_image(image, source, part.backbone, part.recipe, view));
  }
  if (is_plain(encoder)) return std::move(rows.front());
  std::vector<float> joined(encoder.dimension());
  const auto row_of = [&](std::size_t part, std::size_t view) {
    return std::span<const float>(rows[part * views.size() + view]);
  };
  join_row(dimensions_of(encoder), all_views(encoder), source, row_of, joined);
  return joined;
}

std::vector<float> encode_image(std::span<const std::byte> file, const std::string& source, const Encoder& encoder,
                                const DecodeLimits& limits) {
  DecodeOptions options = decode_options(encoder.parts.front().recipe);
  options.limits = limits;
  return encode_image(decode_image(file, options, source), source, encoder);
}

FeatureSet encode_list(const ImageList& list, const std::string& source, const Encoder& encoder,
                       const ExtractOptions& options, ExtractReport& result, const ProgressCallback& progress) {
  if (is_plain(encoder)) {
    const EncoderPart& part = encoder.parts.front();
    return extract_set(list, source, part.backbone, part.recipe, options, result, progress);
  }
  std::vector<FeatureSet> sets;
  result = {};
  for_each_pass(encoder, options, [&](const EncoderPart& part, const ExtractOptions& pass) {
    ExtractReport report;
    sets.push_back(extract_set(list, source, part.backbone, part.recipe, pass, report, progress));
    add_to_report(report, result);
  });
  JoinedRows rows(list, encoder, options.view_examples);
  FeatureSetParts parts = rows.join(sets);
  parts.source = source;
  result.written = parts.paths.size();
  result.broken = list.paths.size() - rows.used();
  return FeatureSet(std::move(parts));
}

ExtractReport encode_to_cache(const ImageList& list, const Encoder& encoder, const ExtractOptions& options,
                              const ProgressCallback& progress) {
  ExtractReport result;
  for_each_pass(encoder, options, [&](const EncoderPart& part, const ExtractOptions& pass) {
    const ExtractReport report = extract_to_cache(list, part.backbone, part.recipe, pass, progress);
    add_to_report(report, result);
    result.broken = std::max(result.broken, report.broken);
    result.written = list.paths.size() - result.broken;
  });
  return result;
}

ExtractReport encode_to_file(const ImageList& list, const Encoder& encoder, const ExtractOptions& options,
                             const std::filesystem::path& output, const ProgressCallback& progress) {
  if (is_plain(encoder)) {
    const EncoderPart& part = encoder.parts.front();
    return extract(list, part.backbone, part.recipe, options, output, progress);
  }
  ExtractReport result;
  const FeatureSet set = encode_list(list, output.string(), encoder, options, result, progress);
  report(progress, {"write features", 0, 0, output.string()});
  WriteOptions write_options;
  write_options.type = options.type;
  write_features(set, output, write_options);
  return result;
}

}  // namespace annulus
