// A trained predictor: a head with everything needed to use it and to know where it came from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "annulus/learn/method/head.h"
#include "annulus/learn/model/class_tree.h"
#include "annulus/learn/model/support_set.h"
#include "annulus/learn/model/training_record.h"
#include "annulus/learn/openset/rejection_rule.h"

namespace annulus {

/// A trained model. A plain value: movable, and safe to read from several threads at once.
struct Model {
  Head<float> head;                               ///< The classifier; takes raw feature rows.
  std::vector<std::string> class_names;           ///< One per row of the head.
  double epsilon = 0.0;                           ///< Radius it was trained at; 0 without virtual examples.
  double temperature = 1.0;                       ///< Logits are divided by it to become probabilities.
  TrainingRecord training;                        ///< How it was fitted and updated.
  std::map<std::string, std::string> provenance;  ///< Of the features: backbone, checksum, preprocessing, source file.
  SupportSet support;                             ///< Training examples that it keeps; may be empty.
  /// The group of a class or of a group, by name ("downy" to "woodpeckers"); empty: classes have no groups. Predictions
  /// name a group where the class is unsure.
  std::map<std::string, std::string> parents;
  /// Class probabilities are raised to it before they are summed to those of groups; 1 where nothing was held out.
  double group_sharpness = 1.0;
  UnknownRule unknown;  ///< How it rejects unknown inputs; may be empty: it never does.
  /// The trained head of a model whose head is its sum with ensemble heads, mapped out of the metric that it was
  /// trained in: what incremental updates start from. Its transform is that of its training.
  std::optional<Head<float>> trained;
};

/// The classes of a model and their groups.
ClassTree tree_of(const Model& model);

/// Drops the training examples and what is of no use without them. The model predicts as before, but can neither be
/// updated nor explain itself, nor reject unknown inputs by their nearest training example.
void strip(Model& model);

}  // namespace annulus
