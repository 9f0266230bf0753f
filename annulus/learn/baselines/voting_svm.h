// Linear support vector machines, one for each pair of classes, that vote: LIBSVM's C-SVC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"

namespace annulus {

// The inner products of all training examples, from which SVMs with any C on any of the rows are trained.
class SvmProducts {
 public:
  // Throws Error{kInput} if the products would take more than 4 GB.
  SvmProducts(ConstMatrixView<double> rows, std::span<const std::int32_t> labels);
  ~SvmProducts();
  SvmProducts(const SvmProducts&) = delete;
  SvmProducts& operator=(const SvmProducts&) = delete;

  std::span<const std::int32_t> labels() const { return labels_; }
  std::vector<double> products_with(std::size_t row) const;

 private:
  friend class VotingSvm;
  struct Kernel;

  std::unique_ptr<const Kernel> kernel_;  // as LIBSVM reads it, for all machines
  std::vector<std::int32_t> labels_;
};

class VotingSvm {
 public:
  // Trains on `rows`, row numbers of `products`, of at least two classes. Safe to call from several threads at once.
  VotingSvm(const SvmProducts& products, std::span<const std::size_t> rows, double cost);

  // The number of pairs that each class wins, in the order of classes().
  template <class T>
  std::vector<std::size_t> votes(std::span<const T> product_with) const;
  std::span<const std::int32_t> classes() const { return classes_; }
  // The class with most of such votes, of equals the first.
  std::int32_t winner(std::span<const std::size_t> votes) const;
  // The same from products; product_with(i) is the product with row i of the SvmProducts.
  template <class T>
  std::int32_t vote(std::span<const T> product_with) const;

 private:
  struct Machine {
    std::size_t first = 0;  // positions of the two classes among classes_
    std::size_t second = 0;
    std::size_t begin = 0;  // its terms
    std::size_t end = 0;
    double offset = 0.0;
  };
  struct Term {
    std::size_t row = 0;
    double coefficient = 0.0;
  };

  std::vector<std::int32_t> classes_;  // ascending
  std::vector<Machine> machines_;
  std::vector<Term> terms_;
};

// The C with most correct predictions in cross-validation: fold p holds out the examples at position p within their
// class. The least of equal ones. Every class has at least two examples.
double choose_svm_cost(const SvmProducts& products, int threads, const ProgressCallback& progress = {});

}  // namespace annulus
