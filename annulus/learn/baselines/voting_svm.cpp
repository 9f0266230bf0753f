// Passes products to LIBSVM as a precomputed kernel, stores its result, and counts votes.
#include "annulus/learn/baselines/voting_svm.h"

#include <libsvm/svm.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/parallel_progress.h"

namespace annulus {
namespace {

constexpr double kTolerance = 1e-4;
constexpr std::array kCosts{0.01, 0.1, 1.0, 10.0, 100.0};
constexpr std::size_t kMostFolds = 5;
constexpr std::size_t kMostRows = 16384;

struct DestroyModel {
  void operator()(svm_model* owned) const { svm_free_and_destroy_model(&owned); }
};

// LIBSVM prints its progress unless it is given another function, which all threads share.
void silence() {
  static const bool kSilenced = [] {
    svm_set_print_string_function([](const char*) {});
    return true;
  }();
  static_cast<void>(kSilenced);
}

// Training a C-SVC uses no random numbers and no state: only LIBSVM's probabilities and its cross-validation call
// rand(), and neither is used here.
svm_parameter options_for(double cost) {
  svm_parameter options{};
  options.svm_type = C_SVC;
  options.kernel_type = PRECOMPUTED;
  options.cache_size = 64.0;
  options.eps = kTolerance;
  options.C = cost;
  options.shrinking = 1;
  return options;
}

// Position of each row within its class.
std::vector<std::size_t> positions(std::span<const std::int32_t> labels) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end())) + 1, 0);
  std::vector<std::size_t> result;
  for (const std::int32_t label : labels) result.push_back(counts[static_cast<std::size_t>(label)]++);
  return result;
}

std::size_t smallest_class(std::span<const std::int32_t> labels) {
  std::vector<std::size_t> counts;
  for (const std::int32_t label : labels) {
    const auto index = static_cast<std::size_t>(label);
    if (index >= counts.size()) counts.resize(index + 1, 0);
    ++counts[index];
  }
  return *std::min_element(counts.begin(), counts.end());
}

}  // namespace

// A row of a precomputed kernel is its number, from 1, then its products with all rows.
struct SvmProducts::Kernel {
  explicit Kernel(std::size_t count) : stride(count + 2), nodes(count * stride) {}

  const svm_node* row(std::size_t index) const { return nodes.data() + index * stride; }

  std::size_t stride;
  std::vector<svm_node> nodes;
};

SvmProducts::SvmProducts(ConstMatrixView<double> rows, std::span<const std::int32_t> labels)
    : labels_(labels.begin(), labels.end()) {
  const std::size_t count = rows.rows();
  if (count > kMostRows) {
    fail(ErrorKind::kInput, "method svm expects at most {} training examples, found {}", kMostRows, count);
  }
  using Products = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto order = static_cast<Eigen::Index>(count);
  const Eigen::Map<const Products> x(rows.data(), order, static_cast<Eigen::Index>(rows.cols()));
  Products products = Products::Zero(order, order);
  products.selfadjointView<Eigen::Lower>().rankUpdate(x);
  auto kernel = std::make_unique<Kernel>(count);
  for (std::size_t i = 0; i < count; ++i) {
    svm_node* row = kernel->nodes.data() + i * kernel->stride;
    row[0] = {0, static_cast<double>(i + 1)};
    for (std::size_t j = 0; j < count; ++j) {
      const double product =
          products(static_cast<Eigen::Index>(std::max(i, j)), static_cast<Eigen::Index>(std::min(i, j)));
      row[j + 1] = {static_cast<int>(j + 1), product};
    }
    row[count + 1] = {-1, 0.0};
  }
  kernel_ = std::move(kernel);
}

SvmProducts::~SvmProducts() = default;

std::vector<double> SvmProducts::products_with(std::size_t row) const {
  std::vector<double> result;
  for (std::size_t j = 0; j < labels_.size(); ++j) result.push_back(kernel_->row(row)[j + 1].value);
  return result;
}

