// fsync of a folder.
#include "annulus/store/files/durable_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include "annulus/store/files/file_descriptor.h"

namespace annulus {

std::filesystem::path parent_folder(const std::filesystem::path& path) {
  const auto folder = path.parent_path();
  return folder.empty() ? "." : folder;
}

void sync_folder(const std::filesystem::path& folder) {
  const FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync a folder; a rename in it has succeeded by then.
  if (opened.number >= 0) ::fsync(opened.number);
}

}  // namespace annulus
