// The order in which classes are learned: by their training examples, so that their names decide nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace annulus {

// What classes are ordered by.
struct ClassContent {
  std::vector<std::size_t> counts;     // training examples of each class
  std::span<const std::string> names;  // for classes that have the same examples; empty: by their numbers
  // Training example `place` of a class, in canonical order; it may be put into the buffer.
  std::function<std::span<const float>(std::size_t of_class, std::size_t place, std::vector<float>& buffer)> row;
  std::function<float(std::size_t of_class, std::size_t place)> weight{};  // of the same example; empty: all the same
};

// Class numbers in ascending order of the first example of each class (by the first number that differs), then of the
// number of examples, of their other examples, of their weights, and only then of their names. Classes without examples
// come last. Costs a comparison of two rows for each of classes * log(classes) steps; for most of them a few numbers
// that are kept in memory suffice.
std::vector<std::size_t> classes_by_content(const ClassContent& content);

}  // namespace annulus
