// From the features of an image's views by several networks to its feature row.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace annulus {

// The features of a view of the image by a network.
using ViewFeatures = std::function<std::span<const float>(std::size_t part, std::size_t view)>;

// Of each network, whose features have so many dimensions, the mean over the named views; of several networks each mean
// scaled to length 1; one after the other in `out`. Throws Error{kInput} as check_feature_row does, which names
// `source`.
void join_row(std::span<const std::size_t> dimensions, std::span<const std::size_t> views, const std::string& source,
              const ViewFeatures& features, std::span<float> out);

}  // namespace annulus
