// The processes that a launcher started for one command, as a communicator that exchanges numbers by MPI.
#pragma once

#include <memory>
#include <string>

#include "annulus/base/distributed/communicator.h"

namespace annulus::cli {

// The file of the shared object annulus_mpi.so; empty where it is not installed.
std::string mpi_module();

// Opens the shared object annulus_mpi.so beside the program or in its library folder: MPI is needed by those alone that
// use it. Null where this is the only process. Throws Error{kUsage} when the object is not there, or when MPI sees
// another number of processes than the launcher's variables say.
std::unique_ptr<Communicator> open_communicator();

// Ends all processes of the communicator with this exit code, this one too, where a communicator was opened and is not
// done: the others may be waiting for a process that failed. Elsewhere it does nothing.
void end_communicator(int code);

}  // namespace annulus::cli
