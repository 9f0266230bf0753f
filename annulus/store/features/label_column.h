// Converts the labels of files, integers or text, into class indices and class names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "annulus/task/feature_set.h"

namespace annulus {

// Both fill in parts.labels and, unless the file has class names, parts.class_names.
//
// Integers: with class names they are indices into them, and one beyond them is an error. Without, the classes are the
// distinct values in ascending order, each named by its number. Negative labels are errors unless allowed.
void set_integer_labels(std::span<const std::int64_t> values, FeatureSetParts& parts, bool allow_negative = false);
// Text: with class names each label must be one of them. Without, the classes are the distinct labels in sorted order.
void set_text_labels(std::span<const std::string> values, FeatureSetParts& parts);
// Text that consists of integers is read as integers, other text as names: for formats without types.
void set_untyped_labels(std::span<const std::string> values, FeatureSetParts& parts);

// 0 and 1 only; anything else is an error.
void set_is_train(std::span<const std::int64_t> values, FeatureSetParts& parts);

// Groups are numbered in the order of their first example; an example with an empty name is on its own, and no group at
// all is left empty.
void set_groups(std::span<const std::string> names, std::vector<std::int32_t>& groups);
void set_groups(std::span<const std::int64_t> numbers, FeatureSetParts& parts);

// Throws Error{kInput} naming a class name that occurs twice.
void check_unique(std::span<const std::string> class_names, const std::string& source);

}  // namespace annulus
