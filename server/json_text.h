// Answers written as JSON by hand: they are many and small.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "annulus/learn/recogniser.h"
#include "server/served_model.h"

namespace annulus::server {

// With quotes and escapes; bytes that are not UTF-8 are replaced.
std::string json_string(std::string_view text);

// [{"label": ..., "score": ...}, ...], the most probable first. Its first entry also says unknown, unknown_score and
// best where the model can refuse, and explain where the answer has that. The label of what is refused is "unknown".
void write_answer(const ServedModel& model, const Answer& answer, std::size_t top, double false_reject,
                  std::string& out);

}  // namespace annulus::server
