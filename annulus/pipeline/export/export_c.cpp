// Spells a head out in C. Texts of the generated file use NAME and CAPS for the prefix, which are replaced at the end.
#include "annulus/pipeline/export/export_c.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <string_view>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/version.h"
#include "annulus/learn/model/support_index.h"
#include "annulus/learn/openset/open_set_scores.h"
#include "annulus/learn/transform/class_spread.h"
#include "annulus/learn/transform/feature_transform.h"
#include "annulus/pipeline/export/model_graph.h"
#include "annulus/store/files/atomic_file.h"

namespace annulus {
namespace {

constexpr std::size_t kLongestText = 4095;  // of a string literal, by C99
constexpr std::size_t kLongestName = 64;

void check_name(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool valid =
      !name.empty() && name.size() <= kLongestName && is_letter(name.front()) &&
      std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
  if (valid) return;
  fail(ErrorKind::kUsage, "expected a name for C of letters, digits and _ that begins with a letter, found \"{}\"",
       name);
}

std::string in_capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// Replaces the two placeholders of a text by the prefix.
std::string with_name(std::string_view text, const std::string& name) {
  std::string result;
  const std::string capitals = in_capitals(name);
  while (!text.empty()) {
    const std::size_t at = std::min(text.find("NAME_"), text.find("CAPS_"));
    result += text.substr(0, at);
    if (at >= text.size()) break;
    result += text[at] == 'N' ? name : capitals;
    text.remove_prefix(at + 4);
  }
  return result;
}

// The shortest decimal that reads back as the same float.
std::string literal(float value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

// Whatever is not a plain ASCII character is an octal escape, which unlike a hexadecimal one has an end.
std::string c_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\' && c != '?';
    result += plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned>(byte));
  }
  return result + "\"";
}

std::string number_list(std::span<const float> numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += i % 8 == 0 ? ",\n  " : ", ";
    text += literal(numbers[i]);
  }
  return text;
}

constexpr const char* kBegin = R"(/* {} classes from {} features; written by annulus {}.
 * Include it in one source file: the weights are static. C99 or C++, needs math.h alone. */
#ifndef CAPS_H
#define CAPS_H

#include <math.h>
#include <stddef.h>

#define CAPS_CLASSES {}
#define CAPS_FEATURES {}

)";

constexpr const char* kClassName = R"(
/* The name of a class in UTF-8; NULL for a number that is no class. */
static inline const char* NAME_class_name(int index) {
  return index >= 0 && index < CAPS_CLASSES ? NAME_class_names[index] : NULL;
}

static inline double NAME_length(const float* row) {
  double sum = 0.0;
  int j;
  for (j = 0; j < CAPS_FEATURES; ++j) sum += (double)row[j] * (double)row[j];
  sum = sqrt(sum);
  return sum > 0.0 && sum < 1e38 ? sum : 0.0; /* 0 also for what is not finite */
}

/* Makes of features the row that the weights were trained on, and returns its length; 0: it has none. */
static inline double NAME_condition(const float* features, float* row) {
  int j;
)";

constexpr const char* kCopy = "  for (j = 0; j < CAPS_FEATURES; ++j) row[j] = features[j];\n";

constexpr const char* kRaise = R"(  for (j = 0; j < CAPS_FEATURES; ++j) {
    const double raised = pow(fabs((double)features[j]), (double)POWER);
    row[j] = (float)(features[j] < 0.0f ? -raised : raised);
  }
)";

constexpr const char* kCentring = R"(  {
    float centred[CAPS_FEATURES];
    const double length = NAME_length(row);
    if (length == 0.0) return 0.0;
    for (j = 0; j < CAPS_FEATURES; ++j) {
      row[j] = (float)((double)row[j] / length);
      centred[j] = row[j] - NAME_centre[j];
    }
    if (!(NAME_length(centred) < (double)LEAST)) {
      for (j = 0; j < CAPS_FEATURES; ++j) row[j] = centred[j];
    }
  }
)";

constexpr const char* kPredict = R"(  return NAME_length(row);
}

static inline double NAME_logit(const float* row, double length, int c) {
  double product = 0.0;
  int j;
  for (j = 0; j < CAPS_FEATURES; ++j) product += (double)NAME_weights[c][j] * (double)row[j];
  return LOGIT;
}

/* The most probable class of a row of CAPS_FEATURES numbers; fills CAPS_CLASSES probabilities. -1, and nothing
 * is filled, for a row of zeros or one with a number that is not finite. */
