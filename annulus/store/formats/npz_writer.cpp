// Writes .npz archives through libzip, which pulls the arrays block by block.
#include <zip.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/formats/npz.h"

namespace annulus {

// One array as a stream for libzip: the header followed by the blocks.
struct NpzWriter::Entry {
  std::string name;
  std::string header;
  std::size_t total_bytes = 0;
  BlockSource blocks;

  std::vector<std::byte> block;
  std::size_t position = 0;    // in block
  std::size_t next_block = 0;  // number of the block after `block`
  std::exception_ptr failure;  // exceptions must not cross libzip's frames
  zip_error_t error{};

  void rewind() {
    const auto bytes = std::as_bytes(std::span(header));
    block.assign(bytes.begin(), bytes.end());
    position = next_block = 0;
  }

  zip_int64_t read(std::span<std::byte> out) {
    std::size_t done = 0;
    while (done < out.size()) {
      if (position == block.size()) {
        block.clear();
        position = 0;
        if (!blocks(next_block++, block)) break;
        continue;
      }
      const std::size_t count = std::min(out.size() - done, block.size() - position);
      std::memcpy(out.data() + done, block.data() + position, count);
      done += count;
      position += count;
    }
    return static_cast<zip_int64_t>(done);
  }

  static zip_int64_t serve(void* state, void* data, zip_uint64_t length, zip_source_cmd_t command) {
    auto& entry = *static_cast<Entry*>(state);
    try {
      switch (command) {
        case ZIP_SOURCE_SUPPORTS:
          return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                                ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
        case ZIP_SOURCE_OPEN:
          entry.rewind();
          return 0;
        case ZIP_SOURCE_READ:
          return entry.read({static_cast<std::byte*>(data), static_cast<std::size_t>(length)});
        case ZIP_SOURCE_STAT: {
          auto* const status = static_cast<zip_stat_t*>(data);
          zip_stat_init(status);
          status->valid = ZIP_STAT_SIZE;
          status->size = entry.total_bytes;
          return sizeof(*status);
        }
        case ZIP_SOURCE_ERROR:
          return zip_error_to_data(&entry.error, data, length);
        case ZIP_SOURCE_CLOSE:
        case ZIP_SOURCE_FREE:
          return 0;
        default:
          break;
      }
    } catch (...) {
      entry.failure = std::current_exception();
    }
    zip_error_set(&entry.error, ZIP_ER_INTERNAL, 0);
    return -1;
  }
};

void NpzWriter::Discard::operator()(zip* archive) const { zip_discard(archive); }

NpzWriter::NpzWriter(const std::filesystem::path& path, bool compress) : file_(path), compress_(compress) {
  int code = 0;
  archive_.reset(zip_open(file_.temporary_path().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (!archive_) fail(ErrorKind::kIo, "{}: cannot be created as a zip archive (libzip error {})", path.string(), code);
}

NpzWriter::~NpzWriter() = default;

void NpzWriter::add(const std::string& name, const std::string& descr, std::span<const std::size_t> shape,
                    BlockSource blocks) {
  std::size_t element_bytes = std::stoul(descr.substr(2));
  if (descr[1] == 'U') element_bytes *= 4;
  auto entry = std::make_unique<Entry>();
  entry->name = name + ".npy";
  entry->header = npy_header(descr, shape);
  entry->total_bytes = entry->header.size() + *array_bytes(shape, element_bytes);
  entry->blocks = std::move(blocks);

  zip_source_t* const source = zip_source_function(archive_.get(), &Entry::serve, entry.get());
  const zip_int64_t index =
      source == nullptr ? -1 : zip_file_add(archive_.get(), entry->name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    if (source != nullptr) zip_source_free(source);
    fail(ErrorKind::kIo, "{}: cannot add \"{}\": {}", file_.temporary_path().string(), name,
         zip_strerror(archive_.get()));
  }
  entries_.push_back(std::move(entry));
  zip_set_file_compression(archive_.get(), static_cast<zip_uint64_t>(index), compress_ ? ZIP_CM_DEFLATE : ZIP_CM_STORE,
                           0);
  // A fixed date (1 January 1980), so that the same content gives the same bytes.
  zip_file_set_dostime(archive_.get(), static_cast<zip_uint64_t>(index), 0, 0x21, 0);
}

void NpzWriter::commit() {
  if (zip_close(archive_.get()) != 0) {
    for (const auto& entry : entries_) {
      if (entry->failure) std::rethrow_exception(entry->failure);
    }
    fail(ErrorKind::kIo, "{}: cannot be written: {}", file_.temporary_path().string(), zip_strerror(archive_.get()));
  }
  static_cast<void>(archive_.release());
  file_.commit();
}

}  // namespace annulus
