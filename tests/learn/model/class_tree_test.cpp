// Groups of classes.
#include "annulus/learn/model/class_tree.h"

#include <gtest/gtest.h>

#include "annulus/base/error.h"

namespace annulus {
namespace {

const std::vector<std::string> kNames{"downy", "hairy", "robin", "oak"};
const ClassParents kParents{{"downy", "woodpeckers"},
                            {"hairy", "woodpeckers"},
                            {"woodpeckers", "birds"},
                            {"robin", "birds"},
                            {"wren", "perching"}};

std::vector<std::string> names_of(const ClassTree& tree, const std::vector<RankedNode>& lineage) {
  std::vector<std::string> names;
  for (const RankedNode& node : lineage) names.push_back(tree.names()[static_cast<std::size_t>(node.index)]);
  return names;
}

TEST(ClassTree, SumsTheProbabilitiesOfItsGroups) {
  const ClassTree tree(kNames, kParents);
  EXPECT_FALSE(tree.empty());
  EXPECT_EQ(std::vector<std::string>(tree.names().begin(), tree.names().end()),
            (std::vector<std::string>{"downy", "hairy", "robin", "oak", "birds", "woodpeckers"}));
  EXPECT_EQ(tree.groups().size(), 2U);
  const std::vector<float> probabilities{0.25F, 0.125F, 0.125F, 0.5F};
  EXPECT_EQ(tree.probabilities(probabilities), (std::vector<float>{0.25F, 0.125F, 0.125F, 0.5F, 0.5F, 0.375F}));
  EXPECT_TRUE(tree.is_within(0, 5));
  EXPECT_TRUE(tree.is_within(0, 4));
  EXPECT_TRUE(tree.is_within(0, 0));
  EXPECT_FALSE(tree.is_within(2, 5));
  EXPECT_FALSE(tree.is_within(5, 0));
}

TEST(ClassTree, ALineageGoesDownToAClass) {
  const ClassTree tree(kNames, kParents);
  // No class of the birds is as probable as the oak; together they are more so.
  const std::vector<RankedNode> birds = tree.lineage(std::vector<float>{0.25F, 0.1875F, 0.1875F, 0.375F});
  EXPECT_EQ(names_of(tree, birds), (std::vector<std::string>{"birds", "woodpeckers", "downy"}));
  EXPECT_EQ(birds[0].probability, 0.625F);
  EXPECT_EQ(birds[1].probability, 0.4375F);
  EXPECT_EQ(names_of(tree, tree.lineage(std::vector<float>{0.0F, 0.125F, 0.0F, 0.875F})),
            std::vector<std::string>{"oak"});
  EXPECT_EQ(names_of(tree, tree.lineage(std::vector<float>{0.25F, 0.25F, 0.125F, 0.0F})),
            (std::vector<std::string>{"birds", "woodpeckers", "downy"}))
      << "of equals the first";
}

TEST(ClassTree, TheSmallestGroupThatIsSureIsNamed) {
  const std::vector<RankedNode> lineage{{4, 0.95F}, {5, 0.85F}, {0, 0.5F}};
  EXPECT_EQ(sure_level(lineage, 0.5), 2U);
  EXPECT_EQ(sure_level(lineage, 0.8), 1U);
  EXPECT_EQ(sure_level(lineage, 0.9), 0U);
  EXPECT_EQ(sure_level(lineage, 0.99), 0U) << "none is";
}

TEST(ClassTree, NamesThatArePathsHaveGroups) {
  const std::vector<std::string> names{"birds/woodpeckers/downy", "birds/robin", "oak", "/odd"};
  const ClassParents parents = parents_of_paths(names);
  EXPECT_EQ(parents, (ClassParents{{"birds/woodpeckers/downy", "birds/woodpeckers"},
                                   {"birds/woodpeckers", "birds"},
                                   {"birds/robin", "birds"}}));
  EXPECT_EQ(ClassTree(names, parents).groups().size(), 2U);
  EXPECT_TRUE(ClassTree(names, {}).empty());
  EXPECT_TRUE(ClassTree(names, {{"wren", "birds"}}).empty()) << "it leads to no class";
}

TEST(ClassTree, WhatIsNoTreeIsRejected) {
  EXPECT_THROW(ClassTree(kNames, {{"downy", "a"}, {"a", "b"}, {"b", "a"}}), Error);
  EXPECT_THROW(ClassTree(kNames, {{"downy", "downy"}}), Error);
  EXPECT_THROW(ClassTree(kNames, {{"downy", "oak"}}), Error);
}

}  // namespace
}  // namespace annulus
