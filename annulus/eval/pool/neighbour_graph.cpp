// Weighs neighbours by rank-free distances and joins both directions.
#include "annulus/eval/pool/neighbour_graph.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace annulus {
namespace {

constexpr std::size_t kGraphNeighbours = 10;
constexpr double kLeastScale = 1e-7;  // the resolution of 1 - cosine in float
constexpr double kLeastWeight = 1e-6;

std::size_t found_neighbours(const Neighbours& neighbours, std::size_t row, std::size_t count) {
  std::size_t found = 0;
  while (found < std::min(count, neighbours.row.cols()) && neighbours.row(row, found) != Neighbours::kNoRow) ++found;
  return found;
}

double distance(const Neighbours& neighbours, std::size_t row, std::size_t k) {
  return std::max(0.0, 1.0 - static_cast<double>(neighbours.cosine(row, k)));
}

}  // namespace

std::size_t graph_neighbours(std::size_t rows) {
  const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(rows)) + 0.5);
  return std::clamp<std::size_t>(root, 2, kGraphNeighbours);
}

std::vector<WeightedEdge> neighbour_graph(const Neighbours& neighbours, std::size_t count) {
  std::vector<WeightedEdge> edges;
  edges.reserve(neighbours.row.rows() * count);
  for (std::size_t i = 0; i < neighbours.row.rows(); ++i) {
    const std::size_t found = found_neighbours(neighbours, i, count);
    if (found == 0) continue;
    const double nearest = distance(neighbours, i, 0);
    double mean = 0.0;
    for (std::size_t k = 0; k < found; ++k) mean += distance(neighbours, i, k) - nearest;
    mean = std::max(mean / static_cast<double>(found), kLeastScale);
    for (std::size_t k = 0; k < found; ++k) {
      const double liking = std::exp(-std::max(0.0, distance(neighbours, i, k) - nearest) / mean);
      const auto [low, high] = std::minmax({static_cast<std::uint32_t>(i), neighbours.row(i, k)});
      edges.push_back({low, high, std::max(liking, kLeastWeight)});
    }
  }
  std::stable_sort(edges.begin(), edges.end(), [](const WeightedEdge& a, const WeightedEdge& b) {
    return std::pair(a.first, a.second) < std::pair(b.first, b.second);
  });
  std::size_t kept = 0;
  for (const WeightedEdge& edge : edges) {
    WeightedEdge* const last = kept == 0 ? nullptr : &edges[kept - 1];
    if (last != nullptr && last->first == edge.first && last->second == edge.second) {
      last->weight += edge.weight - last->weight * edge.weight;
    } else {
      edges[kept++] = edge;
    }
  }
  edges.resize(kept);
  return edges;
}

}  // namespace annulus
