// Reads zip archives through libzip from bytes in memory.
#include "annulus/store/formats/npz.h"

#include <zip.h>

#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr std::size_t kFreeExpansion = std::size_t{4} << 20U;
constexpr std::size_t kExpansionFactor = 50;
constexpr std::string_view kSuffix = ".npy";

struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

zip_t* open_archive(const FileBytes& file) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(file.bytes.data(), file.bytes.size(), 0, &error);
  zip_t* const archive = source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error);
  if (archive == nullptr) {
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (source != nullptr) zip_source_free(source);
    fail(ErrorKind::kFormat, "{}: expected a zip archive of NumPy arrays (.npz), but: {}", file.source, reason);
  }
  zip_error_fini(&error);
  return archive;
}

}  // namespace

void NpzFile::Close::operator()(zip* archive) const { zip_discard(archive); }

NpzFile::NpzFile(FileBytes file)
    : file_(std::move(file)),
      archive_(open_archive(file_)),
      allowance_(kFreeExpansion + kExpansionFactor * file_.bytes.size()) {
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* const name = zip_get_name(archive_.get(), index, ZIP_FL_ENC_RAW);
    if (name == nullptr) continue;
    std::string_view array = name;
    if (!array.ends_with(kSuffix)) continue;
    array.remove_suffix(kSuffix.size());
    if (!entries_.emplace(array, index).second) {
      fail(ErrorKind::kFormat, "{}: holds two arrays named \"{}\"", source(), array);
    }
  }
}

std::string_view NpzFile::first_of(std::span<const std::string_view> names) const {
  for (const std::string_view name : names) {
    if (contains(name)) return name;
  }
  return {};
}

std::string NpzFile::where(std::string_view name) const { return fmt::format("{}: array \"{}\"", source(), name); }

void NpzFile::read(std::string_view name, const std::function<void(const NpyHeader&, const ReadBytes&)>& use) {
  const std::string place = where(name);
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    fail(ErrorKind::kFormat, "{}: expected an array named \"{}\", found none", source(), name);
  }
  zip_stat_t status;
  zip_stat_init(&status);
  if (zip_stat_index(archive_.get(), found->second, 0, &status) != 0 || (status.valid & ZIP_STAT_SIZE) == 0) {
    fail(ErrorKind::kFormat, "{}: the archive does not say how large it is", place);
  }
  if (status.size > allowance_) {
    fail(ErrorKind::kFormat, "{}: expands to {} bytes, more than an archive of {} bytes is trusted to hold", place,
         status.size, file_.bytes.size());
  }
  allowance_ -= static_cast<std::size_t>(status.size);
  const std::unique_ptr<zip_file_t, CloseEntry> entry(zip_fopen_index(archive_.get(), found->second, 0));
  if (!entry) fail(ErrorKind::kFormat, "{}: cannot be unpacked: {}", place, zip_strerror(archive_.get()));

  const ReadBytes read = [&](std::span<std::byte> out) {
    while (!out.empty()) {
      const zip_int64_t got = zip_fread(entry.get(), out.data(), out.size());
      if (got <= 0) {
        fail(ErrorKind::kFormat, "{}: expected {} more bytes: {}", place, out.size(),
             got == 0 ? "the data ends too early" : zip_file_strerror(entry.get()));
      }
      out = out.subspan(static_cast<std::size_t>(got));
    }
  };
  const NpyHeader header = read_npy_header(read, place);
  if (header.data_offset > status.size || header.data_bytes != status.size - header.data_offset) {
    fail(ErrorKind::kFormat, "{}: the shape ({}) needs {} bytes, but the archive holds {}", place,
         fmt::join(header.shape, ", "), header.data_bytes,
         status.size < header.data_offset ? 0 : status.size - header.data_offset);
  }
  use(header, read);
  // libzip checks the checksum at the end.
  std::byte beyond{};
  if (zip_fread(entry.get(), &beyond, 1) != 0) {
    fail(ErrorKind::kFormat, "{}: is damaged: {}", place, zip_file_strerror(entry.get()));
  }
}

}  // namespace annulus
