// How many labels `annulus label-next` saves against a random choice, beside other rules:
//   label_next_judge RUNS FILE...
// Half of each labelled feature file is the pool (at most 3000 examples), as many of the others test. From nothing, a
// rule chooses half a label for each class, then one more at a time for each class up to eight. After each batch `gda`
// learns from what is labelled. Printed are accuracies after 1, 2, 4 and 8 labels a class on average over runs, and how
// many labels the rule needs for the accuracy of the random choice, as a fraction of its labels (interpolated in the
// logarithm of labels).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "annulus/base/random.h"
#include "annulus/eval/pool/label_next.h"
#include "annulus/eval/pool/pool_rows.h"
#include "annulus/kernels/gemm.h"
#include "annulus/learn/baselines/discriminant_head.h"
#include "annulus/learn/method/head.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/store/features/feature_file.h"
#include "bench/k_means.h"

namespace annulus {
namespace {

constexpr std::size_t kMostRows = 3000;

// The pool and the test half of a run.
struct Halves {
  Matrix<float> raw;   // of the pool
  Matrix<float> pool;  // transformed
  Matrix<float> test;
  std::vector<std::int32_t> pool_labels;
  std::vector<std::int32_t> test_labels;
  std::uint32_t run = 0;
};

using Rows = std::vector<std::uint32_t>;
using Rule = std::function<Rows(const Halves&, const Rows& labelled, std::size_t count)>;

Matrix<float> gathered(const Matrix<float>& rows, const Rows& numbers) {
  Matrix<float> found(numbers.size(), rows.cols());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::copy_n(rows.row(numbers[i]).begin(), rows.cols(), found.row(i).begin());
  }
  return found;
}

std::vector<std::int32_t> labels_of(const Halves& halves, const Rows& rows) {
  std::vector<std::int32_t> labels;
  for (const std::uint32_t row : rows) labels.push_back(halves.pool_labels[row]);
  return labels;
}

// Logits of rows by a head on what is labelled; columns are the labelled classes, in ascending order.
Matrix<float> logits_of(const Halves& halves, const Rows& labelled, const Matrix<float>& rows,
                        std::vector<std::int32_t>& classes) {
  const std::vector<std::int32_t> labels = labels_of(halves, labelled);
  classes = labels;
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  std::vector<std::int32_t> dense;
  for (const std::int32_t label : labels) {
    dense.push_back(
        static_cast<std::int32_t>(std::lower_bound(classes.begin(), classes.end(), label) - classes.begin()));
  }
  const Head<float> head = discriminant_head(gathered(halves.pool, labelled), dense, classes.size(), 0);
  Matrix<float> logits(rows.rows(), classes.size());
  compute_logits(head, rows.view(), logits.view());
  return logits;
}

double accuracy(const Halves& halves, const Rows& labelled) {
  std::vector<std::int32_t> classes;
  const Matrix<float> logits = logits_of(halves, labelled, halves.test, classes);
  std::size_t correct = 0;
  for (std::size_t i = 0; i < logits.rows(); ++i) {
    const auto row = logits.row(i);
    const auto best = static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    correct += classes[best] == halves.test_labels[i] ? 1U : 0U;
  }
  return 100.0 * static_cast<double>(correct) / static_cast<double>(logits.rows());
}

Rows random_rows(const Halves& halves, const Rows& labelled, std::size_t count) {
  const auto order = random_permutation({11, RandomUse::kSupportDraw, halves.run}, 0, halves.pool.rows());
  return {order.begin() + static_cast<std::ptrdiff_t>(labelled.size()),
          order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), labelled.size() + count))};
}

Rows lowest(std::vector<double> score, const Rows& labelled, std::size_t count) {
  for (const std::uint32_t row : labelled) score[row] = 1e300;
  Rows order(score.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return score[a] < score[b]; });
  order.resize(std::min(count, order.size() - labelled.size()));
  return order;
}

// The smallest lead of the likeliest class; random from nothing.
Rows margin_rows(const Halves& halves, const Rows& labelled, std::size_t count) {
  if (labelled.empty()) return random_rows(halves, labelled, count);
  std::vector<std::int32_t> classes;
  Matrix<float> logits = logits_of(halves, labelled, halves.pool, classes);
  if (classes.size() < 2) return random_rows(halves, labelled, count);
  std::vector<double> lead;
  for (std::size_t i = 0; i < logits.rows(); ++i) {
    const auto row = logits.row(i);
    std::partial_sort(row.begin(), row.begin() + 2, row.end(), std::greater<>());
    lead.push_back(static_cast<double>(row[0] - row[1]));
  }
  return lowest(std::move(lead), labelled, count);
}

