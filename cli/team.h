// The processes that a launcher started for one command, as a team that exchanges numbers by MPI.
#pragma once

#include <memory>

#include "annulus/base/team.h"

namespace annulus::cli {

// Opens the shared object annulus_mpi.so beside the program or in its library folder: MPI is needed by those alone that
// use it. Null where this is the only process. Throws Error{kUsage} when the object is not there, or when MPI sees
// another number of processes than the launcher's variables say.
std::unique_ptr<Team> open_team();

// Ends all processes of the team with this exit code, this one too, where a team was opened and is not done: the others
// may be waiting for a process that failed. Elsewhere it does nothing.
void end_team(int code);

}  // namespace annulus::cli
