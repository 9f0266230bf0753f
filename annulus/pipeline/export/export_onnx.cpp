// Writes the graph to a temporary file, compares its predictions with the library's, and only then renames it.
#include "annulus/pipeline/export/export_onnx.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/random.h"
#include "annulus/base/version.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/learn/openset/open_set_scores.h"
#include "annulus/pipeline/backbones/backbone_catalogue.h"
#include "annulus/pipeline/encoder.h"
#include "annulus/pipeline/export/model_graph.h"
#include "annulus/pipeline/joined_row.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/vision/backbone/image_feature.h"
#include "annulus/vision/backbone/onnx_session.h"

namespace annulus {
namespace {

constexpr std::size_t kRandomRows = 64;
constexpr std::size_t kRowsAtOnce = 256;
constexpr std::size_t kRandomImages = 6;

std::int64_t extent(std::size_t value) { return static_cast<std::int64_t>(value); }

// The predictions of a model, one entry per row; probabilities are rows x classes.
struct RowOutputs {
  std::vector<std::string> labels;
  std::vector<float> probabilities;
  std::vector<float> unknown_scores;
};

// The library's own predictions.
RowOutputs ask_library(const Model& model, ConstMatrixView<float> rows) {
  Matrix<float> probabilities(rows.rows(), model.head.classes());
  PreparedHead(model.head).logits(rows, probabilities.view(), 0);
  to_probabilities(probabilities.view(), model.temperature);
  RowOutputs outputs;
  if (rejects_unknown(model)) {
    outputs.unknown_scores.resize(rows.rows());
    unknown_scores(model, rows, outputs.unknown_scores);
  }
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = probabilities.row(i);
    const auto best = std::max_element(row.begin(), row.end());
    outputs.labels.push_back(model.class_names[static_cast<std::size_t>(best - row.begin())]);
    if (!rejects_unknown(model)) outputs.unknown_scores.push_back(*best);
    outputs.probabilities.insert(outputs.probabilities.end(), row.begin(), row.end());
  }
  return outputs;
}

std::size_t index_of(const OnnxSession& session, std::string_view name) {
  const auto outputs = session.outputs();
  const auto found =
      std::find_if(outputs.begin(), outputs.end(), [&](const TensorInfo& info) { return info.name == name; });
  if (found == outputs.end()) fail(ErrorKind::kInternal, "the exported graph lost its output \"{}\"", name);
  return static_cast<std::size_t>(found - outputs.begin());
}

RowOutputs ask_session(const OnnxSession& session, std::span<const float> values, std::span<const std::int64_t> shape) {
  return {session.run_texts(values, shape, index_of(session, kLabelOutput)),
          session.run(values, shape, index_of(session, kProbabilitiesOutput)).values,
          session.run(values, shape, index_of(session, kUnknownOutput)).values};
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    largest = difference <= largest ? largest : difference;  // NaN is kept, and rejected later
  }
  return largest;
}

// For scores, which unlike probabilities have no bounds: relative to the score if that is more than 1.
double largest_score_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double scale = std::max(1.0, std::fabs(static_cast<double>(a[i])));
    const double difference = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])) / scale;
    largest = difference <= largest ? largest : difference;
  }
  return largest;
}

// The largest difference; throws when it is beyond the tolerance or when a label differs that is no tie.
double compare(const Model& model, const RowOutputs& ours, const RowOutputs& theirs, double tolerance,
               const char* what) {
  const double difference = std::max(largest_difference(ours.probabilities, theirs.probabilities),
                                     largest_score_difference(ours.unknown_scores, theirs.unknown_scores));
  if (!(difference <= tolerance)) {
    fail(ErrorKind::kInternal,
         "the ONNX file was not written: its predictions for {} differ from annulus predict by {:.3g}, more than {}",
         what, difference, tolerance);
  }
  for (std::size_t i = 0; i < ours.labels.size(); ++i) {
    if (i < theirs.labels.size() && ours.labels[i] == theirs.labels[i]) continue;
    const std::string found = i < theirs.labels.size() ? theirs.labels[i] : "";
    const auto row = std::span(ours.probabilities).subspan(i * model.head.classes(), model.head.classes());
    const auto name = std::find(model.class_names.begin(), model.class_names.end(), found);
    const auto index = static_cast<std::size_t>(name - model.class_names.begin());
    const float best = *std::max_element(row.begin(), row.end());
    if (index < row.size() && static_cast<double>(best - row[index]) <= tolerance) continue;
    fail(ErrorKind::kInternal,
         "the ONNX file was not written: for one of {} it predicts \"{}\" where annulus predict says \"{}\"", what,
         found, ours.labels[i]);
  }
  return difference;
}

