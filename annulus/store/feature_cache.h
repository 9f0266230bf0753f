// Features already computed, on disk, found by the content of the image: nothing is computed twice, and a killed run
// goes on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

namespace annulus {

using Digest = std::array<std::byte, 32>;  // SHA-256
Digest sha256_digest(std::span<const std::byte> bytes);

// One cache holds the rows of one maker: a text that names everything the features depend on besides the image
// (backbone identity, preprocessing). It is a pair of append-only files named after the maker's checksum: NAME.rows
// holds the float32 rows, NAME.keys the digest of each image and a checksum of its row. A row is written before its
// key, so a process killed in between loses that row only; a torn key is overwritten, and a row that does not fit its
// checksum (power loss) counts as missing. Several threads and several processes may use one cache at once. Memory:
// about 80 bytes a row.
class FeatureCache {
 public:
  // Opens or makes the cache. Throws Error{kIo} when the folder cannot be used, Error{kFormat} when a file of that name
  // is no cache.
  FeatureCache(const std::filesystem::path& folder, std::string_view maker, std::size_t dimension);
  ~FeatureCache();
  FeatureCache(const FeatureCache&) = delete;
  FeatureCache& operator=(const FeatureCache&) = delete;

  std::size_t rows() const;
  // Where the row of this image is, if it is there.
  std::optional<std::uint64_t> find(const Digest& image) const;
  // Learns of the rows that other processes added.
  void refresh();
  // The right to compute the row of an image until the pointer is gone; null while another process has it.
  std::shared_ptr<const void> claim(const Digest& image) const;
  // Copies the row at `position` and returns true; false when it is damaged.
  bool read(std::uint64_t position, std::span<float> row) const;
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

}  // namespace annulus
