// A cache of computed features on disk, keyed by the content of the image: nothing is computed twice, and a killed run
// continues.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "annulus/base/matrix.h"

namespace annulus {

using Digest = std::array<std::byte, 32>;  // SHA-256
Digest sha256_digest(std::span<const std::byte> bytes);
Digest digest_of_hex(std::string_view hex);  // of 64 hexadecimal digits, as sha256_hex gives them

// The rows of a cache as a matrix.
struct CachedRows {
  ConstMatrixView<float> rows;        // row i is at position i; those that failed their checksum are among them
  std::shared_ptr<const void> owner;  // keeps them mapped, beyond the life of the cache
};

// One cache holds the rows of one maker: a text that names everything the features depend on besides the image
// (backbone identity, preprocessing). It is a pair of append-only files named after the maker's checksum: NAME.rows
// holds the float32 rows, NAME.keys the digest of each image and a checksum of its row. A row is written before its
// key, so a process killed in between loses that row only; a torn key is overwritten, and a row that does not fit its
// checksum (power loss) counts as missing. Several threads and several processes may use one cache at once. Memory:
// about 80 bytes per row.
class FeatureCache {
 public:
  // Opens or makes the cache. Throws Error{kIo} when the folder cannot be used, Error{kFormat} when a file of that name
  // is no cache.
  FeatureCache(const std::filesystem::path& folder, std::string_view maker, std::size_t dimension);
  ~FeatureCache();
  FeatureCache(const FeatureCache&) = delete;
  FeatureCache& operator=(const FeatureCache&) = delete;

  std::size_t rows() const;
  // The position of the features of this image, if they are present.
  std::optional<std::uint64_t> find(const Digest& image) const;
  // Reads the entries that other processes added.
  void refresh();
  // The right to compute the features of an image until the pointer is destroyed; null while another process has it.
  std::shared_ptr<const void> claim(const Digest& image) const;
  // Copies the row at `position` and returns true; false when it is damaged.
  bool read(std::uint64_t position, std::span<float> row) const;
  // All rows that are known, mapped from the file: they take no memory that the system could not take back. Throws
  // Error{kIo} when the file is shorter than that.
  CachedRows map_rows() const;
  // Stores a row and returns its position; when the image has an undamaged row already, returns that one's.
  std::uint64_t append(const Digest& image, std::span<const float> row);

 private:
  struct DigestHash {
    std::size_t operator()(const Digest& digest) const;
  };
  void open_files(const std::filesystem::path& folder, const std::string& name);
  void load_new_keys();

  std::filesystem::path keys_path_;
  std::size_t dimension_;
  int keys_ = -1;
  int rows_file_ = -1;
  mutable std::mutex mutex_;
  std::uint64_t loaded_ = 0;  // key records read so far; guarded by mutex_
  std::unordered_map<Digest, std::uint64_t, DigestHash> positions_;
};

// The cache in `folder`, where failing to use it is an error; with an empty `folder` that of the user,
// cache_folder()/features. Where the latter cannot be made or written, a cache that lasts as long as the object takes
// its place, in unnamed files of the folder for temporary files, and `warning` says why.
std::unique_ptr<FeatureCache> open_feature_cache(const std::filesystem::path& folder, std::string_view maker,
                                                 std::size_t dimension, std::string& warning);

}  // namespace annulus