// The training examples of the model and random rows of many lengths.
Matrix<float> rows_to_ask(const Model& model) {
  const std::size_t dimension = model.head.dimension();
  const std::size_t kept = model.support.rows();
  Matrix<float> rows(kept + kRandomRows, dimension);
  for (std::size_t i = 0; i < kept; ++i) {
    std::copy_n(model.support.features.row(i).begin(), dimension, rows.row(i).begin());
  }
  const RandomStream random{1, RandomUse::kSynthetic, 0};
  for (std::size_t i = 0; i < kRandomRows; ++i) {
    const double length = std::pow(10.0, static_cast<double>(i % 7) - 3.0);
    for (std::size_t j = 0; j < dimension; ++j) {
      rows(kept + i, j) = static_cast<float>(length * (2.0 * random.uniform(i * dimension + j) - 0.75));
    }
  }
  return rows;
}

void write_graph(const OnnxModel& graph, AtomicFile& file) {
  graph.write([&](std::span<const std::byte> bytes) { file.write(bytes); });
}

OnnxSession open_to_check(const std::filesystem::path& file) {
  try {
    return OnnxSession(file);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUsage) throw;
    fail_field(ErrorKind::kUsage, "check", "an exported ONNX file is checked before it is written (see {}): {}",
               error.what());
  }
}

void check_head(const Model& model, const std::filesystem::path& file, OnnxExportReport& report) {
  const OnnxSession session = open_to_check(file);
  const Matrix<float> rows = rows_to_ask(model);
  for (std::size_t first = 0; first < rows.rows(); first += kRowsAtOnce) {
    const auto block = rows.view().rows_at(first, std::min(kRowsAtOnce, rows.rows() - first));
    const std::array shape = {extent(block.rows()), extent(block.cols())};
    const RowOutputs theirs = ask_session(session, {block.data(), block.rows() * block.cols()}, shape);
    report.difference = std::max(report.difference,
                                 compare(model, ask_library(model, block), theirs, kExportTolerance, "feature rows"));
  }
  report.checked = true;
  report.rows = rows.rows();
}

// A picture of the network's own size: a colour, a gradient and noise.
Image random_image(const PreprocessRecipe& recipe, std::uint32_t number) {
  Image image = make_image(recipe.output_width(), recipe.output_height());
  const RandomStream random{2, RandomUse::kSynthetic, number};
  for (std::size_t i = 0; i < 3 * image.width * image.height; ++i) {
    const std::size_t colour = i % 3;
    const double across = static_cast<double>(i / 3 % image.width) / static_cast<double>(image.width);
    const double value =
        0.4 * random.uniform(colour) + 0.4 * across * random.uniform(3 + colour) + 0.2 * random.uniform(6 + i);
    image.pixels[i] = static_cast<std::uint8_t>(255.0 * value);
  }
  return image;
}

// An encoder as a file holds it.
struct ExportedImages {
  std::vector<ExportedEncoder> encoders;
  bool mirrored = false;
};

std::size_t dimension_of(const ExportedImages& exported) {
  std::size_t dimension = 0;
  for (const ExportedEncoder& encoder : exported.encoders) dimension += encoder.backbone.dimension();
  return dimension;
}

PreprocessRecipe without_resizing(const PreprocessRecipe& trained) {
  PreprocessRecipe recipe = trained;
  recipe.resize = ResizeMode::kNone;
  recipe.crop_width = trained.output_width();
  recipe.crop_height = trained.output_height();
  return recipe;
}

