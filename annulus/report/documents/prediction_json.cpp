// Predictions are many and small: they are written as text at once, without a tree of values in between.
#include "annulus/report/documents/prediction_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "annulus/base/json_string.h"
#include "annulus/base/media_fragment.h"

namespace annulus {
namespace {

// The shortest text that gives the same number back; whole numbers keep a ".0", so that readers see a float.
template <class T>
void write_number(T value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  const std::size_t begin = out.size();
  fmt::format_to(std::back_inserter(out), "{}", value);
  if (out.find_first_of(".e", begin) == std::string::npos) out += ".0";
}

// The pieces of a path that names a part of a file.
void write_fragment(const MediaFragment& fragment, std::string& out) {
  if (fragment.whole()) return;
  out += ",\"file\":" + json_string(fragment.file);
  if (fragment.seconds) {
    out += ",\"seconds\":";
    write_number(*fragment.seconds, out);
  }
  if (!fragment.box) return;
  const MediaBox& box = *fragment.box;
  for (const auto& [key, value] : {std::pair{",\"box\":{\"x\":", box.x}, std::pair{",\"y\":", box.y},
                                   std::pair{",\"width\":", box.width}, std::pair{",\"height\":", box.height}}) {
    out += key;
    write_number(value, out);
  }
  out += box.percent ? ",\"unit\":\"percent\"}" : ",\"unit\":\"pixel\"}";
}

}  // namespace

PredictionJson::PredictionJson(std::span<const std::string> class_names, const SupportSet& support, double epsilon,
                               const ClassTree& tree)
    : support_(support), epsilon_(epsilon) {
  quoted_names_.reserve(class_names.size());
  for (const std::string& class_name : class_names) quoted_names_.push_back(json_string(class_name));
  for (const std::string& group : tree.groups()) quoted_groups_.push_back(json_string(group));
}

template <class Ranked>
void PredictionJson::write_ranked(const Ranked& ranked, std::string& out) const {
  out += "{\"label\":";
  out += name(ranked);
  out += ",\"probability\":";
  write_number(ranked.probability, out);
  out += '}';
}

void PredictionJson::write_explanation(const Explanation& explanation, std::string& out) const {
  const auto to = std::back_inserter(out);
  out += ",\"explain\":{\"nearest\":[";
  for (std::size_t i = 0; i < explanation.nearest.size(); ++i) {
    const NearExample& near = explanation.nearest[i];
    const auto label = static_cast<std::size_t>(support_.labels[near.row]);
    out += i == 0 ? "{" : ",{";
    if (!support_.paths.empty()) fmt::format_to(to, "\"path\":{},", json_string(support_.paths[near.row]));
    fmt::format_to(to, "\"training_row\":{},\"label\":{},\"cosine\":", near.row, quoted_names_[label]);
    write_number(near.cosine, out);
    out += '}';
  }
  out += ']';
  if (explanation.runner_up) {
    out += ",\"runner_up\":";
    write_ranked(*explanation.runner_up, out);
  }
  out += ",\"boundary_distance\":";
  write_number(explanation.boundary_distance, out);
  out += ",\"epsilon\":";
  write_number(epsilon_, out);
  out += '}';
}

void PredictionJson::write(const PredictionJsonRow& row, std::string& out) const {
  const Prediction& prediction = row.prediction;
  const RankedClass& best = prediction.top.front();
  const auto to = std::back_inserter(out);
  if (row.path) {
    fmt::format_to(to, "{{\"path\":{}", json_string(*row.path));
    write_fragment(parse_media_fragment(*row.path), out);
  } else {
    fmt::format_to(to, "{{\"row\":{}", row.row);
  }
  out += ",\"label\":";
  const bool has_lineage = !prediction.lineage.empty();
  const RankedNode answer =
      has_lineage ? prediction.lineage[prediction.level] : RankedNode{best.index, best.probability};
  out += row.rejected ? json_string(kUnknownLabel) : name(answer);
  out += ",\"probability\":";
  write_number(answer.probability, out);
  if (row.may_reject) {
    fmt::format_to(to, ",\"unknown\":{},\"unknown_score\":", row.rejected);
    write_number(prediction.unknown_score, out);
  }
  if (row.may_reject || has_lineage) {
    out += ",\"best\":";
    out += name(best);
  }
  out += ",\"top\":[";
  for (std::size_t i = 0; i < std::min(row.top, prediction.top.size()); ++i) {
    if (i > 0) out += ',';
    write_ranked(prediction.top[i], out);
  }
  out += ']';
  for (std::size_t i = 0; i < prediction.lineage.size(); ++i) {
    out += i == 0 ? ",\"lineage\":[" : ",";
    write_ranked(prediction.lineage[i], out);
  }
  if (has_lineage) out += ']';
  if (prediction.explanation) write_explanation(*prediction.explanation, out);
  out += '}';
}

}  // namespace annulus
