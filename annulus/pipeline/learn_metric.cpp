// Loads sets, or encodes views, and learns from all of them.
#include "annulus/pipeline/learn_metric.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/base/random.h"
#include "annulus/pipeline/encode.h"
#include "annulus/pipeline/provenance.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/store/images/image_file.h"
#include "annulus/task/few_shot_task.h"
#include "annulus/vision/preprocess/preprocess.h"
#include "annulus/vision/preprocess/random_view.h"

namespace annulus {
namespace {

// The examples that may be trained on.
LabelledExamples training_examples(const FeatureSet& set) {
  if (!set.labelled()) {
    fail(ErrorKind::kInput, "{}: expected labelled examples to learn a metric from, found none", set.source());
  }
  return gather(set, draw_split(set, {}).support);
}

// The features of kViewsPerPhoto views of a photo, one row each.
Matrix<float> encode_views(const std::string& path, const Encoder& encoder, const RandomStream& stream) {
  const Image image = read_image(path, decode_options(encoder.parts.front().recipe));
  Matrix<float> rows(kViewsPerPhoto, encoder.dimension());
  for (std::size_t view = 0; view < kViewsPerPhoto; ++view) {
    const std::vector<float> row = encode_image(random_view(image, stream, view), path, encoder);
    std::copy(row.begin(), row.end(), rows.row(view).begin());
  }
  return rows;
}

// Every photo as a class of its own, of which the views are the examples.
LabelledExamples view_examples(const std::string& folder, const Encoder& encoder, const LearnMetricOptions& options) {
  const ImageList list = list_images(folder);
  if (options.load.note) std::for_each(list.warnings.begin(), list.warnings.end(), options.load.note);
  std::vector<std::size_t> photos;
  for (std::size_t i = 0; i < list.paths.size(); ++i) {
    if (list.is_train.empty() || list.is_train[i] != 0) photos.push_back(i);
  }
  std::vector<Matrix<float>> features(photos.size());
  std::vector<std::string> reasons(photos.size());
  std::atomic<std::size_t> done{0};
  static thread_local char self = 0;
  const char* const caller = &self;
  parallel_for(options.load.threads, photos.size(), [&](std::size_t i) {
    try {
      const RandomStream stream{options.seed, RandomUse::kSynthetic, static_cast<std::uint32_t>(i)};
      features[i] = encode_views(list.paths[photos[i]], encoder, stream);
    } catch (const Error& error) {
      if (options.load.encoder.strict || error.kind() == ErrorKind::kInternal) throw;
      reasons[i] = error.what();
    }
    done.fetch_add(1);
    if (&self == caller) report(options.load.progress, {"encode views", done, photos.size(), {}});
  });
  ExtractReport broken;
  LabelledExamples examples;
  for (std::size_t i = 0; i < photos.size(); ++i) {
    if (features[i].rows() != 0) {
      examples.labels.insert(examples.labels.end(), kViewsPerPhoto, static_cast<std::int32_t>(examples.classes++));
      continue;
    }
    ++broken.broken;
    broken.reasons.push_back(reasons[i]);
  }
  note_broken_images(broken, options.load.note);
  if (examples.classes == 0) fail(ErrorKind::kInput, "{}: none of {} photos could be used", folder, photos.size());
  examples.features = Matrix<float>(examples.labels.size(), encoder.dimension());
  std::size_t first = 0;
  for (const Matrix<float>& rows : features) {
    std::copy_n(rows.data(), rows.rows() * rows.cols(), examples.features.data() + first);
    first += rows.rows() * rows.cols();
  }
  return examples;
}

class MetricSets {
 public:
  explicit MetricSets(const LearnMetricOptions& options) : options_(options) {
    if (options.load.encoder.backbone.empty()) return;
    encoder_.emplace(open_encoder(options.load.encoder, options.load.progress));
    take_network(feature_provenance(*encoder_), encoder_->name);
  }

  void add(const std::string& input) {
    const bool photos = holds_images(input);
    if (photos && !encoder_) {
      fail(ErrorKind::kUsage, "{}: expected the name of the network that encodes photos, found none", input);
    }
    if (options_.views && !photos) {
      fail(ErrorKind::kUsage, "{}: expected photos to take views of, found a file of features", input);
    }
    if (options_.views) {
      sets_.push_back(view_examples(input, *encoder_, options_));
      metric_.examples += sets_.back().classes;
      return;
    }
    sets_.push_back(photos ? photo_examples(input) : feature_examples(input));
    metric_.examples += sets_.back().labels.size();
    const auto counts = class_counts(sets_.back().labels, sets_.back().classes);
    metric_.classes +=
        static_cast<std::size_t>(std::count_if(counts.begin(), counts.end(), [](std::size_t n) { return n > 0; }));
  }

  BackboneMetric learn() {
    metric_.prior = learn_metric_prior(sets_, kPriorShrinkage, options_.load.threads);
    metric_.dimension = sets_.front().features.cols();
    metric_.sets = sets_.size();
    metric_.views = options_.views;
    metric_.shrinkage = kPriorShrinkage;
    return std::move(metric_);
  }

 private:
  // What the first set, or the encoder, says of the network, and nobody contradicts.
  void take_network(const Provenance& provenance, const std::string& source) {
    if (metric_.network.empty()) {
      network_source_ = source;
      for (const char* const key : {"backbone", "backbone_sha256", "backbone_output", "preprocessing"}) {
        if (const auto found = provenance.find(key); found != provenance.end()) metric_.network.insert(*found);
      }
    }
    check_same_provenance(metric_.network, network_source_, provenance, source);
  }

  LabelledExamples photo_examples(const std::string& folder) {
    ImageListOptions listing;
    listing.for_training = true;
    const ImageList list = list_images(folder, listing);
    return training_examples(encode_images(list, folder, *encoder_, options_.load));
  }

  LabelledExamples feature_examples(const std::string& file) {
    const FeatureSet set = read_features(file, {options_.load.labels});
    take_network(set.provenance(), file);
    if (encoder_ && set.dimension() != encoder_->dimension()) {
      fail(ErrorKind::kInput, "{}: expected features of {} dimensions as {} gives, found {}", file,
           encoder_->dimension(), encoder_->name, set.dimension());
    }
    return training_examples(set);
  }

  const LearnMetricOptions& options_;
  std::optional<Encoder> encoder_;
  std::string network_source_;
  BackboneMetric metric_;
  std::vector<LabelledExamples> sets_;
};

}  // namespace

BackboneMetric learn_metric(std::span<const std::string> inputs, const LearnMetricOptions& options) {
  if (inputs.empty()) fail(ErrorKind::kUsage, "expected photos or features to learn a metric from, found none");
  MetricSets sets(options);
  for (const std::string& input : inputs) sets.add(input);
  return sets.learn();
}

}  // namespace annulus
