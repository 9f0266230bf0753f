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

#ifdef ANNULUS_MPIRUN
// The command by so many processes of the real launcher; on machines of fewer processors, and by root, too.
inline std::vector<std::string> mpirun(std::size_t ranks, const std::vector<std::string>& command,
                                       const std::vector<std::string>& options = {}) {
  std::vector<std::string> words{
      "env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", ANNULUS_MPIRUN, "--oversubscribe",
      "-n",  std::to_string(ranks)};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

// Each rank leaves the number of its process in `place`-RANK before it becomes the command.
inline std::vector<std::string> with_numbers(const std::string& place, const std::vector<std::string>& command) {
  std::vector<std::string> words{"sh", "-c", "echo $$ > " + place + "-$OMPI_COMM_WORLD_RANK; exec \"$0\" \"$@\""};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

// Whether there was a process of that rank to kill.
inline bool kill_rank(const std::string& place, std::size_t rank) {
  const std::string number = read_text(place + "-" + std::to_string(rank));
  return !number.empty() && number.back() == '\n' && kill(static_cast<pid_t>(std::stol(number)), SIGKILL) == 0;
}
#endif

}  // namespace annulus
