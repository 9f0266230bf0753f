// Answers as JSON; numbers in the shortest form that gives the same float back.
#include "server/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace annulus::server {
namespace {

void write_explanation(const ServedModel& model, const Explanation& explanation, std::string& out) {
  const SupportRows& support = model.model().support;
  const auto to = std::back_inserter(out);
  out += ",\"explain\":{\"nearest\":[";
  bool first = true;
  for (const NearRow& near : explanation.nearest) {
    const auto label = static_cast<std::size_t>(support.labels[near.row]);
    if (!std::exchange(first, false)) out += ',';
    out += '{';
    if (!support.paths.empty()) fmt::format_to(to, "\"path\":{},", json_string(support.paths[near.row]));
    fmt::format_to(to, "\"training_row\":{},\"label\":{},\"cosine\":{}}}", near.row, model.quoted_names()[label],
                   near.cosine);
  }
  out += ']';
  if (explanation.runner_up) {
    fmt::format_to(to, ",\"runner_up\":{{\"label\":{},\"score\":{}}}",
                   model.quoted_names()[static_cast<std::size_t>(explanation.runner_up->index)],
                   explanation.runner_up->probability);
  }
  fmt::format_to(to, ",\"radius\":{},\"epsilon\":{}}}", explanation.radius, model.model().epsilon);
}

}  // namespace

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write_answer(const ServedModel& model, const Answer& answer, std::size_t top, double false_reject,
                  std::string& out) {
  const auto to = std::back_inserter(out);
  const bool refused = model.refuses(answer.unknown_score, false_reject);
  out += '[';
  for (std::size_t i = 0; i < std::min(top, answer.top.size()); ++i) {
    const RankedClass& ranked = answer.top[i];
    const std::string& name = model.quoted_names()[static_cast<std::size_t>(ranked.index)];
    if (i > 0) out += ',';
    fmt::format_to(to, "{{\"label\":{},\"score\":{}", i == 0 && refused ? "\"unknown\"" : name, ranked.probability);
    if (i == 0 && model.may_refuse() && false_reject > 0.0) {
      fmt::format_to(to, ",\"unknown\":{},\"unknown_score\":{},\"best\":{}", refused, answer.unknown_score, name);
    }
    if (i == 0 && answer.explanation) write_explanation(model, *answer.explanation, out);
    out += '}';
  }
  out += ']';
}

}  // namespace annulus::server
