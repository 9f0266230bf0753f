// One of several processes of the real program that a launcher starts for one command.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/program.h"

namespace annulus {

// A process as OpenMPI starts it. Its output goes to a scratch folder of its own.
class Rank {
 public:
  Rank(std::size_t rank, std::size_t size, const std::vector<std::string>& arguments)
      : child_(scratch_, command(rank, size, arguments)) {}
  Outcome wait() { return child_.wait(); }
  Outcome killed() {
    child_.signal(SIGKILL);
    return child_.wait();
  }

 private:
  static std::vector<std::string> command(std::size_t rank, std::size_t size, std::vector<std::string> arguments) {
    std::vector<std::string> words{"env", "OMPI_COMM_WORLD_RANK=" + std::to_string(rank),
                                   "OMPI_COMM_WORLD_SIZE=" + std::to_string(size)};
    arguments = annulus_command(std::move(arguments));
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }

  Scratch scratch_;
  Child child_;
};

}  // namespace annulus
