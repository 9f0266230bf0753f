// What a result says about how it came about, so that somebody else can judge and repeat it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "annulus/task/few_shot_task.h"

namespace annulus {

struct Stamp {
  std::map<std::string, std::string> chosen_on{};  // of each method: what it chooses, and on what
  bool test_labels_used = false;                   // a choice was made on the labels that accuracy was measured by
  std::vector<std::uint64_t> seeds{};
  std::map<std::string, std::string> checksums{};  // of features, by the part they play
  std::vector<std::string> splits{};               // checksums of the draws' rows
  std::string machine{};
  std::size_t threads = 0;
  std::string time{};     // when it was made, in UTC
  std::string command{};  // that made it
};

// What each of the methods chooses; `rate_on` says what baseline and ibm2 chose a learning rate on, empty: they did
// not.
std::map<std::string, std::string> choices_of(std::span<const std::string> methods, const std::string& rate_on);

nlohmann::ordered_json stamp_json(const Stamp& stamp);

// Two or three lines to print below a table.
std::string stamp_text(const Stamp& stamp);

}  // namespace annulus
