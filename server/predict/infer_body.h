// The body of an inference request of the Open Inference Protocol, JSON with tensors, some of them maybe binary.
#pragma once

#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "server/predict/predict_body.h"

namespace annulus::server {

struct InferAsk {
  std::string id;
  AskOptions options;                // from "parameters": explain is not among them
  std::vector<std::string> outputs;  // wanted; empty: all
  std::vector<std::string> images;   // input "image", BYTES
  Matrix<float> rows;                // or input "X", FP32
};

// `json_bytes` is the length of the JSON part when binary tensors follow it (Inference-Header-Content-Length), else the
// length of the body. Throws Error{kFormat} for what cannot be read, Error{kInput} for tensors that do not fit.
InferAsk parse_infer(std::string& body, std::size_t json_bytes, const BodyLimits& limits);

}  // namespace annulus::server
