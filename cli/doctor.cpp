// annulus doctor: what is there, what is missing, and the command that mends it.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "annulus/base/error.h"
#include "annulus/pipeline/diagnosis.h"
#include "annulus/store/files/machine.h"
#include "cli/command.h"
#include "cli/processes/communicator.h"

namespace annulus::cli {
namespace {

Finding look_at_mpi() {
  const std::string file = mpi_module();
  if (!file.empty()) return {"several processes (MPI)", true, false, file};
  return {"several processes (MPI)", false, false,
          "annulus_mpi.so is neither beside the program nor in its library folder",
          "apt install libopenmpi-dev openmpi-bin, then build again"};
}

void run_doctor(const std::string& json_file) {
  std::vector<Finding> findings = diagnose();
  findings.push_back(look_at_mpi());
  findings.push_back({"machine", true, true, machine_text()});
  if (json_file.empty()) {
    for (const Finding& finding : findings) {
      fmt::print("{:<8} {}: {}\n",
                 finding.ok       ? "ok"
                 : finding.needed ? "missing"
                                  : "optional",
                 finding.subject, finding.found);
      if (!finding.mend.empty()) fmt::print("{:<8} to mend it: {}\n", "", finding.mend);
    }
  } else {
    auto list = nlohmann::ordered_json::array();
    for (const Finding& finding : findings) {
      list.push_back({{"subject", finding.subject},
                      {"ok", finding.ok},
                      {"needed", finding.needed},
                      {"found", finding.found},
                      {"mend", finding.mend}});
    }
    write_json(json_file, list);
  }
  if (!all_needed(findings)) fail(ErrorKind::kUsage, "something that is needed is missing: see the lines above");
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  const auto json = std::make_shared<std::string>();
  CLI::App& command =
      *app.add_subcommand("doctor", "Say what is there and what is missing to read images, download and share work");
  add_json(command, *json, "Write the findings as JSON (without FILE: to standard output)");
  add_example(command, "  annulus doctor");
  command.callback([json, &action] { action = [json] { run_doctor(*json); }; });
}

}  // namespace annulus::cli
