// Groups of classes, such as genera of species: which group an input belongs to where its class is unsure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "annulus/learn/model/prediction.h"

namespace annulus {

// The group of a class or of a group, by name. What is not in it stands at the top.
using ClassParents = std::map<std::string, std::string>;

// Names that are paths, "birds/woodpeckers/downy": each part of the path is a group of the next one.
ClassParents parents_of_paths(std::span<const std::string> class_names);

class ClassTree {
 public:
  // A tree without groups.
  ClassTree() = default;
  // Entries of `parents` that lead to no class are passed over. Throws Error{kInput} for groups that contain
  // themselves and for a group that has the name of a class.
  ClassTree(std::span<const std::string> class_names, const ClassParents& parents);

  bool empty() const { return names_.size() == classes_; }
  // Names of all nodes: classes, then groups, in the order of their names.
  std::span<const std::string> names() const { return names_; }
  std::size_t classes() const { return classes_; }
  std::span<const std::string> groups() const { return std::span(names_).subspan(classes_); }
  // The index of a node's group, or -1 at the top.
  std::int32_t parent(std::size_t node) const { return parents_[node]; }
  // Whether `ancestor` is the node itself or one of the groups above it.
  bool is_within(std::size_t node, std::size_t ancestor) const;

  // The same tree with another exponent of class probabilities in the sums of groups (group_sharpness.h).
  ClassTree with_sharpness(double sharpness) const;

  // The probability of every node: of a group, the sum over its classes of probabilities that were raised to the
  // exponent, relative to that over all classes; at least that of its most probable node.
  std::vector<float> probabilities(std::span<const float> of_classes) const;

  // From the top down to a class, the most probable node of each level within the one before it; of equals the one of
  // the lower index.
  std::vector<RankedNode> lineage(std::span<const float> of_classes) const;

 private:
  std::size_t classes_ = 0;
  double sharpness_ = 1.0;
  std::vector<std::string> names_;
  std::vector<std::int32_t> parents_;
  std::vector<std::vector<std::int32_t>> children_;  // of each node
  std::vector<std::int32_t> top_;
  std::vector<std::int32_t> bottom_up_;  // groups, each after all groups within it
};

// The deepest entry of a lineage that is at least as probable as `sure`; the first one where none is.
std::size_t sure_level(std::span<const RankedNode> lineage, double sure);

}  // namespace annulus
