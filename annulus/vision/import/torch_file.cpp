// The two containers that PyTorch has used around its pickles, and the bare pickle.
#include "annulus/vision/import/torch_file.h"

#include <zip.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/vision/import/pickle.h"
#include "annulus/vision/import/torch_objects.h"

namespace annulus {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kZipMagic = "PK\x03\x04";
// A pickled number: what torch.save wrote before it wrote zip files.
constexpr std::string_view kLegacyMagic = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
constexpr std::size_t kMaximumPickleSize = std::size_t{256} << 20;

bool starts_with(Bytes bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

Bytes bytes_of(const std::vector<std::int64_t>& values) { return std::as_bytes(std::span(values)); }

// Both formats: storages first, then the lists of whole numbers.
template <class Fetch>
TensorFile make_file(TorchObjects objects, const std::string& source, Fetch fetch) {
  auto tensors = std::move(objects.tensors);
  auto shared = std::make_shared<TorchObjects>(std::move(objects));
  return TensorFile(source, std::move(tensors), [shared, fetch](std::size_t storage) -> Bytes {
    const std::size_t stored = shared->storages.size();
    return storage < stored ? fetch(shared->storages[storage], storage)
                            : bytes_of(shared->integer_lists[storage - stored]);
  });
}

// --- zip ---

class ZipBytes {
 public:
  ZipBytes(Bytes bytes, std::shared_ptr<const void> owner, const std::string& source)
      : owner_(std::move(owner)), source_(source) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* memory = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    archive_ = memory == nullptr ? nullptr : zip_open_from_source(memory, ZIP_RDONLY, &error);
    if (archive_ == nullptr) {
      if (memory != nullptr) zip_source_free(memory);
      const std::string reason = zip_error_strerror(&error);
      zip_error_fini(&error);
      fail(ErrorKind::kFormat, "{}: expected a PyTorch zip file: {}", source_, reason);
    }
    zip_error_fini(&error);
    const zip_int64_t entries = zip_get_num_entries(archive_, 0);
    for (zip_int64_t i = 0; i < entries; ++i) {
      if (const char* name = zip_get_name(archive_, static_cast<zip_uint64_t>(i), 0)) {
        entries_.emplace(name, static_cast<zip_uint64_t>(i));
      }
    }
    limit_ = bytes.size();
  }
  ZipBytes(const ZipBytes&) = delete;
  ZipBytes& operator=(const ZipBytes&) = delete;
  ~ZipBytes() { zip_discard(archive_); }

  const std::map<std::string, zip_uint64_t>& entries() const { return entries_; }

  // PyTorch stores without compression; an entry is therefore never larger than the file.
  std::vector<std::byte> read(const std::string& name, std::size_t maximum) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) fail(ErrorKind::kFormat, "{}: expected an entry {}, found none", source_, name);
    zip_stat_t stat;
    if (zip_stat_index(archive_, found->second, 0, &stat) != 0) {
      fail(ErrorKind::kFormat, "{}: entry {} cannot be read: {}", source_, name, zip_strerror(archive_));
    }
    if (stat.comp_method != ZIP_CM_STORE || stat.size > limit_ || stat.size > maximum) {
      fail(ErrorKind::kFormat, "{}: expected entry {} to be stored uncompressed in at most {} bytes, found {}", source_,
           name, std::min(limit_, maximum), stat.size);
    }
    std::vector<std::byte> data(static_cast<std::size_t>(stat.size));
    zip_file_t* file = zip_fopen_index(archive_, found->second, 0);
    if (file == nullptr) {
      fail(ErrorKind::kFormat, "{}: entry {} cannot be read: {}", source_, name, zip_strerror(archive_));
    }
    std::size_t done = 0;
    zip_int64_t got = 0;
    // One read past the end makes libzip compare the checksum.
    std::byte beyond{};
    while (done < data.size() && (got = zip_fread(file, data.data() + done, data.size() - done)) > 0) {
      done += static_cast<std::size_t>(got);
    }
    if (got >= 0) got = zip_fread(file, &beyond, 1);
    const std::string reason = got < 0 ? zip_file_strerror(file) : "it ends early";
    zip_fclose(file);
    if (got < 0 || done != data.size()) {
      fail(ErrorKind::kFormat, "{}: entry {} is damaged: {}", source_, name, reason);
    }
    return data;
  }

 private:
  std::shared_ptr<const void> owner_;
  std::string source_;
  zip_t* archive_ = nullptr;
  std::map<std::string, zip_uint64_t> entries_;
  std::size_t limit_ = 0;
};

