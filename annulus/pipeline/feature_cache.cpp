// Keeps the two files of a feature cache in step under a file lock.
#include "annulus/pipeline/feature_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/store/files/byte_lock.h"

namespace annulus {
namespace {

struct Header {
  char magic[16];
  std::uint64_t dimension;
  std::byte maker[32];
  std::uint64_t reserved;
};
static_assert(sizeof(Header) == 64);
constexpr char kMagic[17] = "annulus-features";

struct KeyRecord {
  Digest image;
  std::array<std::byte, 8> checksum;  // of image digest and features together
};
static_assert(sizeof(KeyRecord) == 40);

std::string reason() { return std::error_code(errno, std::generic_category()).message(); }

constexpr std::uint64_t kUpdating = 0;  // the number that is locked while the files are written; no claim has it

// Bytes read before the end of the file; an error counts as the end.
std::size_t read_at(int descriptor, std::span<std::byte> out, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = pread(descriptor, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

void write_at(int descriptor, std::span<const std::byte> bytes, std::uint64_t offset,
              const std::filesystem::path& path) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        pwrite(descriptor, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail(ErrorKind::kIo, "could not write to the feature cache {}: {}", path.string(), reason());
    done += static_cast<std::size_t>(count);
  }
}

std::uint64_t size_of(int descriptor, const std::filesystem::path& path) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail(ErrorKind::kIo, "could not examine {}: {}", path.string(), reason());
  return static_cast<std::uint64_t>(status.st_size);
}

template <class T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

std::array<std::byte, 8> row_checksum(const Digest& image, std::span<const float> row) {
  Sha256 sum;
  sum.update(image);
  sum.update(std::as_bytes(row));
  const Digest digest = digest_of_hex(sum.finish_hex());
  std::array<std::byte, 8> result{};
  std::memcpy(result.data(), digest.data(), result.size());
  return result;
}

}  // namespace

Digest digest_of_hex(std::string_view hex) {
  Digest digest{};
  const auto value = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::byte>(value(hex[2 * i]) * 16 + value(hex[2 * i + 1]));
  }
  return digest;
}

Digest sha256_digest(std::span<const std::byte> bytes) { return digest_of_hex(sha256_hex(bytes)); }

std::size_t FeatureCache::DigestHash::operator()(const Digest& digest) const {
  std::size_t value = 0;
  std::memcpy(&value, digest.data(), sizeof(value));
  return value;
}

FeatureCache::FeatureCache(const std::filesystem::path& folder, std::string_view maker, std::size_t dimension)
    : dimension_(dimension) {
  const std::string hex = sha256_hex(std::as_bytes(std::span(maker)));
  try {
    open_files(folder, hex.substr(0, 32));
    const auto lock = lock_number(keys_, kUpdating, keys_path_);
    Header header{};
    std::memcpy(header.magic, kMagic, sizeof(header.magic));
    header.dimension = dimension_;
    std::memcpy(header.maker, digest_of_hex(hex).data(), sizeof(header.maker));
    // A file shorter than a header was left by a killed process and is empty.
    if (size_of(keys_, keys_path_) < sizeof(Header)) write_at(keys_, bytes_of(header), 0, keys_path_);
    Header found{};
    read_at(keys_, bytes_of(found), 0);
    if (std::memcmp(&found, &header, sizeof(header)) != 0) {
      fail(ErrorKind::kFormat,
           "expected {} to be a feature cache of rows of {} dimensions, found something else: remove it",
           keys_path_.string(), dimension_);
    }
    load_new_keys();
  } catch (...) {
    if (keys_ >= 0) close(keys_);
    if (rows_file_ >= 0) close(rows_file_);
    throw;
  }
}

FeatureCache::~FeatureCache() {
  close(keys_);
  close(rows_file_);
}

void FeatureCache::open_files(const std::filesystem::path& folder, const std::string& name) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::kIo, "could not make the cache folder {}: {}", folder.string(), error.message());
  keys_path_ = folder / (name + ".keys");
  const std::filesystem::path rows_path = folder / (name + ".rows");
  keys_ = open(keys_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (keys_ < 0) fail(ErrorKind::kIo, "could not open the feature cache {}: {}", keys_path_.string(), reason());
  rows_file_ = open(rows_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (rows_file_ < 0) fail(ErrorKind::kIo, "could not open the feature cache {}: {}", rows_path.string(), reason());
}

// Reads the keys that were added since the last call. The caller holds mutex_ (or is the only user).
void FeatureCache::load_new_keys() {
  constexpr std::size_t kBlock = 4096;
  const std::uint64_t total = (size_of(keys_, keys_path_) - sizeof(Header)) / sizeof(KeyRecord);
  if (loaded_ >= total) return;
  std::vector<KeyRecord> block(kBlock);
  while (loaded_ < total) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, total - loaded_));
    const auto bytes = std::as_writable_bytes(std::span(block.data(), count));
    if (read_at(keys_, bytes, sizeof(Header) + loaded_ * sizeof(KeyRecord)) != bytes.size()) {
      fail(ErrorKind::kIo, "could not read the feature cache {}: {}", keys_path_.string(), reason());
    }
    for (std::size_t i = 0; i < count; ++i)
      positions_[block[i].image] = loaded_ + i;  // the last entry of an image is valid
    loaded_ += count;
  }
  // Taking a lock makes the client of a file server forget what it read of the rows before these came.
  lock_number(rows_file_, kUpdating, keys_path_);
}

