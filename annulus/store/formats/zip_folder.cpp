// Adds files by name in sorted order, with a fixed date.
#include "annulus/store/formats/zip_folder.h"

#include <zip.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/files/atomic_file.h"

namespace annulus {
namespace {

struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->is_regular_file()) files.push_back(entry->path());
  }
  if (error) fail(ErrorKind::kIo, "{}: cannot be read: {}", folder.string(), error.message());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

void zip_folder(const std::filesystem::path& folder, const std::string& prefix, const std::filesystem::path& target) {
  AtomicFile file(target);
  int code = 0;
  std::unique_ptr<zip_t, DiscardArchive> archive(
      zip_open(file.temporary_path().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (!archive) fail(ErrorKind::kIo, "{}: cannot be created as a zip archive (libzip error {})", target.string(), code);
  for (const std::filesystem::path& path : files_in(folder)) {
    const std::string name = prefix + path.filename().string();
    zip_source_t* const source = zip_source_file(archive.get(), path.c_str(), 0, -1);
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(archive.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      if (source != nullptr) zip_source_free(source);
      fail(ErrorKind::kIo, "{}: cannot add \"{}\": {}", target.string(), name, zip_strerror(archive.get()));
    }
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index), ZIP_CM_DEFLATE, 0);
    // 1 January 1980, so that the same content gives the same bytes.
    zip_file_set_dostime(archive.get(), static_cast<zip_uint64_t>(index), 0, 0x21, 0);
  }
  if (zip_close(archive.get()) != 0) {
    fail(ErrorKind::kIo, "{}: cannot be written: {}", target.string(), zip_strerror(archive.get()));
  }
  static_cast<void>(archive.release());
  file.commit();
}

}  // namespace annulus
