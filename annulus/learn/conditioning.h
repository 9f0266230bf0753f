// Conditioning: what is done to raw features before a head sees them, learned from the training rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/row_cut.h"

namespace annulus {

enum class ConditioningKind : std::uint8_t {
  kNone,    // rows are scaled to length 1 and that is all: the paper's way
  kCentre,  // then the mean of the training rows is subtracted
  kAuto,  // where no training number is negative, numbers are raised to a power below 1 first, the lower one where the
          // numbers of a row have heavier tails than a Gaussian's, as those of most backbones do
};

std::string_view to_string(ConditioningKind kind);
ConditioningKind conditioning_kind_from(std::string_view name);  // throws Error{kUsage}

struct Conditioning {
  float power = 1.0F;         // numbers are raised to it; of negative ones the sign is kept
  std::vector<float> centre;  // subtracted from the row of length 1; empty: nothing is

  bool any() const { return power != 1.0F || !centre.empty(); }
};

inline constexpr float kLeastCentredLength = 1e-4F;  // shorter centred rows are rounding errors, and stay uncentred

// What `kind` asks for on these rows, each counted by its weight; no weights: all count the same. With a cut, `rows`
// and `weights` are those that are here, and every process gets what all rows ask for.
Conditioning learn_conditioning(ConstMatrixView<float> rows, ConditioningKind kind, std::span<const float> weights = {},
                                const RowCut& cut = {});

// Conditions rows in place. A row that the centre leaves with no length stays as it was before.
void condition_rows(const Conditioning& conditioning, MatrixView<float> rows);

// The length of a row that is to be scaled to length 1. Throws Error{kInput} for one that has none, naming its number.
float checked_length(std::span<const float> row, std::size_t number);

}  // namespace annulus
