// The graph of nearest neighbours whose communities are groups of alike examples.
#pragma once

#include <cstddef>
#include <vector>

#include "annulus/eval/audit/neighbours.h"
#include "annulus/eval/pool/map_equation.h"

namespace annulus {

// How many neighbours of each of `rows` rows the graph joins: ten, fewer for fewer than a hundred rows.
std::size_t graph_neighbours(std::size_t rows);

// An edge from each row to each of its first `count` neighbours. With d_k the distance (1 - cosine) to neighbour k and
// s the mean of d_k - d_1, a row likes neighbour k by exp(-(d_k - d_1) / s), so that dense and sparse parts of the data
// count alike; an edge that is liked by a and b from its two ends weighs a + b - a b (the fuzzy union of UMAP). Edges
// are sorted by their ends.
std::vector<WeightedEdge> neighbour_graph(const Neighbours& neighbours, std::size_t count);

}  // namespace annulus
