// NumPy's .npy arrays: the header, and the conversion of the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/formats/element_type.h"
#include "annulus/task/feature_set.h"

namespace annulus {

// Bytes in order, from memory or unpacked from an archive on demand: fills the whole span or throws Error{kFormat}.
using ReadBytes = std::function<void(std::span<std::byte>)>;
ReadBytes read_from(const FileBytes& file);

struct NpyHeader {
  enum class Kind : std::uint8_t { kNumbers, kBytes, kText };

  Kind kind = Kind::kNumbers;
  ElementType type = ElementType::kF32;  // of numeric arrays
  std::size_t element_bytes = 0;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
  std::size_t data_offset = 0;  // bytes before the data
  std::size_t data_bytes = 0;
  std::string descr;  // NumPy's name of the type, for messages

  std::size_t elements() const { return data_bytes / element_bytes; }
};

// Reads the header, versions 1 to 3. Throws Error{kFormat} for other data, for shapes that overflow, and for
// unsupported types: pickled objects (reading them would execute code), records, complex numbers, dates.
NpyHeader read_npy_header(const ReadBytes& read, const std::string& where);

// The number of rows of an array of rank 1, or of rank 2 (feature rows), after trailing extents of 1 are dropped;
// throws Error{kInput} for another rank.
std::size_t npy_column_rows(const NpyHeader& header, const std::string& where);

// These read the data after the header; the caller has checked that data_bytes is plausible, since they allocate it.
void read_npy_features(const NpyHeader& header, const ReadBytes& read, const std::string& where,
                       FeatureSetParts& parts);
std::vector<std::int64_t> read_npy_integers(const NpyHeader& header, const ReadBytes& read, const std::string& where);
// UTF-8; NUL padding at the end of an element is dropped.
std::vector<std::string> read_npy_strings(const NpyHeader& header, const ReadBytes& read, const std::string& where);

// The features of a whole .npy file: views of aligned little-endian rows of float32 or float16, converted otherwise.
FeatureSetParts npy_features(const FileBytes& file);

// The text of a header with padding, as NumPy writes it.
std::string npy_header(const std::string& descr, std::span<const std::size_t> shape);

}  // namespace annulus