// The row farthest from all that are labelled or chosen, again and again.
Rows centre_rows(const Halves& halves, const Rows& labelled, std::size_t count) {
  Rows chosen;
  std::vector<float> nearest(halves.pool.rows(), -2.0F);
  const auto use = [&](std::uint32_t row) {
    Matrix<float> cosine(halves.pool.rows(), 1);
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, halves.pool.view(), halves.pool.view().rows_at(row, 1), 0.0F,
         cosine.view(), 0);
    for (std::size_t i = 0; i < nearest.size(); ++i) nearest[i] = std::max(nearest[i], cosine(i, 0));
  };
  for (const std::uint32_t row : labelled) use(row);
  if (labelled.empty()) chosen = random_rows(halves, labelled, 1);
  if (!chosen.empty()) use(chosen.front());
  while (chosen.size() < count) {
    chosen.push_back(static_cast<std::uint32_t>(std::min_element(nearest.begin(), nearest.end()) - nearest.begin()));
    use(chosen.back());
  }
  return chosen;
}

// As TypiClust (Hacohen et al., ICML 2022): as many clusters as labels afterwards; of the largest clusters without a
// label, the row with the highest mean cosine to its 20 nearest of the cluster.
Rows typical_rows(const Halves& halves, const Rows& labelled, std::size_t count) {
  constexpr std::size_t kNear = 20;
  const std::size_t k = std::min(labelled.size() + count, halves.pool.rows() / 2);
  const KMeans found = k_means(halves.pool.view(), k, 0, 20, 0);
  std::vector<Rows> members(k);
  std::vector<std::size_t> labels(k, 0);
  for (std::uint32_t i = 0; i < found.cluster.size(); ++i) members[found.cluster[i]].push_back(i);
  std::vector<std::uint8_t> taken(halves.pool.rows(), 0);
  for (const std::uint32_t row : labelled) {
    ++labels[found.cluster[row]];
    taken[row] = 1;
  }
  for (Rows& rows : members) {
    const Matrix<float> own = gathered(halves.pool, rows);
    Matrix<float> cosines(rows.size(), rows.size());
    if (!rows.empty()) gemm(Transpose::kNo, Transpose::kYes, 1.0F, own.view(), own.view(), 0.0F, cosines.view(), 0);
    std::vector<std::pair<double, std::uint32_t>> typical;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = cosines.row(i);
      std::sort(row.begin(), row.end(), std::greater<>());
      const std::size_t near = std::min(kNear, row.size());
      typical.emplace_back(-std::accumulate(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(near), 0.0) /
                               static_cast<double>(near),
                           rows[i]);
    }
    std::sort(typical.begin(), typical.end());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = typical[i].second;
  }
  std::vector<std::size_t> order(k);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(labels[a], members[b].size()) < std::pair(labels[b], members[a].size());
  });
  Rows chosen;
  while (chosen.size() < count) {
    for (const std::size_t c : order) {
      const auto row = std::find_if(members[c].begin(), members[c].end(), [&](auto i) { return taken[i] == 0; });
      if (row == members[c].end() || chosen.size() == count) continue;
      taken[*row] = 1;
      chosen.push_back(*row);
    }
  }
  return chosen;
}

Rows annulus_rows(const Halves& halves, const Rows& labelled, std::size_t count) {
  Rows rest;
  std::vector<std::uint8_t> known(halves.raw.rows(), 0);
  for (const std::uint32_t row : labelled) known[row] = 1;
  for (std::uint32_t i = 0; i < known.size(); ++i) {
    if (known[i] == 0) rest.push_back(i);
  }
  LabelNextOptions options;
  options.count = count;
  const PoolKnowledge knowledge{gathered(halves.raw, labelled), labels_of(halves, labelled), std::nullopt};
  Rows chosen;
  for (const LabelChoice& choice : label_next(gathered(halves.raw, rest), {}, knowledge, options)) {
    chosen.push_back(rest[choice.row]);
  }
  return chosen;
}

