// A prediction as one JSON object: the same keys on the command line, from the server and in the studio.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/learn/model/class_tree.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/learn/model/support_set.h"

namespace annulus {

struct PredictionJsonRow {
  const Prediction& prediction;
  std::size_t row = 0;                                        // its number among the rows of the request
  std::optional<std::string_view> path{};                     // names the row in place of its number
  std::size_t top = std::numeric_limits<std::size_t>::max();  // classes to list at most
  bool may_reject = false;                                    // adds unknown, unknown_score and best
  bool rejected = false;
};

// Writes {"path" or "row", "label", "probability", "top": [{"label", "probability"}, ...]}, the most probable class
// first. A path that names a part of a file (base/media_fragment.h) is followed by its pieces: "file", "seconds" of a
// video and "box": {"x", "y", "width", "height", "unit": "pixel" or "percent"}. Where rows may be rejected it adds
// "unknown", "unknown_score" and "best" after the probability; a rejected row has the label "unknown", and "best" is
// its most probable class. Where classes have groups it adds "lineage" after "top", a list like it: from the top down
// to a class; "label" may then be a group's, and "best" is there too. Where the prediction is explained it ends in
// "explain": {"nearest": [{"path", "training_row", "label", "cosine"}, ...], "runner_up": {"label", "probability"},
// "boundary_distance", "epsilon"}. Numbers have the fewest digits that give the same float back; what is not finite is
// null.
class PredictionJson {
 public:
  // `support` holds the training examples that explanations name and must outlive this; `epsilon` is the radius that
  // the model was trained at.
  PredictionJson(std::span<const std::string> class_names, const SupportSet& support, double epsilon,
                 const ClassTree& tree = {});

  // Class names as JSON strings, quotes and all.
  const std::vector<std::string>& quoted_names() const { return quoted_names_; }

  // Appends one object without a line end.
  void write(const PredictionJsonRow& row, std::string& out) const;

 private:
  const std::string& name(const RankedClass& ranked) const {
    return quoted_names_[static_cast<std::size_t>(ranked.index)];
  }
  const std::string& name(const RankedNode& ranked) const {
    const auto node = static_cast<std::size_t>(ranked.index);
    return node < quoted_names_.size() ? quoted_names_[node] : quoted_groups_[node - quoted_names_.size()];
  }
  template <class Ranked>
  void write_ranked(const Ranked& ranked, std::string& out) const;
  void write_explanation(const Explanation& explanation, std::string& out) const;

  std::vector<std::string> quoted_names_;
  std::vector<std::string> quoted_groups_;
  const SupportSet& support_;
  double epsilon_;
};

}  // namespace annulus
