// The safetensors container: a length, a JSON header, then the raw bytes of named little-endian arrays.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/checksum.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/formats/element_type.h"

namespace annulus {

struct Tensor {
  ElementType type = ElementType::kF32;
  std::vector<std::size_t> shape;
  std::span<const std::byte> bytes;  // into the file; may be unaligned

  std::size_t elements() const { return bytes.size() / element_size(type); }
};

// A checked view of a safetensors file; only the header is copied. Throws Error{kFormat} unless every array lies inside
// the file, has exactly the bytes that its shape and type need, and the arrays fill the data without gap or overlap.
class Safetensors {
 public:
  explicit Safetensors(FileBytes file);

  const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const Tensor* find(std::string_view name) const;  // null when there is none
  const Tensor& at(std::string_view name) const;    // throws Error{kFormat} when there is none
  std::string metadata_or(const std::string& key, std::string fallback) const;

  const FileBytes& file() const { return file_; }
  const std::string& source() const { return file_.source; }

 private:
  FileBytes file_;
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::map<std::string, std::string> metadata_;
};

// The entry of __metadata__ that holds the SHA-256 of the whole file, its own 64 digits taken as zeros.
inline constexpr const char* kChecksumEntry = "annulus_sha256";

// Throws Error{kFormat} when a file that has a checksum is not the one that was written. Reads every byte.
void check_checksum(const Safetensors& file);

struct TensorLayout {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<std::size_t> shape;
};

// Writes the header at once, then the bytes of the arrays in the order of `layout`, in pieces of any size. commit()
// makes the file appear under its name. Put arrays with wide elements first, so that all are aligned for readers that
// map the file. An entry kChecksumEntry that is empty is filled in with the checksum.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::filesystem::path& path, std::span<const TensorLayout> layout,
                    const std::map<std::string, std::string>& metadata);
  // The same into `text`, which is cleared first and must outlive the writer.
  SafetensorsWriter(std::string& text, std::span<const TensorLayout> layout,
                    const std::map<std::string, std::string>& metadata);
  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  void write_header(std::span<const TensorLayout> layout, const std::map<std::string, std::string>& metadata);
  void put(std::span<const std::byte> bytes);

  std::optional<AtomicFile> file_;  // absent: the bytes go to text_
  std::string* text_ = nullptr;
  std::size_t remaining_ = 0;
  std::optional<Sha256> hash_;  // of a file that gets a checksum
  std::size_t checksum_at_ = 0;
};

}  // namespace annulus
