// Heads as arrays of a model file: the checks of any head, and the trained head with its metric.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/learn/method/head.h"
#include "annulus/store/formats/safetensors.h"

namespace annulus {

struct ArrayShape {
  std::string_view name;
  ElementType type;
  std::size_t dimensions;
};

// The name and the values of what a head has one of for each class.
std::string_view per_class_name(HeadKind kind);
template <class Head>
auto& per_class(Head& head) {
  return head.kind == HeadKind::kCosine ? head.gain : head.bias;
}

// Throws Error{kind} for numbers that no head has.
void check_head(const Head<float>& head, ErrorKind kind, const std::string& source);

// The trained head: in its metric and before ensemble heads were added to it, what a model is updated from.

// The array of that name, null where there is none.
const ArrayShape* trained_head_array(std::string_view name);
// Adds its arrays to those that a file will hold; write_trained_head writes them in the same order.
void lay_out_trained_head(const Head<float>& trained, std::vector<TensorLayout>& layout);
void write_trained_head(const Head<float>& trained, SafetensorsWriter& writer);
// Absent where the file has none. Without a metric its transform is that of the head beside it.
std::optional<Head<float>> read_trained_head(const Safetensors& file, const FeatureTransform& of_head);
// Throws Error{kind} unless it fits the head that predicts.
void check_trained_head(const Head<float>& trained, const Head<float>& head, ErrorKind kind, const std::string& source);

}  // namespace annulus
