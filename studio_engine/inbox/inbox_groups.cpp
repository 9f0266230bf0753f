// Alike photos vote on their class; groups of one class become one.
#include "studio_engine/inbox/inbox_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "annulus/eval/pool/discover.h"

namespace annulus::studio {
namespace {

constexpr double kSure = 0.7;   // from this mean probability on, groups of one class become one
constexpr double kDoubt = 0.5;  // below this probability a photo may be of another class

using Probabilities = std::map<std::int32_t, double>;

// What a group of alike photos, or one of them, says.
struct Vote {
  Probabilities probabilities;
  double rejected = 0.0;  // fraction that resembles no class

  void add(const Prediction& prediction, double weight) {
    for (const RankedClass& ranked : prediction.top) {
      probabilities[ranked.index] += weight * static_cast<double>(ranked.probability);
    }
    if (prediction.rejected) rejected += weight;
  }
  double of(std::int32_t label) const {
    const auto found = probabilities.find(label);
    return found == probabilities.end() ? 0.0 : found->second;
  }
  std::int32_t best() const {
    const auto by_probability = [](const auto& a, const auto& b) { return a.second < b.second; };
    return std::max_element(probabilities.begin(), probabilities.end(), by_probability)->first;
  }
};

Vote mean_of(const Vote& a, const Prediction& b) {
  Vote mean;
  for (const auto& [label, probability] : a.probabilities) mean.probabilities[label] = probability / 2.0;
  mean.rejected = a.rejected / 2.0;
  mean.add(b, 0.5);
  return mean;
}

std::vector<LikelyClass> likely_of(const Probabilities& probabilities, double photos,
                                   std::span<const std::string> class_names) {
  std::vector<LikelyClass> likely;
  for (const auto& [label, sum] : probabilities) {
    likely.push_back({class_names[static_cast<std::size_t>(label)], sum / photos});
  }
  std::stable_sort(likely.begin(), likely.end(),
                   [](const LikelyClass& a, const LikelyClass& b) { return a.probability > b.probability; });
  if (likely.size() > kLikelyClasses) likely.resize(kLikelyClasses);
  return likely;
}

// A group while its photos come together.
struct Gathered {
  InboxGroup group;
  Probabilities sums;

  void add(std::string id, const Vote& vote, std::optional<std::int32_t> suggested, bool doubtful) {
    for (const auto& [label, probability] : vote.probabilities) sums[label] += probability;
    group.photos.push_back({std::move(id), suggested ? vote.of(*suggested) : 0.0, doubtful});
  }
};

class Gathering {
 public:
  Gathering(std::span<const std::string> photos, std::span<const Prediction> predictions,
            std::span<const std::string> class_names)
      : photos_(photos), predictions_(predictions), class_names_(class_names) {}

  void add(const std::vector<std::uint32_t>& rows, const std::string& key) {
    if (rows.empty()) return;
    Vote vote;
    if (!predictions_.empty()) {
      for (const std::uint32_t row : rows) vote.add(predictions_[row], 1.0 / static_cast<double>(rows.size()));
    }
    const bool resembles = !vote.probabilities.empty() && vote.rejected < 0.5;
    if (!resembles) {
      keep_together(rows, rows.size() < kLeastKind ? "others" : key, vote, {});
    } else if (vote.of(vote.best()) < kSure) {
      keep_together(rows, key, vote, vote.best());
    } else {
      for (const std::uint32_t row : rows) {
        const Vote own = mean_of(vote, predictions_[row]);
        const std::int32_t label = own.best();
        gathered("class " + name_of(label), label)
            .add(photos_[row], own, label, label != vote.best() || doubtful(row, own.of(label)));
      }
    }
  }

  std::vector<InboxGroup> finish() {
    std::vector<InboxGroup> groups;
    for (auto& [key, one] : gathered_) {
      one.group.likely = likely_of(one.sums, static_cast<double>(one.group.photos.size()), class_names_);
      for (const InboxPhoto& photo : one.group.photos) {
        one.group.sure += photo.sure / static_cast<double>(one.group.photos.size());
      }
      std::stable_sort(one.group.photos.begin(), one.group.photos.end(), [](const auto& a, const auto& b) {
        return a.doubtful != b.doubtful ? a.doubtful : a.sure < b.sure;
      });
      groups.push_back(std::move(one.group));
    }
    const auto rank = [](const InboxGroup& group) {
      return group.key == "others" ? 2 : group.suggestion.empty() ? 1 : 0;
    };
    std::stable_sort(groups.begin(), groups.end(), [&](const InboxGroup& a, const InboxGroup& b) {
      if (rank(a) != rank(b)) return rank(a) < rank(b);
      return rank(a) == 0 ? a.sure > b.sure : a.photos.size() > b.photos.size();
    });
    return groups;
  }

 private:
  // The least typical photos come first.
  void keep_together(const std::vector<std::uint32_t>& rows, const std::string& key, const Vote& vote,
                     std::optional<std::int32_t> suggested) {
    Gathered& group = gathered(key, suggested);
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
      const Vote own = predictions_.empty() ? vote : mean_of(vote, predictions_[*row]);
      group.add(photos_[*row], own, suggested, suggested && doubtful(*row, own.of(*suggested)));
    }
  }
  bool doubtful(std::uint32_t row, double probability) const {
    return predictions_[row].rejected || probability < kDoubt;
  }
  const std::string& name_of(std::int32_t label) const { return class_names_[static_cast<std::size_t>(label)]; }
  Gathered& gathered(const std::string& key, std::optional<std::int32_t> suggested) {
    Gathered& one = gathered_[key];
    one.group.key = key;
    if (suggested) one.group.suggestion = name_of(*suggested);
    return one;
  }

  std::span<const std::string> photos_;
  std::span<const Prediction> predictions_;
  std::span<const std::string> class_names_;
  std::map<std::string, Gathered> gathered_;  // by key
};

bool has_length(std::span<const float> row) {
  return std::any_of(row.begin(), row.end(), [](float value) { return value != 0.0F; });
}

}  // namespace

AlikePhotos alike_photos(ConstMatrixView<float> features, std::span<const std::string> photos, int threads,
                         const ProgressCallback& progress) {
  AlikePhotos alike;
  std::vector<std::uint32_t> rows;  // that can be compared
  for (std::uint32_t row = 0; row < features.rows(); ++row) {
    if (has_length(features.row(row))) {
      rows.push_back(row);
    } else {
      alike.push_back({row});
    }
  }
  if (rows.size() < 2) {
    for (const std::uint32_t row : rows) alike.push_back({row});
    return alike;
  }
  Matrix<float> compared(rows.size(), features.cols());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(features.row(rows[i]).begin(), features.cols(), compared.row(i).begin());
    names.push_back(photos[rows[i]]);
  }
  DiscoverOptions options;
  options.threads = threads;
  for (PoolGroup& group : discover(std::move(compared), names, options, progress).groups) {
    for (std::uint32_t& row : group.rows) row = rows[row];
    alike.push_back(std::move(group.rows));
  }
  return alike;
}

std::vector<InboxGroup> inbox_groups(const AlikePhotos& alike, std::span<const std::string> photos,
                                     std::span<const Prediction> predictions, std::span<const std::string> class_names,
                                     std::uint64_t number) {
  Gathering gathering(photos, predictions, class_names);
  for (std::size_t g = 0; g < alike.size(); ++g) gathering.add(alike[g], fmt::format("group {} {}", number, g));
  return gathering.finish();
}

}  // namespace annulus::studio
