// FeatureTransform: how raw features are transformed before a head sees them, learnt from the training examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "annulus/base/distributed/partition.h"
#include "annulus/base/matrix.h"
#include "annulus/learn/transform/metric.h"

namespace annulus {

enum class TransformKind : std::uint8_t {
  kNone,    // rows are scaled to unit length only, as in the paper
  kCentre,  // then the mean of the training examples is subtracted
  kAuto,    // as kNone; if no training value is negative, a power transform comes first, with the lower exponent if
            // the values of a row have heavier tails than a Gaussian, as those of most backbones do
};

std::string_view to_string(TransformKind kind);
TransformKind transform_kind_from(std::string_view name);  // throws Error{kUsage}

struct FeatureTransform {
  float power = 1.0F;             // exponent of the power transform; signs are kept
  std::vector<float> centre;      // subtracted from the row of unit length; empty: none
  std::vector<Metric> metrics{};  // applied to the centred row, one after the other

  bool any() const { return power != 1.0F || !centre.empty() || !metrics.empty(); }
};

inline constexpr float kLeastCentredLength = 1e-4F;  // shorter centred rows are rounding errors, and stay uncentred

// The transform of the given kind for these rows, weighted; without weights all count the same. With a partition,
// `rows` and `weights` are those of this process, and every process gets the transform of all rows.
FeatureTransform learn_transform(ConstMatrixView<float> rows, TransformKind kind, std::span<const float> weights = {},
                                 const Partition& partition = {});

// Subtracts the centre from a row; a row that this would leave with no length stays as it is.
void subtract_centre(std::span<const float> centre, std::span<float> row);

// Transforms rows in place. A row that centring would leave with no length stays uncentred.
void transform_rows(const FeatureTransform& transform, MatrixView<float> rows);

// The length of a row that is to be normalised. Throws Error{kInput} naming its number if the length is 0 or not
// finite.
float checked_length(std::span<const float> row, std::size_t number);

}  // namespace annulus
