// Builds the ONNX operators of what annulus/learn and annulus/vision compute for a feature row and an image.
#include "annulus/pipeline/export/model_graph.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/learn/method/head.h"
#include "annulus/learn/model/support_index.h"
#include "annulus/learn/openset/open_set_scores.h"
#include "annulus/learn/transform/class_spread.h"
#include "annulus/learn/transform/feature_transform.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

constexpr std::int64_t kFloatElement = 1;
constexpr std::int64_t kDoubleElement = 11;

std::int64_t length_of(std::size_t value) { return static_cast<std::int64_t>(value); }

std::string scalar(OnnxModel& graph, const std::string& name, float value) { return graph.floats(name, {1}, {value}); }

std::string add_transform(OnnxModel& graph, const FeatureTransform& transform, std::string rows) {
  if (transform.power != 1.0F) {
    const std::string power = scalar(graph, "head/power", transform.power);
    const std::string raised = graph.node("Pow", {graph.node("Abs", {rows}), power});
    rows = graph.node("Mul", {graph.node("Sign", {rows}), raised});
  }
  if (transform.centre.empty()) return rows;
  // A row of zeros stays zero.
  const std::string tiny = scalar(graph, "head/tiny", std::numeric_limits<float>::min());
  const std::string length = graph.node("Max", {graph.reduce("ReduceL2", rows, {1}, true), tiny});
  const std::string unit = graph.node("Div", {rows, length});
  const std::string centre = graph.floats("head/centre", {1, length_of(transform.centre.size())}, transform.centre);
  const std::string centred = graph.node("Sub", {unit, centre});
  const std::string least = scalar(graph, "head/least_length", kLeastCentredLength);
  const std::string is_short = graph.node("Less", {graph.reduce("ReduceL2", centred, {1}, true), least});
  return graph.node("Where", {is_short, unit, centred});
}

// Columns become rows, as a matrix product takes them.
std::vector<float> transposed(ConstMatrixView<float> matrix) {
  std::vector<float> result(matrix.rows() * matrix.cols());
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    for (std::size_t j = 0; j < matrix.cols(); ++j) result[j * matrix.rows() + i] = matrix(i, j);
  }
  return result;
}

std::vector<float> transposed_weights(const Head<float>& head) {
  Matrix<float> weights(head.classes(), head.dimension());
  effective_weights(head, weights.view());
  return transposed(std::as_const(weights).view());
}

struct Logits {
  std::string rows;    // transformed, of unit length
  std::string values;  // divided by the temperature, centred
};

// The products are summed in double precision: in float32 ONNX Runtime's sums are off by several units of the last
// digit, which a temperature below 1 and the weights of the score make larger. Weights lie in the file as float32.
Logits add_logits(OnnxModel& graph, const Model& model, const std::string& features) {
  const Head<float>& head = model.head;
  const std::string rows = add_transform(graph, head.transform, features);
  const std::string unit = graph.node("Div", {rows, graph.reduce("ReduceL2", rows, {1}, true)});
  const std::string weights = graph.weight("head/weights", {length_of(head.dimension()), length_of(head.classes())},
                                           [&head] { return transposed_weights(head); });
  const auto as_double = [&graph](const std::string& value) {
    return graph.node("Cast", {value}, {{"to", kDoubleElement}});
  };
  std::string products = graph.node("MatMul", {as_double(unit), as_double(weights)});
  double scale = 1.0 / model.temperature;
  if (head.kind == HeadKind::kLinear) {
    const std::string bias = graph.floats("head/bias", {length_of(head.classes())}, head.bias);
    products = graph.node("Add", {products, as_double(bias)});
  } else {
    scale *= kCosineScale / (1.0 + kNormGuard);
  }
  const std::string cooled =
      graph.node("Mul", {products, as_double(scalar(graph, "head/scale", static_cast<float>(scale)))});
  const std::string above_mean = graph.node("Sub", {cooled, graph.reduce("ReduceMean", cooled, {1}, true)});
  return {unit, graph.node("Cast", {above_mean}, {{"to", kFloatElement}})};
}

// The inputs of closeness.
struct Closeness {
  std::string rows;   // transformed, of unit length
  std::string named;  // the class of the largest logit
  std::string axes;   // as columns; empty where there are none
  std::string half;
};

