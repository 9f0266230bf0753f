// Metadata of the protocols' results, and the file that finished runs are cached in.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "annulus/eval/protocols/run_metadata.h"
#include "annulus/store/files/machine.h"
#include "annulus/store/results/run_cache_file.h"

namespace annulus::cli {

// --against of the protocols.
void add_against(CLI::App& command, std::string& method);
// --query-balance; `meaning` says what it does.
void add_query_balance(CLI::App& command, std::string& balance, const std::string& meaning);
// --resume of the protocols.
void add_resume(CLI::App& command, std::string& file);
// The file of cached runs. Where `file` is empty: none, or one that the processes of a launcher share.
std::unique_ptr<RunCacheFile> open_run_cache(const std::string& file);

}  // namespace annulus::cli
