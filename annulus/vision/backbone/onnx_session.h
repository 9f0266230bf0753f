// One ONNX model loaded into ONNX Runtime: its inputs, its outputs, and a call that runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annulus {

enum class TensorType { kFloat, kHalf, kOther };

struct TensorInfo {
  std::string name;
  TensorType type = TensorType::kOther;
  std::vector<std::int64_t> shape;  // -1: free; empty also for values that are not tensors
};

std::string shape_text(std::span<const std::int64_t> shape);  // e.g. "[?, 3, 224, 224]"

struct FloatTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;  // row-major
};

class OnnxSession {
 public:
  // `threads` is the number that one call of run() may use; it affects the last bits of results. Throws Error{kFormat}
  // if the runtime cannot run the file.
  explicit OnnxSession(const std::filesystem::path& file, int threads = 1);
  // The same from the bytes of a model; `source` names it in errors.
  OnnxSession(std::span<const std::byte> model, const std::string& source, int threads = 1);
  OnnxSession(OnnxSession&&) noexcept;
  OnnxSession& operator=(OnnxSession&&) noexcept;
  ~OnnxSession();

  std::span<const TensorInfo> inputs() const;
  std::span<const TensorInfo> outputs() const;
  // An entry of the model's metadata; empty if it has none by this name.
  std::string metadata(std::string_view key) const;

  // Runs the model on its first input and returns one output, widened to float. `values` must fill `shape` exactly.
  // Safe to call from several threads at once. Throws Error{kInput} with the runtime's reason if it fails.
  FloatTensor run(std::span<const float> values, std::span<const std::int64_t> shape, std::size_t output) const;
  // The same for several outputs.
  std::vector<FloatTensor> run_all(std::span<const float> values, std::span<const std::int64_t> shape,
                                   std::span<const std::size_t> outputs) const;
  // The same for an output of strings, as one list.
  std::vector<std::string> run_texts(std::span<const float> values, std::span<const std::int64_t> shape,
                                     std::size_t output) const;

 private:
  struct State;
  void open(std::span<const std::byte> model, int threads);  // no bytes: the file that the source names
  std::unique_ptr<State> state_;
};

}  // namespace annulus
