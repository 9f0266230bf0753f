// Small feature sets to write, and how to compare them with what was read.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "annulus/store/mapped_file.h"
#include "annulus/task/feature_set.h"

namespace annulus {

// Features only.
inline FeatureSetParts sample_parts(std::size_t rows, std::size_t dimension) {
  Matrix<float> features(rows, dimension);
  for (std::size_t i = 0; i < rows * dimension; ++i) {
    features.data()[i] = static_cast<float>(std::sin(1.0 + static_cast<double>(i)));
  }
  FeatureSetParts parts = parts_of(std::move(features));
  parts.source = "sample";
  return parts;
}

// Everything a set can hold, with text that needs care.
inline FeatureSet full_set(std::size_t rows, std::size_t dimension) {
  FeatureSetParts parts = sample_parts(rows, dimension);
  parts.class_names = {"ibis", "the \"quoted\" one", "Größe 漢字 🦩", "empty class"};
  for (std::size_t i = 0; i < rows; ++i) {
    parts.labels.push_back(static_cast<std::int32_t>(i % 3));
    parts.paths.push_back("träin/\\" + std::to_string(i * i) + ".jpg");
    parts.is_train.push_back(i % 2 == 0 ? 1 : 0);
  }
  parts.provenance = {{"backbone", "resnet \"50\""}, {"note", "line\nbreak, tab\t, ü"}, {"empty", ""}};
  return FeatureSet(std::move(parts));
}

inline Matrix<float> rows_of(const FeatureSet& set) {
  Matrix<float> rows(set.rows(), set.dimension());
  set.copy_rows(0, rows.view());
  return rows;
}

template <class T>
std::vector<std::remove_const_t<T>> copied(std::span<T> values) {
  return {values.begin(), values.end()};
}

inline void expect_same_but_features(const FeatureSet& found, const FeatureSet& expected) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.dimension(), expected.dimension());
  EXPECT_EQ(copied(found.labels()), copied(expected.labels()));
  EXPECT_EQ(copied(found.class_names()), copied(expected.class_names()));
  EXPECT_EQ(copied(found.paths()), copied(expected.paths()));
  EXPECT_EQ(copied(found.is_train()), copied(expected.is_train()));
  EXPECT_EQ(found.provenance(), expected.provenance());
}

inline void expect_same_bits(const FeatureSet& found, const FeatureSet& expected) {
  const auto a = rows_of(found);
  const auto b = rows_of(expected);
  ASSERT_EQ(a.rows() * a.cols(), b.rows() * b.cols());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.rows() * a.cols() * sizeof(float)), 0);
}

// Bytes in memory as a file; `content` must outlive the result.
inline FileBytes in_memory(std::string_view content) { return {std::as_bytes(std::span(content)), nullptr, "memory"}; }

}  // namespace annulus
