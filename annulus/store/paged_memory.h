// Memory for what is too large to be held: in a nameless file, whose pages the system writes out when others need room.
#pragma once

#include <cstddef>
#include <string>

namespace annulus {

// An open file of `folder` that has no name and is gone when it is closed, however the process ends; -1, with errno,
// where there can be none.
int open_nameless_file(const std::string& folder);

// Whether the files of a folder are memory, as those of a tmpfs are.
bool lies_in_memory(const std::string& folder);

// From now on, in the whole process, a matrix of `least_bytes` or more lives in a nameless file of `folder`, where that
// has room for it. Its numbers are the same; it takes no memory that the system could not take back.
void page_large_matrices(std::size_t least_bytes, const std::string& folder);

// Bytes that this process may still take as memory of its own: what the machine has, its control groups allow and its
// limit on data leaves, whichever is least.
std::size_t free_memory();

}  // namespace annulus
