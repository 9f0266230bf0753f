// Groups of unsorted photos, and the class that each group seems to be of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/model/prediction.h"

namespace annulus::studio {

struct LikelyClass {
  std::string name;
  double probability = 0.0;
};

struct InboxPhoto {
  std::string id;
  double sure = 0.0;      // probability of the group's suggestion; 0 without one
  bool doubtful = false;  // it may be of another class than the group's suggestion
};

struct InboxGroup {
  std::string key;                    // names the group in requests
  std::string suggestion;             // class; empty: it resembles none
  double sure = 0.0;                  // mean of its photos
  std::vector<LikelyClass> likely{};  // the most probable first
  std::vector<InboxPhoto> photos{};   // those that may not belong come first
};

// Photos that look alike: a row of numbers of rows each, the most typical first.
using AlikePhotos = std::vector<std::vector<std::uint32_t>>;

inline constexpr std::size_t kLikelyClasses = 9;  // that a group lists: one for each digit key

// Groups rows by their features, as the library's discover() does. Rows without length are a group each.
AlikePhotos alike_photos(ConstMatrixView<float> features, std::span<const std::string> photos, int threads,
                         const ProgressCallback& progress);

// What the groups are shown as. Alike photos vote: the probability that counts for a photo is the mean of its own and
// of those beside it. Groups that are surely of the same class become one; photos that resemble no class stay with
// those alike, and those unlike all others come together at the end. Suggestions come first, the surest at the front,
// then what has none, the largest at the front. `predictions` is empty without a model, else it has one for each photo,
// with the kLikelyClasses most probable classes. `number` tells the groups of one call of alike_photos() from those of
// another.
std::vector<InboxGroup> inbox_groups(const AlikePhotos& alike, std::span<const std::string> photos,
                                     std::span<const Prediction> predictions, std::span<const std::string> class_names,
                                     std::uint64_t number);

}  // namespace annulus::studio
