// Finds the training rows nearest to a row, among those that a model keeps.
#pragma once

#include <cstddef>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/learn/conditioning.h"
#include "annulus/learn/support_rows.h"

namespace annulus {

struct NearRow {
  std::size_t row = 0;  // of the support
  float cosine = 0.0F;  // of the two conditioned rows
};

// Conditions the support rows once; may outlive what it was made from.
class SupportIndex {
 public:
  SupportIndex(const Conditioning& conditioning, const SupportRows& support);

  // The min(count, all) nearest of each raw row, nearest first, of equals the lower number first. `without`, empty or
  // one support row for each row, is passed over. Costs a product of rows and support. Throws Error{kInput} for a row
  // that has no length.
  std::vector<std::vector<NearRow>> nearest(ConstMatrixView<float> rows, std::size_t count, int threads,
                                            const std::vector<std::size_t>& without = {}) const;

  // The conditioned support rows, of length 1.
  ConstMatrixView<float> rows() const { return rows_.view(); }

 private:
  Conditioning conditioning_;
  Matrix<float> rows_;
};

}  // namespace annulus