static inline int NAME_predict(const float* features, float* probabilities) {
  float row[CAPS_FEATURES];
  const double length = NAME_condition(features, row);
  double largest, sum = 0.0;
  int best = 0, c;
  if (length == 0.0) return -1;
  for (c = 0; c < CAPS_CLASSES; ++c) {
    probabilities[c] = (float)NAME_logit(row, length, c);
    if (probabilities[c] > probabilities[best]) best = c;
  }
  largest = (double)probabilities[best];
  for (c = 0; c < CAPS_CLASSES; ++c) {
    probabilities[c] = (float)exp((double)probabilities[c] - largest);
    sum += (double)probabilities[c];
  }
  for (c = 0; c < CAPS_CLASSES; ++c) probabilities[c] = (float)((double)probabilities[c] / sum);
  return best;
}
)";

constexpr const char* kUnknownScore = R"(
/* How well a row of CAPS_FEATURES numbers is known: MEANING.
 * Minus infinity for a row that NAME_predict rejects. */
static inline float NAME_unknown_score(const float* features) {
  float row[CAPS_FEATURES];
  const double length = NAME_condition(features, row);
  double largest = -HUGE_VAL, second = -HUGE_VAL, sum = 0.0, mean = 0.0, nearest = -2.0, close_row = -2.0, of_class = 0.0;
  int best = 0, c;
  if (length == 0.0) return (float)-HUGE_VAL;
  for (c = 0; c < CAPS_CLASSES; ++c) {
    const double logit = NAME_logit(row, length, c);
    mean += logit / CAPS_CLASSES;
    if (logit > largest) {
      sum = sum * exp(largest - logit) + 1.0;
      second = largest;
      largest = logit;
      best = c;
    } else {
      sum += exp(logit - largest);
      if (logit > second) second = logit;
    }
  }
)";

constexpr const char* kNearest = R"(  for (c = 0; c < CAPS_SUPPORT; ++c) {
    double product = 0.0;
    int j;
    if (NAME_support_class[c] != best) continue;
    for (j = 0; j < CAPS_FEATURES; ++j) product += (double)NAME_support[c][j] * (double)row[j];
    product /= length;
    if (product > nearest) nearest = product;
    product += NAME_along(row, length, NAME_support[c]);
    if (product > close_row) close_row = product;
  }
  if (nearest < -1.0) {
    static const float zeros[CAPS_FEATURES] = {0.0f};
    nearest = 0.0;
    close_row = NAME_along(row, length, zeros);
  }
)";

constexpr const char* kOfClass = R"(  for (c = 0; c < CAPS_FEATURES; ++c) {
    of_class += (double)NAME_means[best][c] * (double)row[c] / length;
  }
  of_class += NAME_along(row, length, NAME_means[best]);
)";

constexpr const char* kAlongAxes = R"(
/* Half of the squared difference of row / length and other along the axes. */
static inline double NAME_along(const float* row, double length, const float* other) {
  double sum = 0.0;
  int c, j;
  for (c = 0; c < CAPS_AXES; ++c) {
    double along = 0.0;
    for (j = 0; j < CAPS_FEATURES; ++j) {
      along += (double)NAME_axes[c][j] * ((double)row[j] / length - (double)other[j]);
    }
    sum += along * along / 2.0;
  }
  return sum;
}
)";

constexpr const char* kNoAxes = R"(
static inline double NAME_along(const float* row, double length, const float* other) {
  (void)row;
  (void)length;
  (void)other;
  return 0.0;
}
)";

constexpr const char* kNoRule = R"(  (void)second;
  (void)nearest;
  (void)close_row;
  (void)of_class;
  (void)mean;
  (void)best;
  return (float)(1.0 / sum);
}

#endif
)";

constexpr const char* kRule = R"(  (void)best;
  return (float)({} * largest + {} * {} + {} * (largest + log(sum)) + {} * mean + {} * nearest +
                 {} * close_row + {} * of_class);
}}

#endif
)";

bool has_support(const Model& model) { return rejects_unknown(model) && needs_nearest(model.unknown); }
bool has_means(const Model& model) { return rejects_unknown(model) && needs_means(model.unknown); }
bool has_axes(const Model& model) { return (has_support(model) || has_means(model)) && !model.unknown.axes.empty(); }

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

std::string predict_function(const Model& model) {
  const Head<float>& head = model.head;
  std::string text = kClassName;
  const float power = head.transform.power;
  text += power != 1.0F ? replaced(kRaise, "POWER", literal(power)) : kCopy;
  if (!head.transform.centre.empty()) text += replaced(kCentring, "LEAST", literal(kLeastCentredLength));
  const std::string logit =
      head.kind == HeadKind::kCosine
          ? fmt::format("{} * product / length", kCosineScale / (1.0 + kNormGuard) / model.temperature)
          : fmt::format("(product / length + (double)NAME_bias[c]) / {}", model.temperature);
  return text + replaced(kPredict, "LOGIT", logit);
}

