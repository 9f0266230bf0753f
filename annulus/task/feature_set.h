// Features of images with their labels: what every few-shot task is drawn from. Immutable once built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"

namespace annulus {

// What a FeatureSet is built from. Readers fill this in; FeatureSet checks it.
struct FeatureSetParts {
  // Exactly one of the two holds the features, a row an example; `owner` keeps their memory alive (a mapped file, a
  // Matrix in a shared_ptr). Half-precision numbers are IEEE binary16 bit patterns, widened when rows are read.
  ConstMatrixView<float> features;
  ConstMatrixView<std::uint16_t> half_features;
  std::shared_ptr<const void> owner;

  std::vector<std::int32_t> labels;      // class index of each row; empty: the rows carry no labels
  std::vector<std::string> class_names;  // name of each class index; empty: "0", "1", ... as far as the labels go
  std::vector<std::string> paths;        // where each row came from; may be empty
  std::vector<std::uint8_t> is_train;    // 1: the row may be drawn for training, 0: it is a test row; may be empty
  std::map<std::string, std::string> provenance;  // backbone, checksum, preprocessing, ...
  std::string source;                             // file name, for messages
};

class FeatureSet {
 public:
  FeatureSet() = default;
  // Checks lengths, label range, NaN, infinity and zero rows; throws Error{kInput} that names source, row and column.
  explicit FeatureSet(FeatureSetParts parts);

  std::size_t rows() const { return rows_; }
  std::size_t dimension() const { return dimension_; }
  std::size_t classes() const { return parts_.class_names.size(); }
  bool labelled() const { return !parts_.labels.empty(); }

  std::span<const std::int32_t> labels() const { return parts_.labels; }
  std::span<const std::string> class_names() const { return parts_.class_names; }
  std::span<const std::string> paths() const { return parts_.paths; }
  std::span<const std::uint8_t> is_train() const { return parts_.is_train; }
  const std::map<std::string, std::string>& provenance() const { return parts_.provenance; }
  const std::string& source() const { return parts_.source; }

  // Copies the named rows, widened to float, into out (indices.size() x dimension()).
  void copy_rows(std::span<const std::uint32_t> indices, MatrixView<float> out) const;
  // Copies rows [first, first + out.rows()).
  void copy_rows(std::size_t first, MatrixView<float> out) const;
  // Labels of the named rows.
  std::vector<std::int32_t> labels_of(std::span<const std::uint32_t> indices) const;

 private:
  FeatureSetParts parts_;
  std::size_t rows_ = 0;
  std::size_t dimension_ = 0;
};

// Paths of the named rows; none where the set has none.
std::vector<std::string> paths_of(const FeatureSet& set, std::span<const std::uint32_t> rows);

// SHA-256 of features (as float32), labels, class names and is_train: the same for the same content in any format.
std::string content_checksum(const FeatureSet& set);

// Wraps a matrix that the set is to own.
FeatureSetParts parts_of(Matrix<float> features);

}  // namespace annulus
