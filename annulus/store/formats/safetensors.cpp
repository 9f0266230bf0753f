// Parses the header event by event, then checks the arrays against the file.
#include "annulus/store/formats/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxJsonBytes = 100'000'000;  // the limit of the format's own library
constexpr std::size_t kMaxDimensions = 32;
constexpr std::size_t kDataAlignment = 64;
constexpr std::size_t kDigestDigits = 64;

struct RawTensor {
  std::string name;
  std::string type;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> offsets;
};

// {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"key": "text"}}
class HeaderHandler : public nlohmann::json_sax<json> {
 public:
  std::vector<RawTensor> tensors;
  std::map<std::string, std::string> metadata;
  std::string problem;

  bool start_object(std::size_t) override {
    if (depth_ == 2 || in_array_) return stop("an object inside an array's description");
    ++depth_;
    return true;
  }
  bool end_object() override {
    if (depth_ == 2 && !in_metadata_ && fields_ != kAllFields) {
      return stop("array \"" + tensors.back().name + "\" without its dtype, shape or data_offsets");
    }
    --depth_;
    return true;
  }
  bool key(string_t& name) override { return depth_ == 1 ? begin_entry(name) : begin_field(name); }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || in_array_ || (field_ != kShape && field_ != kOffsets)) return stop("a list");
    return in_array_ = true;
  }
  bool end_array() override {
    in_array_ = false;
    return true;
  }
  bool string(string_t& value) override {
    if (depth_ != 2 || in_array_ || (!in_metadata_ && field_ != kType)) return stop("a string");
    if (in_metadata_) {
      metadata[key_] = std::move(value);
    } else {
      tensors.back().type = std::move(value);
    }
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!in_array_) return stop("a number");
    auto& numbers = field_ == kShape ? tensors.back().shape : tensors.back().offsets;
    if (numbers.size() == kMaxDimensions) return stop(fmt::format("a list of more than {} numbers", kMaxDimensions));
    numbers.push_back(value);
    return true;
  }
  bool null() override { return stop("null"); }
  bool boolean(bool) override { return stop("a boolean"); }
  bool number_integer(number_integer_t) override { return stop("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return stop("a number that is not a size"); }
  bool binary(binary_t&) override { return stop("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    return stop(fmt::format("invalid JSON at byte {}", position));
  }

 private:
  enum Field : unsigned { kType = 1, kShape = 2, kOffsets = 4, kAllFields = 7 };

  bool begin_entry(const std::string& name) {
    if (!names_.insert(name).second) return stop("the name \"" + name + "\" twice");
    in_metadata_ = name == "__metadata__";
    fields_ = 0;
    if (!in_metadata_) tensors.push_back({name, {}, {}, {}});
    return true;
  }
  bool begin_field(const std::string& name) {
    if (in_metadata_) {
      if (metadata.contains(name)) return stop("the metadata name \"" + name + "\" twice");
      key_ = name;
      return true;
    }
    field_ = name == "dtype" ? kType : name == "shape" ? kShape : kOffsets;
    if (field_ == kOffsets && name != "data_offsets") return stop("the unknown field \"" + name + "\"");
    if ((fields_ & field_) != 0) return stop("the field \"" + name + "\" twice");
    fields_ |= field_;
    return true;
  }
  bool stop(std::string found) {
    if (problem.empty()) problem = std::move(found);
    return false;
  }

  std::set<std::string> names_;
  std::string key_;
  Field field_ = kType;
  unsigned fields_ = 0;
  int depth_ = 0;
  bool in_metadata_ = false;
  bool in_array_ = false;
};

std::size_t header_length(const FileBytes& file) {
  if (file.bytes.size() < kLengthBytes + 2) {
    fail(ErrorKind::kFormat, "{}: expected a safetensors file, found only {} bytes", file.source, file.bytes.size());
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file.bytes.data(), kLengthBytes);
  if (length > kMaxJsonBytes || length > file.bytes.size() - kLengthBytes) {
    fail(ErrorKind::kFormat, "{}: not a safetensors file: its header claims {} bytes of the file's {}", file.source,
         length, file.bytes.size());
  }
  return static_cast<std::size_t>(length);
}

Tensor checked_tensor(const RawTensor& raw, std::span<const std::byte> data, const std::string& source) {
  const auto type = element_type_from(raw.type);
  if (!type) {
    fail(ErrorKind::kFormat, "{}: array \"{}\" has the element type \"{}\", which is not supported", source, raw.name,
         raw.type);
  }
  if (raw.offsets.size() != 2 || raw.offsets[0] > raw.offsets[1] || raw.offsets[1] > data.size()) {
    fail(ErrorKind::kFormat, "{}: array \"{}\" claims the bytes [{}] of {} in the file", source, raw.name,
         fmt::join(raw.offsets, ", "), data.size());
  }
  Tensor tensor{*type, {raw.shape.begin(), raw.shape.end()}, {}};
  tensor.bytes = data.subspan(raw.offsets[0], raw.offsets[1] - raw.offsets[0]);
  const auto needed = array_bytes(tensor.shape, element_size(*type));
  if (!needed || *needed != tensor.bytes.size()) {
    fail(ErrorKind::kFormat, "{}: array \"{}\" of shape [{}] and type {} does not fit its {} bytes", source, raw.name,
         fmt::join(raw.shape, ", "), raw.type, tensor.bytes.size());
  }
  return tensor;
}

// Data that belongs to no array, or to two, indicates damage; the format's own library rejects it as well.
void check_contiguous(std::vector<RawTensor> tensors, std::size_t data_bytes, const std::string& source) {
  std::sort(tensors.begin(), tensors.end(),
            [](const RawTensor& a, const RawTensor& b) { return a.offsets < b.offsets; });
  std::uint64_t end = 0;
  for (const RawTensor& tensor : tensors) {
    if (tensor.offsets[0] != end) {
      fail(ErrorKind::kFormat, "{}: expected array \"{}\" to start at byte {} of the data, found it at {}", source,
           tensor.name, end, tensor.offsets[0]);
    }
    end = tensor.offsets[1];
  }
  if (end != data_bytes) {
    fail(ErrorKind::kFormat, "{}: expected {} bytes of data, found {}", source, end, data_bytes);
  }
}

std::string make_header(std::span<const TensorLayout> layout, const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (const TensorLayout& tensor : layout) {
    const auto bytes = array_bytes(tensor.shape, element_size(tensor.type));
    assert(bytes);
    header[tensor.name] = {
        {"dtype", to_string(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + *bytes}}};
    offset += *bytes;
  }
  std::string text = header.dump();
  // Spaces are valid padding; they align the data for vector loads.
  text.append((kDataAlignment - (kLengthBytes + text.size()) % kDataAlignment) % kDataAlignment, ' ');
  return text;
}

}  // namespace

Safetensors::Safetensors(FileBytes file) : file_(std::move(file)) {
  const std::size_t length = header_length(file_);
  HeaderHandler handler;
  const std::string_view header = as_text(file_.bytes.subspan(kLengthBytes, length));
  // The JSON library would skip a byte-order mark and leading space; the format requires the brace first.
  if (header.empty() || header.front() != '{' || !json::sax_parse(header, &handler)) {
    fail(ErrorKind::kFormat, "{}: expected a safetensors header, found {}", source(),
         handler.problem.empty() ? "other data" : handler.problem);
  }
  const auto data = file_.bytes.subspan(kLengthBytes + length);
  for (const RawTensor& raw : handler.tensors) tensors_.emplace(raw.name, checked_tensor(raw, data, source()));
  check_contiguous(std::move(handler.tensors), data.size(), source());
  metadata_ = std::move(handler.metadata);
}

const Tensor* Safetensors::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

const Tensor& Safetensors::at(std::string_view name) const {
  const Tensor* tensor = find(name);
  if (tensor == nullptr) fail(ErrorKind::kFormat, "{}: expected an array \"{}\", found none", source(), name);
  return *tensor;
}

std::string Safetensors::metadata_or(const std::string& key, std::string fallback) const {
  const auto found = metadata_.find(key);
  if (found != metadata_.end()) return found->second;
  return fallback;
}

void check_checksum(const Safetensors& file) {
  const std::string stated = file.metadata_or(kChecksumEntry, "");
  if (stated.empty()) return;
  const std::span<const std::byte> bytes = file.file().bytes;
  const std::size_t at = as_text(bytes).substr(0, kLengthBytes + header_length(file.file())).find(stated);
  if (stated.size() != kDigestDigits || at == std::string_view::npos) {
    fail(ErrorKind::kFormat, "{}: expected a checksum of {} digits, found \"{}\"", file.source(), kDigestDigits,
         stated);
  }
  const std::string zeros(kDigestDigits, '0');
  Sha256 hash;
  hash.update(bytes.first(at));
  hash.update(std::as_bytes(std::span(zeros)));
  hash.update(bytes.subspan(at + kDigestDigits));
  if (hash.finish_hex() != stated) {
    fail(ErrorKind::kFormat, "{}: the file is not what was written: its contents do not match its checksum",
         file.source());
  }
}

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path, std::span<const TensorLayout> layout,
                                     const std::map<std::string, std::string>& metadata)
    : file_(path) {
  write_header(layout, metadata);
}

