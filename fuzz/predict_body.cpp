// Fuzzes bodies of predictions: the first byte chooses JSON, a form, base64 or a plain image.
#include "server/predict/predict_body.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "annulus/base/error.h"
#include "server/http/image_text.h"
#include "server/predict/predict_api.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const std::array<std::string, 3> kTypes{"application/json", "multipart/form-data; boundary=b", "image/png"};
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    if (data[0] % 4 == 3) {
      annulus::server::image_bytes_of_text(bytes);
      return 0;
    }
    annulus::server::Request request;
    request.headers.emplace("Content-Type", kTypes[data[0] % 4]);
    request.body = bytes;
    const annulus::server::PredictAsk ask = annulus::server::parse_predict(request, {16, 4});
    if (ask.rows.rows() > 16 || ask.images.size() > 4) std::abort();
    annulus::server::label_tags_of(ask.label_config);
  } catch (const annulus::Error&) {
    // The promised answer to a bad body. Any other exception ends the run.
  }
  return 0;
}
