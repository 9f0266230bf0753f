// Nodes are classes, then groups; probabilities are summed from the bottom up.
#include "annulus/learn/model/class_tree.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {

ClassParents parents_of_paths(std::span<const std::string> class_names) {
  ClassParents parents;
  for (const std::string& name : class_names) {
    std::string below = name;
    for (std::size_t slash = name.rfind('/'); slash != std::string::npos && slash > 0;
         slash = name.rfind('/', slash - 1)) {
      std::string group = name.substr(0, slash);
      parents.emplace(std::move(below), group);
      below = std::move(group);
    }
  }
  return parents;
}

ClassTree::ClassTree(std::span<const std::string> class_names, const ClassParents& parents)
    : classes_(class_names.size()), names_(class_names.begin(), class_names.end()) {
  // Groups that lead to a class, sorted by name.
  std::map<std::string, std::int32_t> groups;
  for (const std::string& class_name : class_names) {
    std::size_t steps = 0;
    for (auto found = parents.find(class_name); found != parents.end(); found = parents.find(found->second)) {
      if (++steps > parents.size()) {
        fail(ErrorKind::kInput, "expected groups that do not contain themselves, found \"{}\" within itself",
             found->second);
      }
      groups.emplace(found->second, 0);
    }
  }
  for (auto& [name, index] : groups) {
    if (std::find(class_names.begin(), class_names.end(), name) != class_names.end()) {
      fail(ErrorKind::kInput,
           "expected groups with other names than the classes, found the class \"{}\" as a group: give its examples a "
           "class of their own within it",
           name);
    }
    index = static_cast<std::int32_t>(names_.size());
    names_.push_back(name);
  }
  parents_.assign(names_.size(), -1);
  children_.resize(names_.size());
  for (std::size_t node = 0; node < names_.size(); ++node) {
    const auto found = parents.find(names_[node]);
    if (found != parents.end()) parents_[node] = groups.at(found->second);
    auto& siblings = parents_[node] < 0 ? top_ : children_[static_cast<std::size_t>(parents_[node])];
    siblings.push_back(static_cast<std::int32_t>(node));
  }
  // Top-down, then reversed.
  std::vector<std::int32_t> waiting = top_;
  while (!waiting.empty()) {
    const std::int32_t node = waiting.back();
    waiting.pop_back();
    const auto& below = children_[static_cast<std::size_t>(node)];
    if (static_cast<std::size_t>(node) >= classes_) bottom_up_.push_back(node);
    waiting.insert(waiting.end(), below.begin(), below.end());
  }
  std::reverse(bottom_up_.begin(), bottom_up_.end());
}

bool ClassTree::is_within(std::size_t node, std::size_t ancestor) const {
  for (auto at = static_cast<std::int32_t>(node); at >= 0; at = parents_[static_cast<std::size_t>(at)]) {
    if (static_cast<std::size_t>(at) == ancestor) return true;
  }
  return false;
}

ClassTree ClassTree::with_sharpness(double sharpness) const {
  ClassTree tree = *this;
  tree.sharpness_ = sharpness;
  return tree;
}

std::vector<float> ClassTree::probabilities(std::span<const float> of_classes) const {
  std::vector<float> all(names_.size(), 0.0F);
  std::copy(of_classes.begin(), of_classes.end(), all.begin());
  if (empty()) return all;
  std::vector<double> parts(names_.size(), 0.0);
  double whole = 0.0;
  for (std::size_t c = 0; c < of_classes.size(); ++c) {
    const auto probability = static_cast<double>(of_classes[c]);
    parts[c] = sharpness_ == 1.0 ? probability : std::pow(probability, sharpness_);
    whole += parts[c];
  }
  for (const std::int32_t group : bottom_up_) {
    const auto node = static_cast<std::size_t>(group);
    float most = 0.0F;
    for (const std::int32_t child : children_[node]) {
      parts[node] += parts[static_cast<std::size_t>(child)];
      most = std::max(most, all[static_cast<std::size_t>(child)]);
    }
    all[node] = std::clamp(static_cast<float>(sharpness_ == 1.0 ? parts[node] : parts[node] / whole), most, 1.0F);
  }
  return all;
}

std::vector<RankedNode> ClassTree::lineage(std::span<const float> of_classes) const {
  const std::vector<float> all = probabilities(of_classes);
  std::vector<RankedNode> lineage;
  const std::vector<std::int32_t>* level = &top_;
  while (!level->empty()) {
    const std::int32_t best = *std::max_element(level->begin(), level->end(), [&](std::int32_t a, std::int32_t b) {
      return all[static_cast<std::size_t>(a)] < all[static_cast<std::size_t>(b)];
    });
    lineage.push_back({best, all[static_cast<std::size_t>(best)]});
    level = &children_[static_cast<std::size_t>(best)];
  }
  return lineage;
}

std::size_t sure_level(std::span<const RankedNode> lineage, double sure) {
  for (std::size_t level = lineage.size(); level-- > 1;) {
    if (static_cast<double>(lineage[level].probability) >= sure) return level;
  }
  return 0;
}

}  // namespace annulus
