// Calls ONNX Runtime's C functions; every status they return becomes an Error here.
#include "annulus/vision/backbone/onnx_session.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/kernels/half.h"
#include "annulus/vision/backbone/onnxruntime.h"
#include "annulus/vision/onnx/onnx_graph.h"

#ifdef ANNULUS_WITH_VISION
#include <onnxruntime_c_api.h>
#endif

namespace annulus {

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += shape[i] < 0 ? "?" : std::to_string(shape[i]);
  }
  return text + "]";
}

#ifdef ANNULUS_WITH_VISION
namespace {

// Releases objects of the runtime with the matching function of its table.
struct Release {
  const OrtApi* api = nullptr;
  void operator()(OrtSession* pointer) const { api->ReleaseSession(pointer); }
  void operator()(OrtSessionOptions* pointer) const { api->ReleaseSessionOptions(pointer); }
  void operator()(OrtTypeInfo* pointer) const { api->ReleaseTypeInfo(pointer); }
  void operator()(OrtTensorTypeAndShapeInfo* pointer) const { api->ReleaseTensorTypeAndShapeInfo(pointer); }
  void operator()(OrtValue* pointer) const { api->ReleaseValue(pointer); }
  void operator()(OrtMemoryInfo* pointer) const { api->ReleaseMemoryInfo(pointer); }
  void operator()(OrtModelMetadata* pointer) const { api->ReleaseModelMetadata(pointer); }
};
template <class T>
using Handle = std::unique_ptr<T, Release>;

template <class T>
Handle<T> handle(T* pointer) {
  return Handle<T>(pointer, Release{onnxruntime().api});
}

void check(OrtStatus* status, ErrorKind kind, const std::string& what) {
  if (status == nullptr) return;
  const OrtApi* api = onnxruntime().api;
  std::string why = api->GetErrorMessage(status);
  api->ReleaseStatus(status);
  while (!why.empty() && (why.back() == '\n' || why.back() == ' ')) why.pop_back();
  fail(kind, "{}: {}", what, why);
}

TensorType type_of(ONNXTensorElementDataType type) {
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) return TensorType::kFloat;
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16) return TensorType::kHalf;
  return TensorType::kOther;
}

// Element type and shape, from the description of a slot or of a value.
void read_shape(const OrtTensorTypeAndShapeInfo* description, TensorInfo& info) {
  const OrtApi* api = onnxruntime().api;
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  check(api->GetTensorElementType(description, &type), ErrorKind::kInternal, "ONNX Runtime gave no element type");
  info.type = type_of(type);
  std::size_t rank = 0;
  check(api->GetDimensionsCount(description, &rank), ErrorKind::kInternal, "ONNX Runtime gave no rank");
  info.shape.resize(rank);
  check(api->GetDimensions(description, info.shape.data(), rank), ErrorKind::kInternal, "ONNX Runtime gave no shape");
}

}  // namespace

struct OnnxSession::State {
  std::string source;
  Handle<OrtSession> session;
  Handle<OrtMemoryInfo> memory;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;

  TensorInfo describe(bool input, std::size_t index) const;
  std::vector<Handle<OrtValue>> run(std::span<const float> values, std::span<const std::int64_t> shape,
                                    std::span<const std::size_t> wanted) const;
  FloatTensor copy(const OrtValue* value, std::size_t output) const;
};

TensorInfo OnnxSession::State::describe(bool input, std::size_t index) const {
  const OrtApi* api = onnxruntime().api;
  OrtAllocator* allocator = nullptr;
  check(api->GetAllocatorWithDefaultOptions(&allocator), ErrorKind::kInternal, "ONNX Runtime gave no allocator");
  TensorInfo info;
  char* name = nullptr;
  check((input ? api->SessionGetInputName : api->SessionGetOutputName)(session.get(), index, allocator, &name),
        ErrorKind::kFormat, source);
  info.name = name;
  check(api->AllocatorFree(allocator, name), ErrorKind::kInternal, "ONNX Runtime could not free a name");

  OrtTypeInfo* type = nullptr;
  check((input ? api->SessionGetInputTypeInfo : api->SessionGetOutputTypeInfo)(session.get(), index, &type),
        ErrorKind::kFormat, source);
  const auto owned = handle(type);
  const OrtTensorTypeAndShapeInfo* description = nullptr;  // owned by `type`; null for what is no tensor
  check(api->CastTypeInfoToTensorInfo(type, &description), ErrorKind::kFormat, source);
  if (description != nullptr) read_shape(description, info);
  return info;
}

namespace {

// Whatever the version of the runtime checks: no network reads files outside its folder as its weights.
void check_places_of_weights(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  const bool known = descriptor >= 0 && ::fstat(descriptor, &status) == 0 && status.st_size > 0;
  const auto size = static_cast<std::size_t>(known ? status.st_size : 0);
  void* const memory = known ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  if (descriptor >= 0) ::close(descriptor);
  if (memory == MAP_FAILED) return;  // the runtime says why it cannot read the file
  const std::shared_ptr<void> owner(memory, [size](void* pages) { ::munmap(pages, size); });
  external_weights({static_cast<const std::byte*>(memory), size}, file.string());
}

}  // namespace

