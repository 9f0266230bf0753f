// Features of images with their labels, the input of every few-shot task. Immutable once built.
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

/// What a FeatureSet is built from. Readers fill this in; FeatureSet checks it.
struct FeatureSetParts {
  /// float32 features, one example per row (examples x dimension). Exactly one of `features` and `half_features` is
  /// set.
  ConstMatrixView<float> features;
  /// Features as IEEE binary16 bit patterns, widened to float32 when rows are read.
  ConstMatrixView<std::uint16_t> half_features;
  /// Keeps the memory of the features alive: a mapped file, a Matrix in a shared_ptr. Empty: the caller does.
  std::shared_ptr<const void> owner;
  /// Matrix row of each example, for features that lie in another order or among others. Empty: example i is row i.
  std::vector<std::uint64_t> order{};

  std::vector<std::int32_t> labels;      ///< Class index of each example; empty: not labelled.
  std::vector<std::string> class_names;  ///< Name of each class index; empty: "0", "1", ... up to the largest label.
  std::vector<std::string> paths;        ///< Where each example came from; may be empty.
  std::vector<std::uint8_t> is_train;    ///< 1: may be drawn for training, 0: a test example; may be empty.
  /// Number of the group of each example, 0 or more: examples of one group (the frames of a video, the views of a
  /// photo) are drawn and held out together. Empty: every example is on its own.
  std::vector<std::int32_t> groups{};
  std::map<std::string, std::string> provenance;  ///< Backbone, its checksum, preprocessing, ...
  std::string source;                             ///< File or folder name, for messages.
};

/// Features of images with their labels. Immutable once built, so threads may share one without a lock; moving and
/// copying a set copies no features.
class FeatureSet {
 public:
  /// An empty set, to be assigned to.
  FeatureSet() = default;
  /// Checks lengths, the range of labels, NaN, infinity and rows of zeros. Throws Error{kInput}, which names source,
  /// row and column.
  explicit FeatureSet(FeatureSetParts parts);

  std::size_t rows() const { return rows_; }                         ///< Number of examples.
  std::size_t dimension() const { return dimension_; }               ///< Numbers per example.
  std::size_t classes() const { return parts_.class_names.size(); }  ///< Number of classes; 0 without labels.
  bool labelled() const { return !parts_.labels.empty(); }           ///< Whether examples have labels.

  /// Class index of each example; empty when not labelled.
  std::span<const std::int32_t> labels() const { return parts_.labels; }
  /// Name of each class index.
  std::span<const std::string> class_names() const { return parts_.class_names; }
  /// Where each example came from; may be empty.
  std::span<const std::string> paths() const { return parts_.paths; }
  /// 1: a training example, 0: a test example; empty where the source does not say.
  std::span<const std::uint8_t> is_train() const { return parts_.is_train; }
  /// Number of the group of each example; empty: every example is on its own.
  std::span<const std::int32_t> groups() const { return parts_.groups; }
  /// Which backbone and preprocessing the features come from, by name; may be empty.
  const std::map<std::string, std::string>& provenance() const { return parts_.provenance; }
  /// File or folder name, for messages.
  const std::string& source() const { return parts_.source; }

  /// Copies the named examples, widened to float32, into `out` (indices.size() x dimension()).
  void copy_rows(std::span<const std::uint32_t> indices, MatrixView<float> out) const;
  /// Copies examples [first, first + out.rows()) into `out` (any number of rows x dimension()).
  void copy_rows(std::size_t first, MatrixView<float> out) const;
  /// Labels of the named examples.
  std::vector<std::int32_t> labels_of(std::span<const std::uint32_t> indices) const;

 private:
  // Matrix row of an example.
  std::size_t place(std::size_t example) const { return parts_.order.empty() ? example : parts_.order[example]; }

  FeatureSetParts parts_;
  std::size_t rows_ = 0;
  std::size_t dimension_ = 0;
};

/// Paths of the named examples; none where the set has none.
std::vector<std::string> paths_of(const FeatureSet& set, std::span<const std::uint32_t> rows);

/// Groups of the named examples; none where the set has none.
std::vector<std::int32_t> groups_of(const FeatureSet& set, std::span<const std::uint32_t> rows);

/// SHA-256 of features (as float32), labels, class names, is_train and groups: the same for the same content in any
/// format.
std::string content_checksum(const FeatureSet& set);

/// The given examples by group, in their order; groups in the order of their first example. `groups` as in
/// FeatureSetParts, of all examples; empty: every example is a group of its own.
std::vector<std::vector<std::uint32_t>> group_members(std::span<const std::int32_t> groups,
                                                      std::span<const std::uint32_t> rows);

/// Parts whose features are `features` (examples x dimension), which the set will own; add labels and names to it.
FeatureSetParts parts_of(Matrix<float> features);

}  // namespace annulus
