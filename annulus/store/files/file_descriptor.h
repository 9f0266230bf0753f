// A file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

namespace annulus {

struct FileDescriptor {
  int number;  // negative: the file could not be opened

  explicit FileDescriptor(int opened) : number(opened) {}
  ~FileDescriptor() {
    if (number >= 0) ::close(number);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
};

}  // namespace annulus