SafetensorsWriter::SafetensorsWriter(std::string& text, std::span<const TensorLayout> layout,
                                     const std::map<std::string, std::string>& metadata)
    : text_(&text) {
  text.clear();
  write_header(layout, metadata);
}

void SafetensorsWriter::write_header(std::span<const TensorLayout> layout,
                                     const std::map<std::string, std::string>& metadata) {
  for (const TensorLayout& tensor : layout) remaining_ += *array_bytes(tensor.shape, element_size(tensor.type));
  std::map<std::string, std::string> entries = metadata;
  const auto checksum = entries.find(kChecksumEntry);
  const bool wanted = checksum != entries.end() && checksum->second.empty();
  if (wanted) checksum->second = std::string(kDigestDigits, '0');
  const std::string header = make_header(layout, entries);
  const std::uint64_t length = header.size();
  if (wanted) {
    // No other text of the header has these quotes: within strings they would be escaped.
    const std::string before = fmt::format("\"{}\":\"", kChecksumEntry);
    checksum_at_ = sizeof(length) + header.find(before + checksum->second) + before.size();
    hash_.emplace();
  }
  put(std::as_bytes(std::span(&length, 1)));
  put(std::as_bytes(std::span(header)));
}

void SafetensorsWriter::put(std::span<const std::byte> bytes) {
  if (hash_) hash_->update(bytes);
  if (file_) {
    file_->write(bytes);
  } else {
    text_->append(as_text(bytes));
  }
}

void SafetensorsWriter::write(std::span<const std::byte> bytes) {
  assert(bytes.size() <= remaining_);
  remaining_ -= bytes.size();
  put(bytes);
}

void SafetensorsWriter::commit() {
  assert(remaining_ == 0);
  if (hash_) {
    const std::string digest = hash_->finish_hex();
    if (file_) {
      file_->overwrite(checksum_at_, digest);
    } else {
      text_->replace(checksum_at_, digest.size(), digest);
    }
  }
  if (file_) file_->commit();
}

}  // namespace annulus
