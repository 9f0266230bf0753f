// Rows too many for memory, in a nameless file that the system may page out: written once in order, then looked at as a
// matrix.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace annulus {

class RowSpill {
 public:
  // The file is made in `folder` and is gone when the last user lets go of it or the process ends, however it ends.
  explicit RowSpill(const std::filesystem::path& folder);
  ~RowSpill();
  RowSpill(const RowSpill&) = delete;
  RowSpill& operator=(const RowSpill&) = delete;

  void append(std::span<const std::byte> bytes);
  // Everything appended so far, aligned to a page and kept alive by the returned owner; call once, at the end.
  std::shared_ptr<const std::span<const std::byte>> map();

 private:
  std::filesystem::path folder_;
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

}  // namespace annulus
