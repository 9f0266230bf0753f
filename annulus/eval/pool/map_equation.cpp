// Moves nodes and communities while that shortens the description.
#include "annulus/eval/pool/map_equation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "annulus/base/random.h"

namespace annulus {
namespace {

constexpr double kLeastGain = 1e-10;  // bits of a move
constexpr double kLeastRound = 1e-7;  // bits of a round, as a fraction of all
constexpr std::uint32_t kMostPasses = 50;
constexpr std::uint32_t kMostRounds = 12;
constexpr std::uint32_t kOrders = 0x504F4F4C;  // the stream of the orders in which nodes are looked at

double plogp(double p) { return p > 0.0 ? p * std::log2(p) : 0.0; }

struct Link {
  std::uint32_t node = 0;
  double flow = 0.0;
};

// A graph whose weights are fractions of the weight of all ends of edges, so that the nodes' visits sum to 1.
struct FlowGraph {
  std::vector<std::size_t> first;  // of each node's links, and the end
  std::vector<Link> links;
  std::vector<double> visits;  // p_i, with the edges inside it where the node stands for several
  std::vector<double> exits;   // the fraction of the weight on the node's links

  std::size_t nodes() const { return visits.size(); }
  std::span<const Link> links_of(std::uint32_t node) const {
    return std::span(links).subspan(first[node], first[node + 1] - first[node]);
  }
};

FlowGraph flow_graph(std::size_t nodes, std::span<const WeightedEdge> edges) {
  double total = 0.0;
  for (const WeightedEdge& edge : edges) total += 2.0 * edge.weight;
  FlowGraph graph{
      std::vector<std::size_t>(nodes + 1), std::vector<Link>(2 * edges.size()), std::vector<double>(nodes), {}};
  for (const WeightedEdge& edge : edges) {
    ++graph.first[edge.first + 1];
    ++graph.first[edge.second + 1];
  }
  std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
  std::vector<std::size_t> next(graph.first.begin(), graph.first.end() - 1);
  for (const WeightedEdge& edge : edges) {
    const double flow = edge.weight / total;
    graph.links[next[edge.first]++] = {edge.second, flow};
    graph.links[next[edge.second]++] = {edge.first, flow};
    graph.visits[edge.first] += flow;
    graph.visits[edge.second] += flow;
  }
  graph.exits = graph.visits;
  return graph;
}

// The graph of the communities of a graph.
FlowGraph merged(const FlowGraph& graph, std::span<const std::uint32_t> community, std::size_t count) {
  std::vector<std::vector<std::uint32_t>> members(count);
  for (std::uint32_t i = 0; i < graph.nodes(); ++i) members[community[i]].push_back(i);
  FlowGraph result{{0}, {}, std::vector<double>(count), std::vector<double>(count)};
  std::vector<double> flow(count, 0.0);
  std::vector<std::uint32_t> touched;
  for (std::uint32_t c = 0; c < count; ++c) {
    touched.clear();
    for (const std::uint32_t node : members[c]) {
      result.visits[c] += graph.visits[node];
      for (const Link& link : graph.links_of(node)) {
        const std::uint32_t other = community[link.node];
        if (other == c) continue;
        if (flow[other] == 0.0) touched.push_back(other);
        flow[other] += link.flow;
      }
    }
    std::sort(touched.begin(), touched.end());
    for (const std::uint32_t other : touched) {
      result.links.push_back({other, flow[other]});
      result.exits[c] += flow[other];
      flow[other] = 0.0;
    }
    result.first.push_back(result.links.size());
  }
  return result;
}

// Numbers communities by their first nodes; returns how many there are.
std::size_t renumber(std::span<std::uint32_t> community) {
  constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  std::vector<std::uint32_t> number(community.size(), kNone);
  std::uint32_t count = 0;
  for (std::uint32_t& c : community) {
    if (number[c] == kNone) number[c] = count++;
    c = number[c];
  }
  return count;
}

// Communities of one graph, and what moving its nodes between them gains.
class Partitioned {
 public:
  Partitioned(const FlowGraph& graph, std::vector<std::uint32_t> community)
      : graph_(graph),
        community_(std::move(community)),
        visits_(graph.nodes()),
        exits_(graph.nodes()),
        size_(graph.nodes()),
        flow_(graph.nodes()) {
    for (std::uint32_t i = 0; i < graph.nodes(); ++i) {
      visits_[community_[i]] += graph.visits[i];
      ++size_[community_[i]];
      for (const Link& link : graph.links_of(i)) {
        if (community_[link.node] != community_[i]) exits_[community_[i]] += link.flow;
      }
    }
    for (std::uint32_t c = 0; c < graph.nodes(); ++c) {
      all_exits_ += exits_[c];
      if (size_[c] == 0) empty_.push_back(c);
    }
  }

  // Moves nodes until none wants to, in an order that no file decides.
  void move_until_stable(std::uint32_t epoch) {
    for (std::uint32_t pass = 0; pass < kMostPasses; ++pass) {
      const auto order =
          random_permutation({0, RandomUse::kShuffle, kOrders}, epoch * kMostPasses + pass, graph_.nodes());
      std::size_t moves = 0;
      for (const std::uint32_t node : order) moves += move(node) ? 1U : 0U;
      if (moves == 0) return;
    }
  }

  std::vector<std::uint32_t> take() { return std::move(community_); }

 private:
  struct Target {
    std::uint32_t community;
    double gain;
  };

