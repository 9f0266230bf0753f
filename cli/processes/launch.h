// Whether this process is one of several that mpirun, srun or another launcher started for one command.
#pragma once

#include <cstddef>
#include <string>

namespace annulus::cli {

struct Launch {
  std::size_t rank = 0;
  std::size_t size = 1;
  std::size_t here = 1;  // how many of them are on this machine; all where the launcher does not say
  std::string job;       // the same for all processes of the command and for no other; empty: the launcher does not say
};

// From the environment that OpenMPI, Slurm and launchers of the PMI family (MPICH) give their processes.
const Launch& launch();

// The first process speaks and writes the results; the others only help to make them.
inline bool only_helps() { return launch().rank != 0; }

// Where in a list this process begins, so that those that share it start apart: rank / size.
double first_fraction();

}  // namespace annulus::cli
