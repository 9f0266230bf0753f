// The head of a trained model as an ONNX graph, alone or after another one.
#pragma once

#include <cstdint>
#include <string>

#include "annulus/learn/model/model.h"
#include "annulus/vision/onnx/onnx_model.h"

namespace annulus {

// Names of inputs and outputs.
inline constexpr const char* kRowsInput = "X";                        // [batch, dimension]: raw features
inline constexpr const char* kLabelOutput = "label";                  // strings [batch]
inline constexpr const char* kProbabilitiesOutput = "probabilities";  // [batch, classes]
inline constexpr const char* kUnknownOutput = "unknown_score";        // [batch]

// True for a model with a usable rejection rule: "unknown_score" is then the score of
// annulus/learn/openset/open_set_scores.h, else the largest probability. Larger scores mean that the input is more
// likely of a known class.
bool rejects_unknown(const Model& model);

// The head alone, in operators of ONNX itself. Rows without length give NaN. The model must outlive write().
OnnxModel feature_graph(const Model& model);

// Adds the head after rows of raw features: kLabelOutput, kProbabilitiesOutput and kUnknownOutput.
void add_head(OnnxModel& graph, const Model& model, const std::string& features, std::int64_t batch);

}  // namespace annulus
