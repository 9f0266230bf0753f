// An unlinked temporary file and its mapping.
#include "annulus/store/row_spill.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "annulus/base/error.h"
#include "annulus/store/paged_memory.h"

namespace annulus {
namespace {

std::string reason() { return std::error_code(errno, std::generic_category()).message(); }

}  // namespace

RowSpill::RowSpill(const std::filesystem::path& folder) : folder_(folder.empty() ? "." : folder) {
  descriptor_ = open_nameless_file(folder_.string());
  if (descriptor_ < 0) fail(ErrorKind::kIo, "could not make a temporary file in {}: {}", folder_.string(), reason());
}

RowSpill::~RowSpill() { close(descriptor_); }

void RowSpill::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail(ErrorKind::kIo, "could not write temporary rows in {}: {}", folder_.string(), reason());
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    size_ += static_cast<std::size_t>(count);
  }
}

std::shared_ptr<const std::span<const std::byte>> RowSpill::map() {
  if (size_ == 0) return std::make_shared<const std::span<const std::byte>>();
  const std::size_t size = size_;
  void* start = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (start == MAP_FAILED) fail(ErrorKind::kIo, "could not map temporary rows in {}: {}", folder_.string(), reason());
  auto* view = new std::span<const std::byte>(static_cast<const std::byte*>(start), size);
  return {view, [](const std::span<const std::byte>* mapped) {
            munmap(const_cast<std::byte*>(mapped->data()), mapped->size());
            delete mapped;
          }};
}

}  // namespace annulus
