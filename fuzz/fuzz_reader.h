// What the fuzzers have in common: bytes go to a reader, which returns or throws Error and does nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "annulus/base/error.h"
#include "annulus/store/files/mapped_file.h"

namespace annulus {

template <class Read>
int fuzz_reader(const std::uint8_t* data, std::size_t size, const Read& read) {
  try {
    read(FileBytes{std::as_bytes(std::span(data, size)), nullptr, "fuzz"});
  } catch (const Error&) {
    // The promised answer to a bad file. Any other exception ends the run.
  }
  return 0;
}

}  // namespace annulus
