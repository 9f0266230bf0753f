// Memory for large matrices in an unnamed file, whose pages the system can write out.
#pragma once

#include <cstddef>
#include <string>

namespace annulus {

// An open, unnamed file in `folder` that disappears when it is closed, however the process ends; -1, with errno, on
// failure.
int open_nameless_file(const std::string& folder);

// Whether the files of a folder are in memory, as on a tmpfs.
bool lies_in_memory(const std::string& folder);

// From now on, in the whole process, a matrix of `least_bytes` or more is placed in an unnamed file in `folder`, if
// that has space for it. Its values are the same, but the system can reclaim its memory.
void page_large_matrices(std::size_t least_bytes, const std::string& folder);

// Bytes of memory that this process may still allocate: the least of what the machine has, its control groups allow and
// its limit on data leaves.
std::size_t free_memory();

}  // namespace annulus
