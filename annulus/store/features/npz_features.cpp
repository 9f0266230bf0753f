// Feature sets in .npz archives: reads the usual array names, writes our own.
#include <array>
#include <cstdint>
#include <string_view>

#include "annulus/base/error.h"
#include "annulus/store/features/feature_formats.h"
#include "annulus/store/features/label_column.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/store/formats/npz.h"

namespace annulus {
namespace {

constexpr std::array<std::string_view, 3> kFeatureNames = {"features", "feature_list", "embs"};
constexpr std::array<std::string_view, 3> kLabelNames = {"labels", "targets", "label_list"};

// Lengths are compared before a column is allocated.
void check_rows(const NpyHeader& header, std::size_t rows, const std::string& where) {
  const std::size_t found = npy_column_rows(header, where);
  if (found != rows) {
    fail(ErrorKind::kInput, "{}: expected {} values, one for each feature row, but found {}", where, rows, found);
  }
}

std::vector<std::string> read_texts(NpzFile& file, std::string_view name, const std::size_t* rows) {
  std::vector<std::string> texts;
  file.read(name, [&](const NpyHeader& header, const ReadBytes& read) {
    if (rows != nullptr) check_rows(header, *rows, file.where(name));
    texts = read_npy_strings(header, read, file.where(name));
  });
  return texts;
}

void read_label_array(NpzFile& file, std::string_view name, std::size_t rows, FeatureSetParts& parts) {
  file.read(name, [&](const NpyHeader& header, const ReadBytes& read) {
    check_rows(header, rows, file.where(name));
    if (header.kind == NpyHeader::Kind::kNumbers) {
      set_integer_labels(read_npy_integers(header, read, file.where(name)), parts);
    } else {
      set_text_labels(read_npy_strings(header, read, file.where(name)), parts);
    }
  });
}

void read_group_array(NpzFile& file, std::size_t rows, FeatureSetParts& parts) {
  file.read("groups", [&](const NpyHeader& header, const ReadBytes& read) {
    check_rows(header, rows, file.where("groups"));
    if (header.kind == NpyHeader::Kind::kNumbers) {
      set_groups(read_npy_integers(header, read, file.where("groups")), parts);
    } else {
      set_groups(read_npy_strings(header, read, file.where("groups")), parts.groups);
    }
  });
}

}  // namespace

FeatureSetParts npz_features(const FileBytes& bytes) {
  NpzFile file(bytes);
  FeatureSetParts parts;
  parts.source = bytes.source;
  const std::string_view features = file.first_of(kFeatureNames);
  if (features.empty()) {
    fail(ErrorKind::kFormat, "{}: expected an array named {}, found none of them", file.source(),
         fmt::join(kFeatureNames, " or "));
  }
  file.read(features, [&](const NpyHeader& header, const ReadBytes& read) {
    read_npy_features(header, read, file.where(features), parts);
  });
  const std::size_t rows = parts.owner == nullptr ? 0 : std::max(parts.features.rows(), parts.half_features.rows());

  if (file.contains("class_names")) parts.class_names = read_texts(file, "class_names", nullptr);
  check_unique(parts.class_names, parts.source);
  const std::string_view labels = file.first_of(kLabelNames);
  if (!labels.empty()) read_label_array(file, labels, rows, parts);
  if (file.contains("paths")) parts.paths = read_texts(file, "paths", &rows);
  if (file.contains("is_train")) {
    file.read("is_train", [&](const NpyHeader& header, const ReadBytes& read) {
      check_rows(header, rows, file.where("is_train"));
      set_is_train(read_npy_integers(header, read, file.where("is_train")), parts);
    });
  }
  if (file.contains("groups")) read_group_array(file, rows, parts);
  if (file.contains("provenance")) {
    const auto texts = read_texts(file, "provenance", nullptr);
    if (texts.size() != 1) {
      fail(ErrorKind::kFormat, "{}: expected one text, found {}", file.where("provenance"), texts.size());
    }
    parts.provenance = parse_string_map(texts.front(), file.where("provenance"));
  }
  return parts;
}

void write_npz_features(const FeatureSet& set, const std::filesystem::path& path, const WriteOptions& options) {
  const bool half = options.type == FeatureType::kFloat16;
  const std::array<std::size_t, 1> rows = {set.rows()};
  const std::array<std::size_t, 2> shape = {set.rows(), set.dimension()};
  const std::array<std::string, 1> provenance = {to_json(set.provenance())};

  NpzWriter writer(path, options.compress);
  const auto add_texts = [&](const std::string& name, std::span<const std::string> texts,
                             std::span<const std::size_t> text_shape) {
    if (texts.empty()) return;
    const std::size_t width = text_width(texts);
    writer.add(name, fmt::format("<U{}", width), text_shape, text_blocks(texts, width));
  };
  writer.add("features", half ? "<f2" : "<f4", shape, feature_blocks(set, options.type));
  if (set.labelled()) {
    const std::vector<std::int64_t> labels(set.labels().begin(), set.labels().end());
    writer.add("labels", "<i8", rows, single_block(std::span(labels)));
  }
  const std::array<std::size_t, 1> classes = {set.classes()};
  add_texts("class_names", set.class_names(), classes);
  add_texts("paths", set.paths(), rows);
  if (!set.is_train().empty()) writer.add("is_train", "|b1", rows, single_block(set.is_train()));
  if (!set.groups().empty()) writer.add("groups", "<i4", rows, single_block(set.groups()));
  if (!set.provenance().empty()) add_texts("provenance", provenance, {});
  writer.commit();
}

}  // namespace annulus
