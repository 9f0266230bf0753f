// Prediction: what a model says about one input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace annulus {

/// The label of an input that the model rejects as unknown.
inline constexpr const char* kUnknownLabel = "unknown";

/// A class of the model with its probability.
struct RankedClass {
  std::int32_t index = 0;    ///< Of Model::class_names.
  float probability = 0.0F;  ///< From 0 to 1, calibrated where the model is.
};

/// A class or a group of classes with its probability.
struct RankedNode {
  std::int32_t index = 0;    ///< Of Model::class_names; groups come after the classes, in the order of their names.
  float probability = 0.0F;  ///< Of a group: the sum over its classes.
};

/// A training example that is near an input.
struct NearExample {
  std::size_t row = 0;  ///< Of Model::support.
  float cosine = 0.0F;  ///< Cosine similarity of the two transformed feature rows.
};

/// Why a model predicts what it predicts.
struct Explanation {
  std::vector<NearExample> nearest;      ///< The nearest training examples, nearest first; at most three.
  std::optional<RankedClass> runner_up;  ///< The second most probable class; absent with a single class.
  /// Distance to the decision boundary: how far the feature row can move before the class changes.
  float boundary_distance = 0.0F;
};

/// What a model says about one input.
struct Prediction {
  /// Name of the most probable class, or of a group of classes where the class is unsure; kUnknownLabel for a rejected
  /// input.
  std::string label;
  float probability = 0.0F;      ///< Of that class or group, also when the input is rejected.
  bool rejected = false;         ///< Whether the input is rejected as unknown: of none of the model's classes.
  float unknown_score = 0.0F;    ///< The larger, the better known the input is; 0 where the model cannot reject.
  std::vector<RankedClass> top;  ///< The most probable classes, most probable first; never empty.
  /// Of a model whose classes have groups: from the top down to a class, the most probable of each level within the one
  /// before it.
  std::vector<RankedNode> lineage;
  std::size_t level = 0;                   ///< The entry of `lineage` that `label` names.
  std::optional<Explanation> explanation;  ///< Present when it was asked for.
};

}  // namespace annulus
