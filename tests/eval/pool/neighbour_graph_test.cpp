// Weights of edges between neighbours.
#include "annulus/eval/pool/neighbour_graph.h"

#include <gtest/gtest.h>

#include <cmath>

namespace annulus {
namespace {

TEST(NeighbourGraph, JoinsTheLikingsOfBothEnds) {
  // Row 0 has the neighbours 1 (distance 0.1) and 2 (0.3); row 1 has 0 (0.1) and 2 (0.5); row 2 has 0 alone.
  Neighbours neighbours{Matrix<float>(3, 2), Matrix<std::uint32_t>(3, 2)};
  neighbours.row(0, 0) = 1;
  neighbours.row(0, 1) = 2;
  neighbours.row(1, 0) = 0;
  neighbours.row(1, 1) = 2;
  neighbours.row(2, 0) = 0;
  neighbours.row(2, 1) = Neighbours::kNoRow;
  neighbours.cosine(0, 0) = 0.9F;
  neighbours.cosine(0, 1) = 0.7F;
  neighbours.cosine(1, 0) = 0.9F;
  neighbours.cosine(1, 1) = 0.5F;
  neighbours.cosine(2, 0) = 0.7F;
  const auto edges = neighbour_graph(neighbours, 2);
  ASSERT_EQ(edges.size(), 3U);
  EXPECT_EQ(edges[0].first, 0U);
  EXPECT_EQ(edges[0].second, 1U);
  EXPECT_NEAR(edges[0].weight, 1.0, 1e-9);  // the nearest of both
  // 0 likes 2 by exp(-0.2 / mean(0, 0.2)) = exp(-2); 2 likes 0, its nearest, by 1.
  EXPECT_EQ(edges[1].second, 2U);
  EXPECT_NEAR(edges[1].weight, 1.0, 1e-6);
  EXPECT_EQ(edges[2].first, 1U);
  EXPECT_NEAR(edges[2].weight, std::exp(-2.0), 1e-5);  // from one end alone
}

TEST(NeighbourGraph, FewRowsHaveFewerNeighbours) {
  EXPECT_EQ(graph_neighbours(2), 2U);
  EXPECT_EQ(graph_neighbours(30), 5U);
  EXPECT_EQ(graph_neighbours(100000), 10U);
}

}  // namespace
}  // namespace annulus
