// Communities of small graphs whose shortest description is known.
#include "annulus/eval/pool/map_equation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace annulus {
namespace {

// Rings of cliques: `cliques` of `size` nodes each, joined by one edge from each to the next.
std::vector<WeightedEdge> ring_of_cliques(std::uint32_t cliques, std::uint32_t size) {
  std::vector<WeightedEdge> edges;
  for (std::uint32_t c = 0; c < cliques; ++c) {
    for (std::uint32_t i = 0; i < size; ++i) {
      for (std::uint32_t j = i + 1; j < size; ++j) edges.push_back({c * size + i, c * size + j, 1.0});
    }
    edges.push_back({c * size, (c + 1) % cliques * size + 1, 1.0});
  }
  return edges;
}

TEST(MapEquation, LengthIsThatOfTheFormula) {
  // Two nodes and an edge: a walker is at either half of the time. Apart, it leaves a community at every step.
  const std::vector<WeightedEdge> edge{{0, 1, 3.0}};
  const std::vector<std::uint32_t> together{0, 0};
  const std::vector<std::uint32_t> apart{0, 1};
  EXPECT_NEAR(description_length(2, edge, together), 1.0, 1e-12);
  // plogp(1) - 2 * 2 plogp(1/2) - 2 plogp(1/2) + 2 plogp(1) = 0 + 2 + 1 + 0
  EXPECT_NEAR(description_length(2, edge, apart), 3.0, 1e-12);
}

TEST(MapEquation, FindsCliquesHoweverManyThereAre) {
  for (const std::uint32_t cliques : {3U, 40U}) {
    const auto edges = ring_of_cliques(cliques, 5);
    const auto found = map_equation_communities(5 * cliques, edges);
    for (std::uint32_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], i / 5) << cliques;
  }
}

TEST(MapEquation, LonelyNodesAreCommunitiesOfTheirOwn) {
  const std::vector<WeightedEdge> edge{{1, 3, 1.0}};
  EXPECT_EQ(map_equation_communities(4, edge), (std::vector<std::uint32_t>{0, 1, 2, 1}));
  EXPECT_EQ(map_equation_communities(2, {}), (std::vector<std::uint32_t>{0, 1}));
}

TEST(MapEquation, IsNoLongerThanTheCliquesAndThanOneCommunity) {
  const auto edges = ring_of_cliques(12, 6);
  const auto found = map_equation_communities(72, edges);
  EXPECT_LT(description_length(72, edges, found), description_length(72, edges, std::vector<std::uint32_t>(72, 0)));
}

TEST(MapEquation, StopsWhenTold) {
  const auto edges = ring_of_cliques(3, 5);
  EXPECT_THROW(map_equation_communities(15, edges, [](const Progress&) { return false; }), Error);
}

}  // namespace
}  // namespace annulus