OnnxSession::OnnxSession(const std::filesystem::path& file, int threads) : state_(std::make_unique<State>()) {
  state_->source = file.string();
  open({}, threads);
}

OnnxSession::OnnxSession(std::span<const std::byte> model, const std::string& source, int threads)
    : state_(std::make_unique<State>()) {
  state_->source = source;
  open(model, threads);
}

void OnnxSession::open(std::span<const std::byte> model, int threads) {
  const OnnxRuntime& runtime = onnxruntime();
  const OrtApi* api = runtime.api;
  if (model.empty()) check_places_of_weights(state_->source);
  OrtSessionOptions* raw_options = nullptr;
  check(api->CreateSessionOptions(&raw_options), ErrorKind::kInternal, "ONNX Runtime gave no session options");
  const auto options = handle(raw_options);
  const std::string failure = "ONNX Runtime did not accept a session option";
  check(api->SetIntraOpNumThreads(raw_options, threads), ErrorKind::kInternal, failure);
  check(api->SetInterOpNumThreads(raw_options, 1), ErrorKind::kInternal, failure);
  check(api->SetSessionGraphOptimizationLevel(raw_options, ORT_ENABLE_ALL), ErrorKind::kInternal, failure);
  // Spinning threads would double the cost on a machine that does other work as well.
  check(api->AddSessionConfigEntry(raw_options, "session.intra_op.allow_spinning", "0"), ErrorKind::kInternal, failure);
  check(api->AddSessionConfigEntry(raw_options, "session.inter_op.allow_spinning", "0"), ErrorKind::kInternal, failure);

  OrtSession* session = nullptr;
  check(model.empty()
            ? api->CreateSession(runtime.environment, state_->source.c_str(), raw_options, &session)
            : api->CreateSessionFromArray(runtime.environment, model.data(), model.size(), raw_options, &session),
        ErrorKind::kFormat,
        fmt::format("expected {} to be an ONNX model that ONNX Runtime {} can run", state_->source, runtime.version));
  state_->session = handle(session);
  OrtMemoryInfo* memory = nullptr;
  check(api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory), ErrorKind::kInternal, failure);
  state_->memory = handle(memory);

  std::size_t count = 0;
  check(api->SessionGetInputCount(session, &count), ErrorKind::kFormat, state_->source);
  for (std::size_t i = 0; i < count; ++i) state_->inputs.push_back(state_->describe(true, i));
  check(api->SessionGetOutputCount(session, &count), ErrorKind::kFormat, state_->source);
  for (std::size_t i = 0; i < count; ++i) state_->outputs.push_back(state_->describe(false, i));
}

std::span<const TensorInfo> OnnxSession::inputs() const { return state_->inputs; }
std::span<const TensorInfo> OnnxSession::outputs() const { return state_->outputs; }

std::string OnnxSession::metadata(std::string_view key) const {
  const OrtApi* api = onnxruntime().api;
  OrtAllocator* allocator = nullptr;
  check(api->GetAllocatorWithDefaultOptions(&allocator), ErrorKind::kInternal, "ONNX Runtime gave no allocator");
  OrtModelMetadata* raw = nullptr;
  check(api->SessionGetModelMetadata(state_->session.get(), &raw), ErrorKind::kFormat, state_->source);
  const auto metadata = handle(raw);
  char* value = nullptr;
  check(api->ModelMetadataLookupCustomMetadataMap(raw, allocator, std::string(key).c_str(), &value), ErrorKind::kFormat,
        state_->source);
  if (value == nullptr) return {};
  std::string text = value;
  check(api->AllocatorFree(allocator, value), ErrorKind::kInternal, "ONNX Runtime could not free a text");
  return text;
}

std::vector<Handle<OrtValue>> OnnxSession::State::run(std::span<const float> values,
                                                      std::span<const std::int64_t> shape,
                                                      std::span<const std::size_t> wanted) const {
  const OrtApi* api = onnxruntime().api;
  const TensorInfo& input = inputs.front();
  std::vector<std::uint16_t> narrowed;
  // The runtime only reads the input, though its signature takes the memory as mutable.
  void* data = const_cast<float*>(values.data());
  std::size_t bytes = values.size_bytes();
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  if (input.type == TensorType::kHalf) {
    narrowed.resize(values.size());
    narrow_half(values, narrowed);
    data = narrowed.data();
    bytes = narrowed.size() * sizeof(std::uint16_t);
    type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;
  }
  OrtValue* raw_input = nullptr;
  check(api->CreateTensorWithDataAsOrtValue(memory.get(), data, bytes, shape.data(), shape.size(), type, &raw_input),
        ErrorKind::kInternal, "ONNX Runtime could not wrap the input");
  const auto owned_input = handle(raw_input);

  const char* const input_name = input.name.c_str();
  std::vector<const char*> names;
  for (const std::size_t output : wanted) names.push_back(outputs[output].name.c_str());
  const OrtValue* const all_inputs[] = {raw_input};
  std::vector<OrtValue*> found(wanted.size(), nullptr);
  check(api->Run(session.get(), nullptr, &input_name, all_inputs, 1, names.data(), names.size(), found.data()),
        ErrorKind::kInput, fmt::format("{} could not run on an input of shape {}", source, shape_text(shape)));
  std::vector<Handle<OrtValue>> results;
  for (OrtValue* value : found) results.push_back(handle(value));
  return results;
}