TensorFile read_zip_format(Bytes bytes, std::shared_ptr<const void> owner, const std::string& source,
                           const TorchReadOptions& options) {
  auto archive = std::make_shared<ZipBytes>(bytes, std::move(owner), source);
  constexpr std::string_view kPickle = "data.pkl";
  std::string folder = "/";
  for (const auto& [name, index] : archive->entries()) {
    if (name.ends_with(kPickle) && name.find('/') == name.size() - kPickle.size() - 1) {
      folder = name.substr(0, name.size() - kPickle.size());
    }
  }
  if (folder == "/") fail(ErrorKind::kFormat, "{}: expected a PyTorch zip file, found no data.pkl in it", source);
  if (archive->entries().contains(folder + "byteorder")) {
    const auto order = archive->read(folder + "byteorder", 16);
    if (!starts_with(order, "little")) fail(ErrorKind::kFormat, "{}: expected little-endian numbers", source);
  }
  const auto pickle = archive->read(folder + std::string(kPickle), kMaximumPickleSize);
  const PickleDocument document = read_pickle(pickle, source);
  // The last storage read, so that tensors that share it do not read it again.
  auto last = std::make_shared<std::pair<std::size_t, std::vector<std::byte>>>(~std::size_t{0}, 0);
  // A compiled module: its constants lie beside it, and its code, which is never read.
  const bool script = archive->entries().contains(folder + "constants.pkl");
  return make_file(find_torch_objects(document, source, {options.allow_inert_objects, script}), source,
                   [archive, folder, last, source](const TorchStorage& storage, std::size_t index) -> Bytes {
                     if (last->first != index) {
                       last->second = archive->read(folder + "data/" + storage.key, ~std::size_t{0});
                       last->first = index;
                     }
                     if (last->second.size() / number_size(storage.type) < storage.elements) {
                       fail(ErrorKind::kFormat, "{}: expected {} elements of {} in storage {}, found {} bytes", source,
                            storage.elements, number_name(storage.type), storage.key, last->second.size());
                     }
                     return last->second;
                   });
}

// --- the format before torch 1.6 ---

std::uint64_t take_length(Bytes& rest, const std::string& source) {
  std::uint64_t length = 0;
  if (rest.size() < sizeof(length)) fail(ErrorKind::kFormat, "{}: it ends before its last storage", source);
  std::memcpy(&length, rest.data(), sizeof(length));
  rest = rest.subspan(sizeof(length));
  return length;
}

struct LegacyFile {
  TorchObjects objects;
  std::vector<Bytes> storages;  // as objects.storages counts them
};