  double terms(double exits, double visits) const { return -2.0 * plogp(exits) + plogp(exits + visits); }

  bool move(std::uint32_t node) {
    const std::uint32_t own = community_[node];
    touched_.clear();
    for (const Link& link : graph_.links_of(node)) {
      const std::uint32_t other = community_[link.node];
      if (flow_[other] == 0.0) touched_.push_back(other);
      flow_[other] += link.flow;
    }
    const double out = graph_.exits[node];
    const double visits = graph_.visits[node];
    const double left_exits = std::max(0.0, exits_[own] - out + 2.0 * flow_[own]);
    const double left_visits = std::max(0.0, visits_[own] - visits);
    Target best{own, kLeastGain};
    const auto consider = [&](std::uint32_t other) {
      const double joined = std::max(0.0, exits_[other] + out - 2.0 * flow_[other]);
      const double all = all_exits_ + left_exits - exits_[own] + joined - exits_[other];
      const double before = plogp(all_exits_) + terms(exits_[own], visits_[own]) + terms(exits_[other], visits_[other]);
      const double after = plogp(all) + terms(left_exits, left_visits) + terms(joined, visits_[other] + visits);
      const double gain = before - after;
      if (gain > best.gain || (gain == best.gain && best.community != own && other < best.community))
        best = {other, gain};
    };
    for (const std::uint32_t other : touched_) {
      if (other != own) consider(other);
    }
    if (size_[own] > 1 && !empty_.empty()) consider(empty_.back());
    if (best.community != own) apply(node, best.community, left_exits, left_visits);
    for (const std::uint32_t other : touched_) flow_[other] = 0.0;
    return best.community != own;
  }

  void apply(std::uint32_t node, std::uint32_t target, double left_exits, double left_visits) {
    const std::uint32_t own = community_[node];
    const double joined = std::max(0.0, exits_[target] + graph_.exits[node] - 2.0 * flow_[target]);
    all_exits_ += left_exits - exits_[own] + joined - exits_[target];
    --size_[own];
    exits_[own] = size_[own] == 0 ? 0.0 : left_exits;
    visits_[own] = size_[own] == 0 ? 0.0 : left_visits;
    exits_[target] = joined;
    visits_[target] += graph_.visits[node];
    if (size_[target]++ == 0) empty_.pop_back();
    if (size_[own] == 0) empty_.push_back(own);
    community_[node] = target;
  }

  const FlowGraph& graph_;
  std::vector<std::uint32_t> community_;
  std::vector<double> visits_;
  std::vector<double> exits_;
  std::vector<std::size_t> size_;
  std::vector<double> flow_;  // from the node that is looked at to each community
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint32_t> empty_;
  double all_exits_ = 0.0;
};

double length_of(const FlowGraph& graph, std::span<const std::uint32_t> community) {
  std::vector<double> visits(graph.nodes());
  std::vector<double> exits(graph.nodes());
  double length = 0.0;
  for (std::uint32_t i = 0; i < graph.nodes(); ++i) {
    visits[community[i]] += graph.visits[i];
    length -= plogp(graph.visits[i]);
    for (const Link& link : graph.links_of(i)) {
      if (community[link.node] != community[i]) exits[community[i]] += link.flow;
    }
  }
  double all = 0.0;
  for (std::size_t c = 0; c < graph.nodes(); ++c) {
    all += exits[c];
    length += -2.0 * plogp(exits[c]) + plogp(exits[c] + visits[c]);
  }
  return length + plogp(all);
}

// Moves single nodes, then communities as wholes, level by level.
std::vector<std::uint32_t> one_round(const FlowGraph& graph, std::vector<std::uint32_t> start, std::uint32_t epoch) {
  Partitioned leaves(graph, std::move(start));
  leaves.move_until_stable(epoch);
  std::vector<std::uint32_t> community = leaves.take();
  std::size_t count = renumber(community);
  for (;;) {
    const FlowGraph level = merged(graph, community, count);
    std::vector<std::uint32_t> own(count);
    std::iota(own.begin(), own.end(), 0U);
    Partitioned wholes(level, std::move(own));
    wholes.move_until_stable(epoch);
    std::vector<std::uint32_t> upper = wholes.take();
    const std::size_t fewer = renumber(upper);
    for (std::uint32_t& c : community) c = upper[c];
    if (fewer == count) return community;
    count = fewer;
  }
}

}  // namespace

std::vector<std::uint32_t> map_equation_communities(std::size_t nodes, std::span<const WeightedEdge> edges,
                                                    const ProgressCallback& progress) {
  std::vector<std::uint32_t> best(nodes);
  std::iota(best.begin(), best.end(), 0U);
  if (edges.empty()) return best;
  const FlowGraph graph = flow_graph(nodes, edges);
  double shortest = length_of(graph, best);
  for (std::uint32_t round = 0; round < kMostRounds; ++round) {
    report(progress, {"find groups", round, kMostRounds, {}});
    std::vector<std::uint32_t> community = one_round(graph, best, round);
    const double length = length_of(graph, community);
    if (length >= shortest) break;
    const bool enough = shortest - length < kLeastRound * shortest;
    shortest = length;
    best = std::move(community);
    if (enough) break;
  }
  renumber(best);
  return best;
}

double description_length(std::size_t nodes, std::span<const WeightedEdge> edges,
                          std::span<const std::uint32_t> communities) {
  return length_of(flow_graph(nodes, edges), communities);
}

}  // namespace annulus