FloatTensor OnnxSession::State::copy(const OrtValue* value, std::size_t output) const {
  const OrtApi* api = onnxruntime().api;
  OrtTensorTypeAndShapeInfo* raw_description = nullptr;
  check(api->GetTensorTypeAndShape(value, &raw_description), ErrorKind::kFormat, source);
  const auto description = handle(raw_description);
  TensorInfo info;
  read_shape(raw_description, info);
  std::size_t count = 1;
  for (const std::int64_t extent : info.shape) count *= static_cast<std::size_t>(extent);
  void* content = nullptr;
  // The runtime has no function that gives the values to read only.
  check(api->GetTensorMutableData(const_cast<OrtValue*>(value), &content), ErrorKind::kFormat, source);

  FloatTensor tensor{std::move(info.shape), std::vector<float>(count)};
  if (info.type == TensorType::kHalf) {
    widen_half({static_cast<const std::uint16_t*>(content), count}, tensor.values);
  } else if (info.type == TensorType::kFloat) {
    const auto* floats = static_cast<const float*>(content);
    tensor.values.assign(floats, floats + count);
  } else {
    fail(ErrorKind::kFormat, "{}: expected output \"{}\" to hold float or half values", source, outputs[output].name);
  }
  return tensor;
}

FloatTensor OnnxSession::run(std::span<const float> values, std::span<const std::int64_t> shape,
                             std::size_t output) const {
  return state_->copy(state_->run(values, shape, std::span(&output, 1)).front().get(), output);
}

std::vector<FloatTensor> OnnxSession::run_all(std::span<const float> values, std::span<const std::int64_t> shape,
                                              std::span<const std::size_t> outputs) const {
  const auto found = state_->run(values, shape, outputs);
  std::vector<FloatTensor> tensors;
  for (std::size_t i = 0; i < found.size(); ++i) tensors.push_back(state_->copy(found[i].get(), outputs[i]));
  return tensors;
}

std::vector<std::string> OnnxSession::run_texts(std::span<const float> values, std::span<const std::int64_t> shape,
                                                std::size_t output) const {
  const OrtApi* api = onnxruntime().api;
  const auto results = state_->run(values, shape, std::span(&output, 1));
  const auto& result = results.front();
  const std::string what =
      fmt::format("{}: expected strings in output \"{}\"", state_->source, state_->outputs[output].name);
  std::size_t bytes = 0;
  check(api->GetStringTensorDataLength(result.get(), &bytes), ErrorKind::kFormat, what);
  OrtTensorTypeAndShapeInfo* raw_description = nullptr;
  check(api->GetTensorTypeAndShape(result.get(), &raw_description), ErrorKind::kFormat, what);
  const auto description = handle(raw_description);
  std::size_t count = 0;
  check(api->GetTensorShapeElementCount(raw_description, &count), ErrorKind::kFormat, what);
  std::string joined(bytes, '\0');
  std::vector<std::size_t> starts(count);
  check(api->GetStringTensorContent(result.get(), joined.data(), bytes, starts.data(), count), ErrorKind::kFormat,
        what);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    texts.push_back(joined.substr(starts[i], (i + 1 < count ? starts[i + 1] : bytes) - starts[i]));
  }
  return texts;
}

#else

struct OnnxSession::State {};

OnnxSession::OnnxSession(const std::filesystem::path&, int) { onnxruntime(); }  // throws: says what is missing
OnnxSession::OnnxSession(std::span<const std::byte>, const std::string&, int) { onnxruntime(); }
void OnnxSession::open(std::span<const std::byte>, int) {}
std::span<const TensorInfo> OnnxSession::inputs() const { return {}; }
std::span<const TensorInfo> OnnxSession::outputs() const { return {}; }
std::string OnnxSession::metadata(std::string_view) const { return {}; }
FloatTensor OnnxSession::run(std::span<const float>, std::span<const std::int64_t>, std::size_t) const { return {}; }
std::vector<FloatTensor> OnnxSession::run_all(std::span<const float>, std::span<const std::int64_t>,
                                              std::span<const std::size_t>) const {
  return {};
}
std::vector<std::string> OnnxSession::run_texts(std::span<const float>, std::span<const std::int64_t>,
                                                std::size_t) const {
  return {};
}

#endif

OnnxSession::OnnxSession(OnnxSession&&) noexcept = default;
OnnxSession& OnnxSession::operator=(OnnxSession&&) noexcept = default;
OnnxSession::~OnnxSession() = default;

}  // namespace annulus
