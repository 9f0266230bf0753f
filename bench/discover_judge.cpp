// Compares the groups of `annulus discover` with the classes of labelled feature files, beside k-means with the true
// number of classes:
//   discover_judge FILE...
// Prints a row of a table for each file: adjusted mutual information (arithmetic mean) of both, kinds and classes.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "annulus/eval/pool/discover.h"
#include "annulus/eval/pool/pool_rows.h"
#include "annulus/store/features/feature_file.h"
#include "bench/k_means.h"
#include "bench/stopwatch.h"

namespace annulus {
namespace {

constexpr std::uint32_t kStarts = 10;

using Counts = std::map<std::uint32_t, double>;

double entropy(const Counts& counts, double all) {
  double sum = 0.0;
  for (const auto& [name, count] : counts) sum -= count / all * std::log(count / all);
  return sum;
}

// The mutual information of two partitions with these sizes under random permutations (Vinh et al., JMLR 2010).
double expected_information(const Counts& a, const Counts& b, double all) {
  double sum = 0.0;
  for (const auto& [i, rows] : a) {
    for (const auto& [j, cols] : b) {
      const double fixed = std::lgamma(rows + 1) + std::lgamma(cols + 1) + std::lgamma(all - rows + 1) +
                           std::lgamma(all - cols + 1) - std::lgamma(all + 1);
      for (double n = std::max(1.0, rows + cols - all); n <= std::min(rows, cols); ++n) {
        const double ways = fixed - std::lgamma(n + 1) - std::lgamma(rows - n + 1) - std::lgamma(cols - n + 1) -
                            std::lgamma(all - rows - cols + n + 1);
        sum += n / all * std::log(all * n / (rows * cols)) * std::exp(ways);
      }
    }
  }
  return sum;
}

double adjusted_information(std::span<const std::int32_t> labels, std::span<const std::uint32_t> groups) {
  Counts a;
  Counts b;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> both;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = static_cast<std::uint32_t>(labels[i]);
    ++a[label];
    ++b[groups[i]];
    ++both[{label, groups[i]}];
  }
  const auto all = static_cast<double>(labels.size());
  double information = 0.0;
  for (const auto& [pair, n] : both) information += n / all * std::log(all * n / (a[pair.first] * b[pair.second]));
  const double expected = expected_information(a, b, all);
  return (information - expected) / ((entropy(a, all) + entropy(b, all)) / 2.0 - expected);
}

void judge(const std::string& file) {
  const FeatureSet set = read_features(file);
  std::vector<std::uint32_t> groups;
  std::size_t kinds = 0;
  const double seconds = seconds_of([&] {
    const PoolGroups found = discover(features_of(set), set.paths());
    groups = group_of_rows(found);
    kinds = found.kinds();
  });
  Matrix<float> rows = features_of(set);
  make_comparable(rows.view());
  KMeans best;
  for (std::uint32_t start = 0; start < kStarts; ++start) {
    KMeans found = k_means(rows.view(), set.classes(), start, 50, 0);
    if (start == 0 || found.cosine > best.cosine) best = std::move(found);
  }
  fmt::print("| {} | {} | {} | {} | {:.3f} | {:.3f} | {:.1f} |\n", file.substr(file.find_last_of('/') + 1), set.rows(),
             set.classes(), kinds, adjusted_information(set.labels(), groups),
             adjusted_information(set.labels(), best.cluster), seconds);
  std::fflush(stdout);
}

}  // namespace
}  // namespace annulus

int main(int count, char** files) {
  fmt::print("| file | examples | classes | kinds found | discover | k-means with the true number | seconds |\n");
  fmt::print("|---|---|---|---|---|---|---|\n");
  for (int i = 1; i < count; ++i) annulus::judge(files[i]);
  return 0;
}
