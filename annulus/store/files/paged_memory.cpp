// Maps unnamed files, and asks the system about free memory.
#include "annulus/store/files/paged_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>
#include <system_error>

#include "annulus/base/memory.h"

namespace annulus {
namespace {

constexpr std::size_t kNoBound = std::numeric_limits<std::size_t>::max();

std::mutex folder_mutex;

// Guarded by folder_mutex.
std::string& paging_folder() {
  static std::string folder;
  return folder;
}

// Null if the file system has no space or cannot do it. The space is allocated now, because a page that cannot be
// written later would end the process.
void* map_zeros(std::size_t bytes) {
  std::string folder;
  {
    const std::lock_guard lock(folder_mutex);
    folder = paging_folder();
  }
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const int file = open_nameless_file(folder);
  if (file < 0) return nullptr;
  void* start = MAP_FAILED;
  if (posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0) {
    start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  close(file);
  return start == MAP_FAILED ? nullptr : start;
}

void unmap(void* start, std::size_t bytes) { munmap(start, bytes); }

void fetch(const void* start, std::size_t bytes) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(start) / page * page;
  madvise(reinterpret_cast<void*>(first), reinterpret_cast<std::uintptr_t>(start) + bytes - first, MADV_WILLNEED);
}

// The number after `key` in a file of lines "key number ..."; kNoBound where there is none.
std::size_t entry_of(const std::filesystem::path& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  std::size_t number = 0;
  while (file >> word) {
    if (word == key && file >> number) return number;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return kNoBound;
}

// The number that a file begins with; kNoBound where there is none, as in "max".
std::size_t number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::size_t number = 0;
  return file >> number ? number : kNoBound;
}

std::size_t left_of(std::size_t most, std::size_t used) { return most - std::min(most, used); }

// The files of a control group: its limit, its statistics, and the entry for anonymous memory, which cannot be
// reclaimed.
struct GroupNames {
  const char* root;
  const char* most;
  const char* used;
};
constexpr GroupNames kGroups{"/sys/fs/cgroup", "memory.max", "anon"};
constexpr GroupNames kOldGroups{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "total_rss"};

// The memory that a control group and its parents leave.
std::size_t left_by_group(const GroupNames& names, const std::string& path) {
  std::size_t left = kNoBound;
  const std::filesystem::path root = names.root;
  for (std::filesystem::path group = root.string() + path; group.string().size() >= root.string().size();
       group = group.parent_path()) {
    const std::size_t most = number_in(group / names.most);
    const std::size_t used = entry_of(group / "memory.stat", names.used);
    if (most != kNoBound) left = std::min(left, left_of(most, used == kNoBound ? 0 : used));
  }
  return left;
}

// Lines are "number:controllers:path"; those of version 2 have no controllers.
std::size_t left_by_groups() {
  std::ifstream groups("/proc/self/cgroup");
  std::string line;
  std::size_t left = kNoBound;
  while (std::getline(groups, line)) {
    const std::size_t path = line.find(":/");
    if (path == std::string::npos) continue;
    if (line.starts_with("0::")) left = std::min(left, left_by_group(kGroups, line.substr(path + 1)));
    if (line.find(":memory:") != std::string::npos)
      left = std::min(left, left_by_group(kOldGroups, line.substr(path + 1)));
  }
  return left;
}

std::size_t left_by_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoBound;
  const std::size_t used = entry_of("/proc/self/status", "VmData:");
  return left_of(limit.rlim_cur, used == kNoBound ? 0 : 1024 * used);
}

}  // namespace

int open_nameless_file(const std::string& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  // Some file systems do not support unnamed files.
  std::string name = folder + "/.annulus-rows-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

bool lies_in_memory(const std::string& folder) {
  constexpr auto kTmpfs = 0x01021994;
  constexpr auto kRamfs = 0x858458F6;
  struct statfs system {};
  return statfs(folder.c_str(), &system) == 0 && (system.f_type == kTmpfs || system.f_type == kRamfs);
}

void page_large_matrices(std::size_t least_bytes, const std::string& folder) {
  {
    const std::lock_guard lock(folder_mutex);
    paging_folder() = folder;
  }
  static constexpr LargeMemory kNamelessFiles{map_zeros, unmap, fetch};
  set_large_memory(least_bytes, kNamelessFiles);
}

std::size_t free_memory() {
  const std::size_t available = entry_of("/proc/meminfo", "MemAvailable:");
  const std::size_t machine = available == kNoBound ? kNoBound : 1024 * available;
  return std::min({machine, left_by_groups(), left_by_limit()});
}

}  // namespace annulus
