// Communities of a weighted graph by the map equation (Rosvall and Bergstrom, PNAS 2008): no number of communities and
// no resolution is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/progress.h"

namespace annulus {

struct WeightedEdge {
  std::uint32_t first = 0;
  std::uint32_t second = 0;  // another node
  double weight = 1.0;       // positive
};

// The community of each node, numbered by the order of their first nodes. A random walker on the graph is described in
// two levels; the communities are those of (nearly) the shortest description:
//   L = plogp(sum_m q_m) - 2 sum_m plogp(q_m) - sum_i plogp(p_i) + sum_m plogp(q_m + sum_{i in m} p_i)
// with p_i the fraction of the edges' weight at node i, and q_m the fraction that leaves community m. Nodes
// move to the neighbouring community that shortens it most (as Louvain's method does), then communities move as wholes;
// both are repeated until nothing shortens it. Each undirected edge is named once. A pure function of the edges in
// their order, on one thread; costs about a hundred passes over the edges.
std::vector<std::uint32_t> map_equation_communities(std::size_t nodes, std::span<const WeightedEdge> edges,
                                                    const ProgressCallback& progress = {});

// L in bits, of given communities.
double description_length(std::size_t nodes, std::span<const WeightedEdge> edges,
                          std::span<const std::uint32_t> communities);

}  // namespace annulus