VotingSvm::VotingSvm(const SvmProducts& products, std::span<const std::size_t> rows, double cost) {
  silence();
  // LIBSVM numbers classes in the order of their first row, and breaks ties by that number.
  std::vector<std::size_t> order(rows.begin(), rows.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return products.labels()[a] < products.labels()[b]; });
  std::vector<svm_node*> starts;
  std::vector<double> targets;
  for (const std::size_t row : order) {
    starts.push_back(const_cast<svm_node*>(products.kernel_->row(row)));  // LIBSVM reads rows and does not change them
    targets.push_back(static_cast<double>(products.labels()[row]));
  }
  const svm_problem problem{static_cast<int>(order.size()), targets.data(), starts.data()};
  const svm_parameter options = options_for(cost);
  const std::unique_ptr<svm_model, DestroyModel> found(svm_train(&problem, &options));

  const auto classes = static_cast<std::size_t>(found->nr_class);
  std::vector<std::size_t> begins{0};
  for (std::size_t c = 0; c < classes; ++c) {
    classes_.push_back(found->label[c]);
    begins.push_back(begins.back() + static_cast<std::size_t>(found->nSV[c]));
  }
  // Row r of sv_coef holds, for vectors of class c, the coefficients against class r where r < c, else against r + 1.
  const auto add_terms = [&](std::size_t of_class, std::size_t row) {
    for (std::size_t v = begins[of_class]; v < begins[of_class + 1]; ++v) {
      const double coefficient = found->sv_coef[row][v];
      if (coefficient != 0.0)
        terms_.push_back({order[static_cast<std::size_t>(found->sv_indices[v]) - 1], coefficient});
    }
  };
  for (std::size_t first = 0; first < classes; ++first) {
    for (std::size_t second = first + 1; second < classes; ++second) {
      Machine machine{first, second, terms_.size(), 0, found->rho[machines_.size()]};
      add_terms(first, second - 1);
      add_terms(second, first);
      machine.end = terms_.size();
      machines_.push_back(machine);
    }
  }
}

template <class T>
std::vector<std::size_t> VotingSvm::votes(std::span<const T> product_with) const {
  std::vector<std::size_t> votes(classes_.size(), 0);
  for (const Machine& machine : machines_) {
    double sum = -machine.offset;
    for (std::size_t t = machine.begin; t < machine.end; ++t) {
      sum += terms_[t].coefficient * static_cast<double>(product_with[terms_[t].row]);
    }
    ++votes[sum > 0.0 ? machine.first : machine.second];
  }
  return votes;
}

std::int32_t VotingSvm::winner(std::span<const std::size_t> votes) const {
  return classes_[static_cast<std::size_t>(std::max_element(votes.begin(), votes.end()) - votes.begin())];
}

template <class T>
std::int32_t VotingSvm::vote(std::span<const T> product_with) const {
  return winner(votes(product_with));
}

template std::vector<std::size_t> VotingSvm::votes(std::span<const float> product_with) const;
template std::vector<std::size_t> VotingSvm::votes(std::span<const double> product_with) const;
template std::int32_t VotingSvm::vote(std::span<const float> product_with) const;
template std::int32_t VotingSvm::vote(std::span<const double> product_with) const;

double choose_svm_cost(const SvmProducts& products, int threads, const ProgressCallback& progress) {
  const std::vector<std::size_t> position = positions(products.labels());
  const std::size_t folds = std::min(kMostFolds, smallest_class(products.labels()));
  std::vector<std::size_t> correct(kCosts.size() * folds, 0);
  parallel_for_with_progress(threads, correct.size(), "svm", progress, [&](std::size_t task) {
    const std::size_t fold = task % folds;
    std::vector<std::size_t> kept;
    std::vector<std::size_t> left_out;
    for (std::size_t i = 0; i < position.size(); ++i) (position[i] % folds == fold ? left_out : kept).push_back(i);
    const VotingSvm machine(products, kept, kCosts[task / folds]);
    for (const std::size_t row : left_out) {
      if (machine.vote<double>(products.products_with(row)) == products.labels()[row]) ++correct[task];
    }
  });
  std::array<std::size_t, kCosts.size()> sums{};
  for (std::size_t task = 0; task < correct.size(); ++task) sums[task / folds] += correct[task];
  return kCosts[static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin())];
}

}  // namespace annulus
