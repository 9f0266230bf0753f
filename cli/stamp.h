// Stamps of the protocols' results, and the file that finished cells are kept in.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "annulus/eval/stamp.h"
#include "annulus/store/cell_file.h"
#include "annulus/store/machine.h"

namespace annulus::cli {

// Names the data of a result by all checksums of its stamp, for the keys of cells.
std::string data_name(const Stamp& stamp);

// --against of the protocols.
void add_against(CLI::App& command, std::string& method);
// --resume of the protocols.
void add_resume(CLI::App& command, std::string& file);
// The file of finished cells. Where `file` is empty: none, or one that the processes of a launcher share.
std::unique_ptr<CellFile> open_cells(const std::string& file);

}  // namespace annulus::cli