Halves halves_of(const FeatureSet& set, std::uint32_t run) {
  const auto order = random_permutation({5, RandomUse::kSupportDraw, run}, 0, set.rows());
  const std::size_t half = std::min(set.rows() / 2, kMostRows);
  const std::span<const std::uint32_t> numbers(order);
  Halves halves;
  halves.run = run;
  halves.raw = Matrix<float>(half, set.dimension());
  halves.test = Matrix<float>(half, set.dimension());
  set.copy_rows(numbers.subspan(0, half), halves.raw.view());
  set.copy_rows(numbers.subspan(half, half), halves.test.view());
  halves.pool_labels = set.labels_of(numbers.subspan(0, half));
  halves.test_labels = set.labels_of(numbers.subspan(half, half));
  halves.pool = halves.raw.clone();
  make_comparable(halves.pool.view());
  make_comparable(halves.test.view());
  const FeatureTransform centre = learn_transform(std::as_const(halves.pool).view(), TransformKind::kCentre);
  prepare_rows(centre, halves.pool.view());
  prepare_rows(centre, halves.test.view());
  return halves;
}

using Curve = std::map<std::size_t, double>;  // accuracy by labels

Curve mean_curve(const FeatureSet& set, const Rule& rule, std::uint32_t runs) {
  Curve curve;
  for (std::uint32_t run = 0; run < runs; ++run) {
    const Halves halves = halves_of(set, run);
    Rows labelled;
    std::vector<std::size_t> budgets{set.classes() / 2};
    for (std::size_t shots = 1; shots <= 8 && shots * set.classes() < halves.pool.rows(); ++shots) {
      budgets.push_back(shots * set.classes());
    }
    for (const std::size_t budget : budgets) {
      const Rows more = rule(halves, labelled, budget - labelled.size());
      labelled.insert(labelled.end(), more.begin(), more.end());
      curve[budget] += accuracy(halves, labelled) / static_cast<double>(runs);
    }
  }
  return curve;
}

// Labels for an accuracy: between points linear in the logarithm of labels, beyond the last along its last slope, below
// the first in proportion.
double labels_for(const Curve& curve, double wanted) {
  std::vector<std::pair<double, double>> points;  // accuracy so far, log of labels
  double best = 0.0;
  for (const auto& [labels, value] : curve) {
    best = std::max(best, value);
    points.emplace_back(best, std::log(static_cast<double>(labels)));
  }
  if (wanted <= points.front().first) return std::exp(points.front().second) * wanted / points.front().first;
  std::size_t i = 1;
  while (i + 1 < points.size() && points[i].first < wanted) ++i;
  const double rise = std::max(points[i].first - points[i - 1].first, 1e-6);
  const double part = (wanted - points[i - 1].first) / rise;
  return std::exp(points[i - 1].second + std::min(part, 10.0) * (points[i].second - points[i - 1].second));
}

void judge(const std::string& file, std::uint32_t runs, std::map<std::string, std::vector<double>>& all) {
  const FeatureSet set = read_features(file);
  const std::vector<std::pair<std::string, Rule>> rules = {{"random", random_rows},
                                                           {"k-centre", centre_rows},
                                                           {"margin", margin_rows},
                                                           {"typical clusters", typical_rows},
                                                           {"label-next", annulus_rows}};
  Curve random;
  for (const auto& [name, rule] : rules) {
    const Curve curve = mean_curve(set, rule, runs);
    if (random.empty()) random = curve;
    std::string line = fmt::format("| {} | {} |", file.substr(file.find_last_of('/') + 1), name);
    double mean = 0.0;
    double budgets = 0.0;
    for (const std::size_t shots : {1U, 2U, 4U, 8U}) {
      const auto found = curve.find(shots * set.classes());
      line += found == curve.end() ? "  |" : fmt::format(" {:.1f} |", found->second);
      if (found == curve.end()) continue;
      mean += labels_for(curve, random.at(found->first)) / static_cast<double>(found->first);
      ++budgets;
    }
    all[name].push_back(mean / budgets);
    fmt::print("{} {:.2f} |\n", line, mean / budgets);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace annulus

int main(int count, char** words) {
  if (count < 3) return 2;
  std::map<std::string, std::vector<double>> all;
  fmt::print("| file | rule | 1 | 2 | 4 | 8 | labels needed |\n|---|---|---|---|---|---|---|\n");
  for (int i = 2; i < count; ++i) annulus::judge(words[i], static_cast<std::uint32_t>(std::stoul(words[1])), all);
  for (const auto& [rule, needed] : all) {
    const double mean = std::accumulate(needed.begin(), needed.end(), 0.0) / static_cast<double>(needed.size());
    fmt::print("{}: {:.3f} of the labels on average over the files, {:.3f} at worst\n", rule, mean,
               *std::max_element(needed.begin(), needed.end()));
  }
  return 0;
}