Closeness add_axes(OnnxModel& graph, const Model& model, const Logits& logits) {
  Closeness closeness{logits.rows, {}, {}, {}};
  closeness.named = graph.node("ArgMax", {logits.values}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
  const ConstMatrixView<float> axes = axes_of(model.unknown, model.head.dimension());
  if (axes.empty()) return closeness;
  closeness.axes =
      graph.weight("head/axes", {length_of(axes.cols()), length_of(axes.rows())}, [axes] { return transposed(axes); });
  closeness.half = scalar(graph, "head/half", 0.5F);
  return closeness;
}

// The entry of `weight` for the predicted class; its first dimension is the classes.
std::string choose_class(OnnxModel& graph, const Closeness& closeness, const std::string& weight) {
  return graph.node("Gather", {weight, closeness.named}, {{"axis", std::int64_t{0}}});
}

// Closeness to the mean of the support examples of the class.
std::string add_mean_closeness(OnnxModel& graph, const Model& model, const Closeness& closeness) {
  const std::int64_t dimension = length_of(model.head.dimension());
  const std::string means = graph.weight("head/prototypes", {length_of(model.head.classes()), dimension}, [&model] {
    const SupportIndex index(model.head.transform, model.support, 1, model.head.classes());
    const ConstMatrixView<float> rows = index.means();
    return std::vector<float>(rows.data(), rows.data() + rows.rows() * rows.cols());
  });
  const std::string mean = choose_class(graph, closeness, means);
  // A mean times the length is a sum that every version of ONNX writes the same.
  const std::string length = scalar(graph, "head/dimension", static_cast<float>(dimension));
  const std::string product = graph.reduce("ReduceMean", graph.node("Mul", {closeness.rows, mean}), {1}, false);
  const std::string cosine = graph.node("Mul", {product, length});
  if (closeness.axes.empty()) return cosine;
  const std::string along = graph.node("MatMul", {graph.node("Sub", {closeness.rows, mean}), closeness.axes});
  const std::string squares = graph.reduce("ReduceSumSquare", along, {1}, false);
  return graph.node("Add", {cosine, graph.node("Mul", {squares, closeness.half})});
}

// The support examples class by class, padded to the size of the largest class by repeating the first example.
std::vector<float> support_by_class(const Model& model, std::size_t most) {
  const SupportIndex index(model.head.transform, model.support);
  const std::size_t dimension = model.head.dimension();
  std::vector<float> numbers(model.head.classes() * most * dimension, 0.0F);
  std::vector<std::size_t> seen(model.head.classes(), 0);
  for (std::size_t i = 0; i < model.support.rows(); ++i) {
    const auto c = static_cast<std::size_t>(model.support.labels[i]);
    const auto row = index.rows().row(i);
    const std::size_t end = seen[c] == 0 ? most : seen[c] + 1;
    for (std::size_t place = seen[c]++; place < end; ++place) {
      std::copy(row.begin(), row.end(), numbers.begin() + static_cast<std::ptrdiff_t>((c * most + place) * dimension));
    }
  }
  return numbers;
}

// The coordinates of the examples of support_by_class along the axes.
std::vector<float> along_axes_by_class(const Model& model, std::size_t most) {
  const std::size_t dimension = model.head.dimension();
  const ConstMatrixView<float> axes = axes_of(model.unknown, dimension);
  const std::vector<float> support = support_by_class(model, most);
  std::vector<float> numbers;
  for (std::size_t first = 0; first < support.size(); first += dimension) {
    const AxisNumbers along = along_axes(axes, std::span(support).subspan(first, dimension));
    numbers.insert(numbers.end(), along.begin(), along.begin() + static_cast<std::ptrdiff_t>(axes.rows()));
  }
  return numbers;
}

// Cosines of the support examples of the class, one below the other.
std::string add_cosines(OnnxModel& graph, const Model& model, const Closeness& closeness, std::size_t most) {
  const std::int64_t dimension = length_of(model.head.dimension());
  const std::string support =
      graph.weight("head/support", {length_of(model.head.classes()), length_of(most), dimension},
                   [&model, most] { return support_by_class(model, most); });
  const std::string column =
      graph.node("Reshape", {closeness.rows, graph.integers("head/support_column", {-1, dimension, 1})});
  return graph.node("MatMul", {choose_class(graph, closeness, support), column});
}

// Closeness to the support examples of the class, from their cosines.
std::string add_row_closeness(OnnxModel& graph, const Model& model, const Closeness& closeness, std::size_t most,
                              const std::string& cosines) {
  if (closeness.axes.empty()) return cosines;
  const std::int64_t axes = length_of(model.unknown.axes.size() / model.head.dimension());
  const std::string support =
      graph.weight("head/support_along", {length_of(model.head.classes()), length_of(most), axes},
                   [&model, most] { return along_axes_by_class(model, most); });
  const std::string along = graph.node("Reshape", {graph.node("MatMul", {closeness.rows, closeness.axes}),
                                                   graph.integers("head/along_row", {-1, 1, axes})});
  const std::string difference = graph.node("Sub", {choose_class(graph, closeness, support), along});
  const std::string squares = graph.reduce("ReduceSumSquare", difference, {2}, true);
  return graph.node("Add", {cosines, graph.node("Mul", {squares, closeness.half})});
}

std::string add_runner_up(OnnxModel& graph, const std::string& logits) {
  const std::string two = graph.nodes("TopK", {logits, graph.integers("head/two", {2})}, {}, 2).front();
  const std::string second =
      graph.node("Gather", {two, graph.integers("head/second", {1})}, {{"axis", std::int64_t{1}}});
  return graph.node("Reshape", {second, graph.integers("head/flat", {-1})});
}

// The score by which annulus predict rejects unknown inputs; the largest probability where the model has no rule.
void add_unknown_score(OnnxModel& graph, const Model& model, const Logits& logits, const std::string& probabilities) {
  const std::string best = graph.reduce("ReduceMax", probabilities, {1}, false);
  if (!rejects_unknown(model)) {
    graph.node("Identity", {best}, {}, kUnknownOutput);
    return;
  }
  const auto& weights = model.unknown.weights;
  const std::string largest = graph.reduce("ReduceMax", logits.values, {1}, false);
  std::string sum;
  const auto add = [&](UnknownPart part, const std::string& value, float weight) {
    if (weight == 0.0F && !sum.empty()) return;
    const std::string factor = scalar(graph, fmt::format("head/unknown_weight_{}", static_cast<int>(part)), weight);
    const std::string term = graph.node("Mul", {value, factor});
    sum = sum.empty() ? term : graph.node("Add", {sum, term});
  };
  // log sum exp = largest - log(largest probability). Both have large weights of opposite sign, of which float32 would
  // keep few digits: they are added here, not in the graph.
  add(kLargestLogit, largest, weights[kLargestLogit] + weights[kLogSumExp]);
  if (weights[kLogSumExp] != 0.0F) add(kLogSumExp, graph.node("Log", {best}), -weights[kLogSumExp]);
  if (weights[kRunnerUpLogit] != 0.0F) {
    const std::string second = model.head.classes() > 1 ? add_runner_up(graph, logits.values) : largest;
    add(kRunnerUpLogit, second, weights[kRunnerUpLogit]);
  }
  if (needs_support(model.unknown)) {
    const Closeness closeness = add_axes(graph, model, logits);
    if (needs_nearest(model.unknown)) {
      const std::vector<std::size_t> counts = class_counts(model.support.labels, model.head.classes());
      const std::size_t most = *std::max_element(counts.begin(), counts.end());
      const std::string cosines = add_cosines(graph, model, closeness, most);
      if (weights[kNearestCosine] != 0.0F) {
        add(kNearestCosine, graph.reduce("ReduceMax", cosines, {1, 2}, false), weights[kNearestCosine]);
      }
      if (weights[kNearestCloseness] != 0.0F) {
        const std::string close = add_row_closeness(graph, model, closeness, most, cosines);
        add(kNearestCloseness, graph.reduce("ReduceMax", close, {1, 2}, false), weights[kNearestCloseness]);
      }
    }
    if (needs_means(model.unknown)) {
      add(kClassCloseness, add_mean_closeness(graph, model, closeness), weights[kClassCloseness]);
    }
  }
  graph.node("Identity", {sum}, {}, kUnknownOutput);
}

}  // namespace

bool rejects_unknown(const Model& model) {
  return !model.unknown.empty() && (!needs_support(model.unknown) || !model.support.empty());
}

OnnxModel feature_graph(const Model& model) {
  OnnxModel graph;
  graph.input(kRowsInput, {-1, length_of(model.head.dimension())});
  add_head(graph, model, kRowsInput, -1);
  return graph;
}

void add_head(OnnxModel& graph, const Model& model, const std::string& features, std::int64_t batch) {
  const Logits logits = add_logits(graph, model, features);
  const std::string probabilities =
      graph.node("Softmax", {logits.values}, {{"axis", std::int64_t{1}}}, kProbabilitiesOutput);
  const std::string best =
      graph.node("ArgMax", {logits.values}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
  const std::string names = graph.texts("head/class_names", model.class_names);
  graph.node("Gather", {names, best}, {{"axis", std::int64_t{0}}}, kLabelOutput);
  add_unknown_score(graph, model, logits, probabilities);
  graph.text_output(kLabelOutput, {batch});
  graph.output(kProbabilitiesOutput, {batch, length_of(model.head.classes())});
  graph.output(kUnknownOutput, {batch});
}

}  // namespace annulus
