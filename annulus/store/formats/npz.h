// NumPy's .npz archives: a zip file of .npy arrays, stored or deflated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/store/files/atomic_file.h"
#include "annulus/store/formats/block_source.h"
#include "annulus/store/formats/npy.h"

struct zip;

namespace annulus {

// Reads arrays one by one, unpacking on demand. An archive may expand to at most 4 MiB plus fifty times its own size,
// counted over the arrays that are opened; more is rejected before memory is allocated.
class NpzFile {
 public:
  explicit NpzFile(FileBytes file);

  bool contains(std::string_view name) const { return entries_.contains(name); }
  // The first of the names that the archive has; empty if it has none.
  std::string_view first_of(std::span<const std::string_view> names) const;

  // Calls use(header, read), which must read all of header.data_bytes; checks sizes before and the checksum after.
  // Throws Error{kFormat} if the array is missing, damaged, or larger than the archive can plausibly hold.
  void read(std::string_view name, const std::function<void(const NpyHeader&, const ReadBytes&)>& use);

  const std::string& source() const { return file_.source; }
  // How messages name one array of the archive.
  std::string where(std::string_view name) const;

 private:
  struct Close {
    void operator()(zip* archive) const;
  };

  FileBytes file_;
  std::unique_ptr<zip, Close> archive_;
  std::map<std::string, std::uint64_t, std::less<>> entries_;  // array name to number in the archive
  std::size_t allowance_ = 0;                                  // bytes that may still be unpacked
};

// Collects arrays; their blocks are requested when commit() writes the archive.
class NpzWriter {
 public:
  // `compress` deflates; otherwise arrays are stored uncompressed.
  NpzWriter(const std::filesystem::path& path, bool compress);
  ~NpzWriter();

  // descr is NumPy's name of the element type. The blocks' sizes must add up to what the shape needs.
  void add(const std::string& name, const std::string& descr, std::span<const std::size_t> shape, BlockSource blocks);
  void commit();

 private:
  struct Entry;
  struct Discard {
    void operator()(zip* archive) const;
  };

  AtomicFile file_;
  bool compress_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::unique_ptr<zip, Discard> archive_;
};

}  // namespace annulus