LegacyFile read_legacy_parts(Bytes bytes, const std::string& source, const TorchReadOptions& options) {
  Bytes rest = bytes;
  const auto next = [&] {
    PickleDocument document = read_pickle(rest, source);
    rest = rest.subspan(document.size);
    return document;
  };
  next();  // the magic number
  const PickleDocument version = next();
  constexpr std::int64_t kProtocol = 1001;
  if (version.nodes[version.root].kind != PickleKind::kInteger || version.nodes[version.root].integer != kProtocol) {
    fail(ErrorKind::kFormat, "{}: expected PyTorch file version {}, found another", source, kProtocol);
  }
  next();  // sizes of C types on the writing machine
  TorchObjects objects = find_torch_objects(next(), source, {options.allow_inert_objects, false});

  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < objects.storages.size(); ++i) index.emplace(objects.storages[i].key, i);
  std::vector<Bytes> storages(objects.storages.size());
  const PickleDocument keys = next();
  for (const std::uint32_t child : keys.children_of(keys.root)) {
    const auto found = index.find(std::string(keys.nodes[child].text));
    if (keys.nodes[child].kind != PickleKind::kString || found == index.end()) {
      fail(ErrorKind::kFormat, "{}: storage {} belongs to no tensor that was read", source, keys.nodes[child].text);
    }
    const TorchStorage& storage = objects.storages[found->second];
    const std::uint64_t elements = take_length(rest, source);
    const std::size_t size = number_size(storage.type);
    if (elements != storage.elements || rest.size() / size < elements) {
      fail(ErrorKind::kFormat, "{}: expected {} elements in storage {}, found {} with {} bytes left", source,
           storage.elements, storage.key, elements, rest.size());
    }
    storages[found->second] = rest.first(static_cast<std::size_t>(elements) * size);
    rest = rest.subspan(static_cast<std::size_t>(elements) * size);
  }
  return {std::move(objects), std::move(storages)};
}

TensorFile read_legacy_format(Bytes bytes, std::shared_ptr<const void> owner, const std::string& source,
                              const TorchReadOptions& options) {
  LegacyFile file = read_legacy_parts(bytes, source, options);
  return make_file(std::move(file.objects), source,
                   [storages = std::move(file.storages), owner = std::move(owner)](
                       const TorchStorage&, std::size_t storage) -> Bytes { return storages[storage]; });
}

// --- tensors written by Python's pickle module ---

bool looks_like_pickle(Bytes bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x80} && bytes[1] >= std::byte{2} && bytes[1] <= std::byte{5};
}

// Each storage is a file of the older format within the pickle.
TensorFile read_plain_pickle(Bytes bytes, std::shared_ptr<const void> owner, const std::string& source,
                             const TorchReadOptions& options) {
  const PickleDocument document = read_pickle(bytes, source);
  std::map<std::string, Bytes> storages;
  const auto embedded = [&](std::string_view text) {
    const Bytes inner = std::as_bytes(std::span(text));
    if (!starts_with(inner, kLegacyMagic)) {
      fail(ErrorKind::kFormat, "{}: expected a storage in PyTorch's older format, found other bytes", source);
    }
    const LegacyFile file = read_legacy_parts(inner, source, options);
    if (file.objects.storages.size() != 1 || file.storages.front().data() == nullptr) {
      fail(ErrorKind::kFormat, "{}: expected one storage behind each tensor, found {}", source,
           file.objects.storages.size());
    }
    TorchStorage storage = file.objects.storages.front();
    storage.key = fmt::format("embedded {}", storages.size());
    storages.emplace(storage.key, file.storages.front());
    return storage;
  };
  TorchObjects objects = find_torch_objects(document, source, {options.allow_inert_objects, false}, embedded);
  return make_file(std::move(objects), source,
                   [storages = std::move(storages), owner = std::move(owner), source](const TorchStorage& storage,
                                                                                      std::size_t) -> Bytes {
                     const auto found = storages.find(storage.key);
                     if (found == storages.end()) {
                       fail(ErrorKind::kFormat, "{}: storage {} is not in the file", source, storage.key);
                     }
                     return found->second;
                   });
}

}  // namespace

bool looks_like_torch_file(Bytes bytes) { return starts_with(bytes, kZipMagic) || looks_like_pickle(bytes); }

TensorFile read_torch_file(Bytes bytes, std::shared_ptr<const void> owner, const std::string& source,
                           const TorchReadOptions& options) {
  if (starts_with(bytes, kZipMagic)) return read_zip_format(bytes, std::move(owner), source, options);
  if (starts_with(bytes, kLegacyMagic)) return read_legacy_format(bytes, std::move(owner), source, options);
  if (looks_like_pickle(bytes)) return read_plain_pickle(bytes, std::move(owner), source, options);
  fail(ErrorKind::kFormat, "{}: expected a PyTorch checkpoint (a zip file, PyTorch's older format, or a pickle)",
       source);
}

}  // namespace annulus
