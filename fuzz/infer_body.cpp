// Fuzzes inference requests; the first byte says how many bytes at the end are binary tensors.
#include "server/predict/infer_body.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "annulus/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string body(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t binary = std::min<std::size_t>(data[0], body.size());
  try {
    const annulus::server::InferAsk ask = annulus::server::parse_infer(body, body.size() - binary, {16, 4});
    if (ask.rows.rows() > 16 || ask.images.size() > 4) std::abort();
  } catch (const annulus::Error&) {
    // The promised answer to a bad body. Any other exception ends the run.
  }
  return 0;
}
