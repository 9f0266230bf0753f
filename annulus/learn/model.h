// A trained recogniser: a head with everything needed to use it and to know where it came from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "annulus/learn/head.h"
#include "annulus/learn/support_rows.h"
#include "annulus/learn/unknown_rule.h"

namespace annulus {

struct Model {
  Head<float> head;                      // takes raw feature rows
  std::vector<std::string> class_names;  // one a head row
  double epsilon = 0.0;                  // radius it was trained at; 0 for a baseline
  double temperature = 1.0;              // logits are divided by it to become probabilities
  std::map<std::string, std::string>
      training;  // recipe, options, seed, accuracies, seconds, version: the training record
  std::map<std::string, std::string> provenance;  // of the features: backbone, checksum, preprocessing, source file
  SupportRows support;                            // may be empty
  UnknownRule unknown;                            // may be empty: nothing is refused
  // The trained head of a model whose head is its sum with companions: what the model grows from. It takes conditioned
  // rows, as `head` does; its own conditioning is empty.
  std::optional<Head<float>> trained;
};

// Drops the training rows and what is of no use without them: the model answers as before, but can neither grow nor
// explain, nor know strangers by their nearest training row.
void strip(Model& model);

}  // namespace annulus
