// The heap, pages of the system, or what was set.
#include "annulus/base/memory.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <new>

namespace annulus {
namespace {

constexpr std::align_val_t kAlignment{64};

// From this size on memory is mapped: it comes as zeros that nobody has to write, in large pages where the system has
// them, which products of large matrices feel.
constexpr std::size_t kLeastMapped = std::size_t{4} << 20U;

void* map_pages(std::size_t bytes) {
  void* const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) throw std::bad_alloc();
  madvise(start, bytes, MADV_HUGEPAGE);
  return start;
}

void unmap_pages(void* start, std::size_t bytes) { munmap(start, bytes); }

void expect_nothing(const void* /*start*/, std::size_t /*bytes*/) {}

constexpr LargeMemory kMappedPages{map_pages, unmap_pages, expect_nothing};

// Read by every matrix that is made.
struct Setting {
  std::atomic<std::size_t> least_bytes{std::numeric_limits<std::size_t>::max()};
  std::atomic<const LargeMemory*> place{nullptr};
};

Setting& setting() {
  static Setting shared;
  return shared;
}

}  // namespace

void set_large_memory(std::size_t least_bytes, const LargeMemory& place) {
  setting().place = &place;
  setting().least_bytes = least_bytes;
}

void* take_memory(std::size_t bytes, const LargeMemory*& place) {
  if (bytes >= setting().least_bytes) {
    place = setting().place;
    void* const large = place->take(bytes);
    if (large != nullptr) return large;
  }
  if (bytes >= kLeastMapped) {
    place = &kMappedPages;
    return place->take(bytes);
  }
  place = nullptr;
  void* const start = ::operator new[](bytes, kAlignment);
  std::memset(start, 0, bytes);
  return start;
}

void release_memory(void* start, std::size_t bytes, const LargeMemory* place) {
  if (place != nullptr) {
    place->release(start, bytes);
  } else {
    ::operator delete[](start, kAlignment);
  }
}

}  // namespace annulus