std::size_t FeatureCache::rows() const {
  const std::lock_guard lock(mutex_);
  return positions_.size();
}

std::optional<std::uint64_t> FeatureCache::find(const Digest& image) const {
  const std::lock_guard lock(mutex_);
  const auto found = positions_.find(image);
  if (found == positions_.end()) return std::nullopt;
  return found->second;
}

void FeatureCache::refresh() {
  const std::lock_guard guard(mutex_);
  const auto lock = lock_number(keys_, kUpdating, keys_path_);
  load_new_keys();
}

std::shared_ptr<const void> FeatureCache::claim(const Digest& image) const {
  return try_lock_number(keys_, DigestHash()(image) | 1U, keys_path_);
}

bool FeatureCache::read(std::uint64_t position, std::span<float> row) const {
  KeyRecord key{};
  if (read_at(keys_, bytes_of(key), sizeof(Header) + position * sizeof(KeyRecord)) != sizeof(key)) return false;
  const auto bytes = std::as_writable_bytes(row);
  if (read_at(rows_file_, bytes, position * bytes.size()) != bytes.size()) return false;
  return row_checksum(key.image, row) == key.checksum;
}

CachedRows FeatureCache::map_rows() const {
  const std::lock_guard guard(mutex_);
  const std::size_t bytes = loaded_ * dimension_ * sizeof(float);
  if (bytes == 0) return {};
  if (size_of(rows_file_, keys_path_) < bytes) {
    fail(ErrorKind::kIo, "the feature cache {} lost rows while it was in use; run the command again",
         keys_path_.string());
  }
  void* const start = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, rows_file_, 0);
  if (start == MAP_FAILED) {
    fail(ErrorKind::kIo, "could not map the feature cache {}: {}", keys_path_.string(), reason());
  }
  std::shared_ptr<const void> owner(start, [bytes](void* mapped) { munmap(mapped, bytes); });
  return {{static_cast<const float*>(start), static_cast<std::size_t>(loaded_), dimension_}, std::move(owner)};
}

std::uint64_t FeatureCache::append(const Digest& image, std::span<const float> row) {
  const std::lock_guard guard(mutex_);
  const auto lock = lock_number(keys_, kUpdating, keys_path_);
  load_new_keys();
  if (const auto found = positions_.find(image); found != positions_.end()) {
    std::vector<float> theirs(dimension_);
    if (read(found->second, theirs)) return found->second;
  }
  // Bytes after the last whole key were left by a killed process and are overwritten.
  const std::uint64_t position = loaded_;
  const auto bytes = std::as_bytes(row);
  {
    // Giving a lock back sends what was written to a file server: the row is there before its key.
    const auto shown = lock_number(rows_file_, kUpdating, keys_path_);
    write_at(rows_file_, bytes, position * bytes.size(), keys_path_);
  }
  const KeyRecord key{image, row_checksum(image, row)};
  write_at(keys_, std::as_bytes(std::span(&key, 1)), sizeof(Header) + position * sizeof(KeyRecord), keys_path_);
  positions_[image] = position;
  ++loaded_;
  return position;
}

std::unique_ptr<FeatureCache> open_feature_cache(const std::filesystem::path& folder, std::string_view maker,
                                                 std::size_t dimension, std::string& warning) {
  if (!folder.empty()) return std::make_unique<FeatureCache>(folder, maker, dimension);
  try {
    return std::make_unique<FeatureCache>(cache_folder() / "features", maker, dimension);
  } catch (const Error& error) {
    // A damaged cache is no reason to compute everything anew each time.
    if (error.kind() != ErrorKind::kIo && error.kind() != ErrorKind::kUsage) throw;
    warning = fmt::format("features are not kept for the next time: {}", error.what());
  }
  std::string name = (std::filesystem::temp_directory_path() / "annulus-features-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    fail(ErrorKind::kIo, "could not make a folder for temporary files, {}: {}", name, reason());
  }
  struct Removal {
    std::string& name;
    ~Removal() {
      std::error_code ignored;
      std::filesystem::remove_all(name, ignored);
    }
  } const removal{name};
  return std::make_unique<FeatureCache>(name, maker, dimension);  // its files stay open without their names
}

}  // namespace annulus
