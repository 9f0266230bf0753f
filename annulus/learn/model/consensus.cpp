// Averages logarithms of probabilities over windows of frames.
#include "annulus/learn/model/consensus.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/media_fragment.h"
#include "annulus/learn/model/ranking.h"

namespace annulus {
namespace {

constexpr double kLeastProbability = 1e-6;

// The classes by their geometric mean in the window, as probabilities.
std::vector<float> mean_probabilities(std::span<const Prediction> window, std::size_t classes) {
  std::vector<double> logs(classes, 0.0);
  for (const Prediction& prediction : window) {
    for (const RankedClass& ranked : prediction.top) {
      logs[static_cast<std::size_t>(ranked.index)] +=
          std::log(std::max(static_cast<double>(ranked.probability), kLeastProbability)) /
          static_cast<double>(window.size());
    }
  }
  const double highest = *std::max_element(logs.begin(), logs.end());
  double sum = 0.0;
  for (double& value : logs) sum += value = std::exp(value - highest);
  std::vector<float> probabilities(classes);
  std::transform(logs.begin(), logs.end(), probabilities.begin(),
                 [&](double value) { return static_cast<float>(value / sum); });
  return probabilities;
}

// The video of each row; empty for rows that are no whole frame.
std::vector<std::string> videos_of(const FeatureSet& set) {
  std::vector<std::string> videos(set.paths().size());
  for (std::size_t i = 0; i < videos.size(); ++i) {
    MediaFragment fragment = parse_media_fragment(set.paths()[i]);
    if (fragment.seconds && !fragment.box) videos[i] = std::move(fragment.file);
  }
  return videos;
}

}  // namespace

void agree(std::span<Prediction> predictions, std::size_t frames, std::size_t top,
           std::span<const std::string> class_names, const ClassTree& tree, double sure) {
  const std::vector<Prediction> alone(predictions.begin(), predictions.end());
  const std::size_t reach = frames / 2;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    const std::size_t first = i < reach ? 0 : i - reach;
    const std::span<const Prediction> window(alone.data() + first, std::min(i + reach + 1, alone.size()) - first);
    Prediction& prediction = predictions[i];
    const std::vector<float> probabilities = mean_probabilities(window, class_names.size());
    prediction.top = most_probable(probabilities, top);
    const auto rejected = static_cast<std::size_t>(
        std::count_if(window.begin(), window.end(), [](const Prediction& each) { return each.rejected; }));
    prediction.rejected = 2 * rejected > window.size();
    float score = 0.0F;
    for (const Prediction& each : window) score += each.unknown_score;
    prediction.unknown_score = score / static_cast<float>(window.size());
    name_answer(probabilities, class_names, tree, sure, prediction);
  }
}

void predict_frames(const Model& model, const PredictorOptions& options, std::size_t frames, const FeatureSet& set,
                    const PredictionsCallback& use, const ProgressCallback& progress) {
  if (frames % 2 == 0) {
    fail_field(ErrorKind::kUsage, "consensus", "expected {} to be an odd number of frames, found {}", frames);
  }
  const std::vector<std::string> videos = videos_of(set);
  const bool has_frames =
      std::any_of(videos.begin(), videos.end(), [](const std::string& video) { return !video.empty(); });
  if (frames == 1 || !has_frames) return predict_set(Predictor(model, options), set, use, progress);
  PredictorOptions every_class = options;
  every_class.top = model.class_names.size();
  std::vector<Prediction> all;
  const auto keep = [&](std::size_t, std::span<Prediction> predictions) {
    all.insert(all.end(), std::make_move_iterator(predictions.begin()), std::make_move_iterator(predictions.end()));
  };
  const Predictor predictor(model, every_class);
  predict_set(predictor, set, keep, progress);
  for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
    for (end = first + 1; end < all.size() && !videos[first].empty() && videos[end] == videos[first]; ++end) {
    }
    const auto rows = std::span(all).subspan(first, end - first);
    if (!videos[first].empty()) agree(rows, frames, options.top, model.class_names, predictor.tree(), options.sure);
    for (Prediction& row : rows) row.top.resize(std::min(row.top.size(), options.top));
  }
  use(0, all);
}

}  // namespace annulus