// The library's features of an image that needs no resizing.
void encode_exported(const ExportedImages& exported, const Image& image, std::span<float> out) {
  std::vector<std::size_t> dimensions;
  std::vector<std::vector<float>> rows;
  const std::size_t count = exported.mirrored ? 2 : 1;
  for (const ExportedEncoder& encoder : exported.encoders) {
    dimensions.push_back(encoder.backbone.dimension());
    for (std::size_t view = 0; view < count; ++view) {
      rows.push_back(extract_image(image, "a random image", encoder.backbone, without_resizing(encoder.recipe),
                                   {view == 0 ? ViewKind::kWhole : ViewKind::kMirrored}));
    }
  }
  const auto row_of = [&](std::size_t part, std::size_t view) {
    return std::span<const float>(rows[part * count + view]);
  };
  const std::array<std::size_t, 2> views{0, 1};
  join_row(dimensions, std::span(views).first(count), "a random image", row_of, out);
}

bool is_half(const ExportedEncoder& encoder) {
  return encoder.backbone.input().type == TensorType::kHalf || encoder.backbone.output().type == TensorType::kHalf;
}

// Runs as many images at once as the file takes, two if it takes any number.
void check_images(const Model& model, const ExportedImages& exported, const std::filesystem::path& file,
                  OnnxExportReport& report) {
  const OnnxSession session = open_to_check(file);
  const PreprocessRecipe& recipe = exported.encoders.front().recipe;
  const std::size_t dimension = dimension_of(exported);
  const PreprocessRecipe unit = without_resizing(geometry_of(recipe));
  Matrix<float> pixels(kRandomImages, recipe.output_size());
  Matrix<float> features(kRandomImages, dimension);
  for (std::size_t i = 0; i < kRandomImages; ++i) {
    const Image image = random_image(recipe, static_cast<std::uint32_t>(i));
    write_network_input(image, unit, pixels.row(i));
    encode_exported(exported, image, features.row(i));
  }
  const bool half = std::any_of(exported.encoders.begin(), exported.encoders.end(), is_half);
  const std::int64_t fixed = session.inputs().front().shape.front();
  const std::size_t at_once = fixed > 0 ? static_cast<std::size_t>(fixed) : 2;
  for (std::size_t first = 0; first < kRandomImages; first += at_once) {
    Matrix<float> asked(at_once, pixels.cols());
    Matrix<float> encoded(at_once, dimension);
    for (std::size_t i = 0; i < at_once; ++i) {  // an incomplete last group is filled up from the start
      const std::size_t number = (first + i) % kRandomImages;
      std::copy_n(pixels.row(number).begin(), asked.cols(), asked.row(i).begin());
      std::copy_n(features.row(number).begin(), encoded.cols(), encoded.row(i).begin());
    }
    const std::array shape = {extent(at_once), std::int64_t{3}, extent(recipe.output_height()),
                              extent(recipe.output_width())};
    const std::span<const float> values(asked.data(), asked.rows() * asked.cols());
    const RowOutputs theirs = ask_session(session, values, shape);
    const FloatTensor found = session.run(values, shape, index_of(session, kFeaturesOutput));
    const ConstMatrixView<float> rows(found.values.data(), at_once, dimension);
    report.difference = std::max(
        report.difference, compare(model, ask_library(model, rows), theirs, kExportTolerance, "features of images"));
    report.image_difference =
        std::max(report.image_difference, compare(model, ask_library(model, std::as_const(encoded).view()), theirs,
                                                  half ? kHalfTolerance : kImageTolerance, "random images"));
  }
  report.images = kRandomImages;
}

void add_record(OnnxModel& graph, const Model& model) {
  graph.metadata("annulus.version", kVersion);
  graph.metadata("annulus.class_names", to_json(model.class_names));
  graph.metadata("annulus.epsilon", fmt::format("{}", model.epsilon));
  graph.metadata("annulus.temperature", fmt::format("{}", model.temperature));
  if (rejects_unknown(model)) {
    graph.metadata("annulus.unknown_quantiles", fmt::format("[{}]", fmt::join(model.unknown.quantiles, ", ")));
  }
  graph.metadata("annulus.head", std::string(to_string(model.head.kind)));
  for (const char* key : {"backbone", "backbone_sha256", "backbone_output"}) {
    const auto found = model.provenance.find(key);
    if (found != model.provenance.end()) graph.metadata(fmt::format("annulus.{}", key), found->second);
  }
  const auto preprocessing = model.provenance.find("preprocessing");
  if (preprocessing != model.provenance.end()) {
    graph.metadata("annulus.backbone_preprocess", preprocessing->second);
  }
  std::vector<std::string> licences;
  std::vector<std::string> sources;
  for (const BackboneEntry* entry : known_backbones_of(model.provenance)) {
    licences.push_back(entry->licence);
    sources.push_back(training_text(*entry));
  }
  if (licences.empty()) return;
  graph.metadata("annulus.backbone_licence", fmt::format("{}", fmt::join(licences, " + ")));
  graph.metadata("annulus.backbone_trained_on", fmt::format("{}", fmt::join(sources, " + ")));
}

