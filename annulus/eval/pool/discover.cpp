// Neighbours, their graph, its communities; then what is typical of each and what is in none.
#include "annulus/eval/pool/discover.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/row_order.h"
#include "annulus/eval/audit/neighbours.h"
#include "annulus/eval/pool/map_equation.h"
#include "annulus/eval/pool/neighbour_graph.h"
#include "annulus/eval/pool/pool_rows.h"

namespace annulus {
namespace {

double dot(std::span<const float> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += static_cast<double>(a[k]) * b[k];
  return sum;
}

// Sorts a group's rows by their cosine with its mean.
PoolGroup group_of(ConstMatrixView<float> rows, std::vector<std::uint32_t> members) {
  std::vector<double> mean(rows.cols());
  for (const std::uint32_t row : members) {
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += static_cast<double>(rows(row, k));
  }
  const double length = std::sqrt(std::inner_product(mean.begin(), mean.end(), mean.begin(), 0.0));
  std::vector<std::pair<double, std::uint32_t>> typical;
  PoolGroup group;
  for (const std::uint32_t row : members) {
    const double cosine = length > 0.0 ? dot(rows.row(row), mean) / length : 0.0;
    typical.emplace_back(-cosine, row);
    group.cohesion += cosine / static_cast<double>(members.size());
  }
  std::stable_sort(typical.begin(), typical.end());
  for (const auto& [cosine, row] : typical) group.rows.push_back(row);
  return group;
}

std::vector<PoolGroup> groups_of(ConstMatrixView<float> rows, std::span<const std::uint32_t> community) {
  std::vector<std::vector<std::uint32_t>> members;
  for (std::uint32_t i = 0; i < community.size(); ++i) {
    if (community[i] >= members.size()) members.resize(community[i] + 1);
    members[community[i]].push_back(i);
  }
  std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<PoolGroup> groups;
  for (auto& rows_of_group : members) groups.push_back(group_of(rows, std::move(rows_of_group)));
  return groups;
}

// The rows to group, in the order of their content.
std::vector<std::size_t> chosen_order(ConstMatrixView<float> rows, std::span<const std::string> paths,
                                      std::span<const std::uint8_t> looked_at) {
  std::vector<std::size_t> order = content_order(rows, paths);
  if (looked_at.empty()) return order;
  order.erase(std::remove_if(order.begin(), order.end(), [&](std::size_t row) { return looked_at[row] == 0; }),
              order.end());
  return order;
}

}  // namespace

std::size_t PoolGroups::kinds() const {
  return static_cast<std::size_t>(std::count_if(
      groups.begin(), groups.end(), [](const PoolGroup& group) { return group.rows.size() >= kLeastKind; }));
}

PoolGroups discover(Matrix<float> rows, std::span<const std::string> paths, const DiscoverOptions& options,
                    const ProgressCallback& progress) {
  PoolGroups found;
  found.examples = rows.rows();
  found.looked_at = options.looked_at;
  make_comparable(rows.view());
  const std::vector<std::size_t> order = chosen_order(std::as_const(rows).view(), paths, options.looked_at);
  if (order.size() < 2) fail(ErrorKind::kInput, "expected two or more examples to group, found {}", order.size());
  take_rows(rows, order);
  const ConstMatrixView<float> sorted = std::as_const(rows).view();
  const std::size_t count = graph_neighbours(order.size());
  const Neighbours neighbours = nearest_rows(sorted, std::min(count, order.size() - 1), options.threads, progress);
  const std::vector<std::uint32_t> community =
      map_equation_communities(order.size(), neighbour_graph(neighbours, count), progress);
  found.groups = groups_of(sorted, community);
  found.copies = find_duplicates(sorted, neighbours, {}, {}, options.threads).pairs;
  found.outliers = find_outliers(neighbours);
  const auto original = [&](std::uint32_t& row) { row = row_number(order[row]); };
  for (PoolGroup& group : found.groups) std::for_each(group.rows.begin(), group.rows.end(), original);
  for (DuplicatePair& pair : found.copies) {
    original(pair.first);
    original(pair.second);
  }
  for (Outlier& outlier : found.outliers) original(outlier.row);
  return found;
}

std::vector<std::uint32_t> group_of_rows(const PoolGroups& found) {
  std::vector<std::uint32_t> group(found.examples, kNoGroup);
  for (std::uint32_t g = 0; g < found.groups.size(); ++g) {
    for (const std::uint32_t row : found.groups[g].rows) group[row] = g;
  }
  return group;
}

}  // namespace annulus