std::string unknown_function(const Model& model) {
  if (!rejects_unknown(model)) return replaced(kUnknownScore, "MEANING", "the largest probability") + kNoRule;
  std::string text;
  if (needs_support(model.unknown)) text += has_axes(model) ? kAlongAxes : kNoAxes;
  text += replaced(kUnknownScore, "MEANING",
                   "the larger, the better; annulus predict rejects it below\n * CAPS_UNKNOWN_THRESHOLD, as "
                   "it would 5 % of known inputs");
  if (has_support(model)) text += kNearest;
  if (has_means(model)) text += kOfClass;
  const auto& weights = model.unknown.weights;
  return text + fmt::format(kRule, weights[kLargestLogit], weights[kRunnerUpLogit],
                            model.head.classes() > 1 ? "second" : "largest", weights[kLogSumExp],
                            mean_weight(model.unknown), weights[kNearestCosine], weights[kNearestCloseness],
                            weights[kClassCloseness]);
}

void write_rows(std::string_view name, std::string_view count, ConstMatrixView<float> rows,
                const std::function<void(std::string_view)>& write) {
  write(fmt::format("#define CAPS_{0} {1}\nstatic const float NAME_{2}[CAPS_{0}][CAPS_FEATURES] = {{\n", count,
                    rows.rows(), name));
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    write("  {" + number_list(rows.row(i)) + (i + 1 < rows.rows() ? "},\n" : "}\n"));
  }
  write("};\n");
}

// Constants that only some models have.
void write_unknown_constants(const Model& model, const std::function<void(std::string_view)>& write) {
  if (!rejects_unknown(model)) return;
  write(fmt::format("\n#define CAPS_UNKNOWN_THRESHOLD {}\n", literal(unknown_threshold(model.unknown, 0.05))));
  if (!needs_support(model.unknown)) return;
  const SupportIndex index(model.head.transform, model.support, 1, model.head.classes());
  if (has_support(model)) {
    write_rows("support", "SUPPORT", index.rows(), write);
    write(fmt::format("static const int NAME_support_class[CAPS_SUPPORT] = {{{}}};\n",
                      fmt::join(model.support.labels, ", ")));
  }
  if (has_means(model)) write_rows("means", "MEANS", index.means(), write);
  if (has_axes(model)) write_rows("axes", "AXES", axes_of(model.unknown, model.head.dimension()), write);
}

void check_size(const Model& model) {
  const std::size_t rows = model.head.classes() + (has_support(model) ? model.support.rows() : 0) +
                           (has_means(model) ? model.head.classes() : 0) + (has_axes(model) ? kSpreadAxes : 0);
  const std::size_t numbers = rows * model.head.dimension();
  if (numbers > kMostNumbersInC) {
    fail(ErrorKind::kInput,
         "expected at most {} numbers for a C header, found {} ({} rows of {} dimensions): export it as ONNX instead",
         kMostNumbersInC, numbers, rows, model.head.dimension());
  }
  for (const std::string& name : model.class_names) {
    if (name.size() > kLongestText) {
      fail(ErrorKind::kInput, "expected class names of {} bytes at most for C, found one of {}", kLongestText,
           name.size());
    }
  }
}

}  // namespace

void export_c(const Model& model, const std::string& name, const std::filesystem::path& path) {
  check_name(name);
  check_size(model);
  const Head<float>& head = model.head;
  AtomicFile file(path);
  const auto write = [&](std::string_view text) { file.write(with_name(text, name)); };
  write(fmt::format(kBegin, head.classes(), head.dimension(), kVersion, head.classes(), head.dimension()));
  Matrix<float> weights(head.classes(), head.dimension());
  effective_weights(head, weights.view());
  write("static const float NAME_weights[CAPS_CLASSES][CAPS_FEATURES] = {\n");
  for (std::size_t c = 0; c < head.classes(); ++c) {
    file.write("  {" + number_list(std::as_const(weights).row(c)) + (c + 1 < head.classes() ? "},\n" : "}\n"));
  }
  write("};\n");
  if (head.kind == HeadKind::kLinear) {
    write("\nstatic const float NAME_bias[CAPS_CLASSES] = {\n  " + number_list(head.bias) + "\n};\n");
  }
  if (const std::vector<float>& centre = head.transform.centre; !centre.empty()) {
    write("\nstatic const float NAME_centre[CAPS_FEATURES] = {\n  " + number_list(centre) + "\n};\n");
  }
  write("\nstatic const char* const NAME_class_names[CAPS_CLASSES] = {\n");
  for (std::size_t c = 0; c < head.classes(); ++c) {
    file.write("  " + c_string(model.class_names[c]) + (c + 1 < head.classes() ? ",\n" : "\n"));
  }
  write("};\n");
  write_unknown_constants(model, write);
  write(predict_function(model));
  write(unknown_function(model));
  file.commit();
}

}  // namespace annulus