// The texts of all networks in one entry.
template <class Text>
void add_texts(OnnxModel& graph, const char* key, const ExportedImages& exported, const char* between,
               const Text& text_of) {
  std::string text;
  for (const ExportedEncoder& encoder : exported.encoders) {
    text += (text.empty() ? "" : between) + text_of(encoder);
  }
  graph.metadata(key, text);
}

// The graph, and the networks' files that it refers to.
struct MappedGraph {
  std::vector<FileBytes> files;
  OnnxModel graph;
};

MappedGraph graph_of(const Model& model, const ExportedImages& exported) {
  MappedGraph result;
  std::vector<std::span<const std::byte>> bytes;
  for (const ExportedEncoder& encoder : exported.encoders) result.files.push_back(map_file(encoder.backbone.file()));
  for (const FileBytes& mapped : result.files) bytes.push_back(mapped.bytes);
  result.graph = image_graph(model, exported.encoders, bytes, exported.mirrored);
  OnnxModel& graph = result.graph;
  add_record(graph, model);
  // The preprocessing that remains before the input of the file.
  graph.metadata("annulus.preprocess", to_text(geometry_of(exported.encoders.front().recipe)));
  using Exported = ExportedEncoder;
  const auto recipe_of = [](const Exported& encoder) { return to_text(encoder.recipe); };
  add_texts(graph, "annulus.backbone_preprocess", exported, " + ", recipe_of);
  add_texts(graph, "annulus.backbone", exported, "+", [](const Exported& encoder) { return encoder.name; });
  add_texts(graph, "annulus.backbone_sha256", exported, " + ",
            [](const Exported& encoder) { return encoder.backbone.sha256(); });
  add_texts(graph, "annulus.backbone_output", exported, " + ",
            [](const Exported& encoder) { return encoder.backbone.output_rule(); });
  return result;
}

ExportedImages exported_images(const Encoder& encoder) {
  if (encoder.views.others == ViewKind::kRandom) {
    fail(ErrorKind::kInput, "random views ({}) cannot be made inside of an ONNX file: export the head alone",
         to_text(encoder.views));
  }
  ExportedImages exported;
  exported.mirrored = encoder.views.any();
  for (const EncoderPart& part : encoder.parts) exported.encoders.push_back({part.backbone, part.recipe, part.name});
  return exported;
}

OnnxExportReport export_images(const Model& model, const ExportedImages& exported, const std::filesystem::path& path,
                               bool check) {
  const MappedGraph mapped = graph_of(model, exported);
  AtomicFile file(path);
  write_graph(mapped.graph, file);
  OnnxExportReport report;
  if (check) {
    check_images(model, exported, file.temporary_path(), report);
    // The head again, on rows that random images do not reach.
    AtomicFile head(path);
    write_graph(feature_graph(model), head);
    check_head(model, head.temporary_path(), report);
  }
  file.commit();
  return report;
}

}  // namespace

OnnxExportReport export_onnx(const Model& model, const std::filesystem::path& path, bool check) {
  OnnxModel graph = feature_graph(model);
  add_record(graph, model);
  AtomicFile file(path);
  write_graph(graph, file);
  OnnxExportReport report;
  if (check) check_head(model, file.temporary_path(), report);
  file.commit();
  return report;
}

OnnxExportReport export_onnx(const Model& model, const ExportedEncoder& encoder, const std::filesystem::path& path,
                             bool check) {
  return export_images(model, {{encoder}, false}, path, check);
}

OnnxExportReport export_onnx(const Model& model, const Encoder& encoder, const std::filesystem::path& path,
                             bool check) {
  return export_images(model, exported_images(encoder), path, check);
}

std::size_t onnx_file_bytes(const Model& model, const Encoder& encoder) {
  std::size_t count = 0;
  graph_of(model, exported_images(encoder)).graph.write([&](std::span<const std::byte> bytes) {
    count += bytes.size();
  });
  return count;
}

}  // namespace annulus
