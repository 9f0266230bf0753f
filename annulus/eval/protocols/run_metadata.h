// Run metadata: how a result was produced, so that others can judge and repeat it.
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

struct RunMetadata {
  std::map<std::string, std::string> chosen_on{};  // per method: what it chooses, and on which examples
  bool test_labels_used = false;                   // a choice was made on the labels that accuracy was measured on
  std::vector<std::uint64_t> seeds{};
  std::map<std::string, std::string> checksums{};  // of features, by their role
  std::vector<std::string> splits{};               // checksums of the splits
  std::string machine{};
  std::size_t threads = 0;
  std::string time{};     // when it was made, in UTC
  std::string command{};  // the command line
};

// What each method chooses and on which examples. `rate_on` names the examples that baseline and ibm2 chose a learning
// rate on; empty: they did not choose one.
std::map<std::string, std::string> choices_of(std::span<const std::string> methods, const std::string& rate_on);

// Names the data of a result by all its checksums, for the keys of cached runs.
std::string data_name(const RunMetadata& metadata);

nlohmann::ordered_json metadata_json(const RunMetadata& metadata);

// Two or three lines to print below a table.
std::string metadata_text(const RunMetadata& metadata);

}  // namespace annulus
