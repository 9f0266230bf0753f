// Reads the variables of launchers.
#include "cli/processes/launch.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace annulus::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::optional<std::size_t> number(const char* name) {
  const std::string text = variable(name);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Slurm names the step that srun starts; a batch script by itself is one process and has none.
std::string slurm_job() {
  const std::string step = variable("SLURM_STEP_ID");
  return step.empty() ? step : "slurm " + variable("SLURM_JOB_ID") + "." + step;
}

std::string open_mpi_job() {
  const std::string name = variable("PMIX_NAMESPACE");
  return name.empty() ? variable("OMPI_MCA_orte_precondition_transports") : name;
}

std::optional<Launch> found(const char* rank_name, const char* size_name, const char* here_name, std::string job) {
  const auto rank = number(rank_name);
  const auto size = number(size_name);
  if (!rank || !size || *rank >= *size) return std::nullopt;
  const std::size_t here = number(here_name).value_or(*size);
  return Launch{*rank, *size, std::clamp<std::size_t>(here, 1, *size), std::move(job)};
}

Launch find() {
  if (auto launch =
          found("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", open_mpi_job())) {
    return *launch;
  }
  if (auto launch = found("PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", variable("PMI_JOBID"))) return *launch;
  if (auto launch = found("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS_PER_NODE", slurm_job())) return *launch;
  return {};
}

}  // namespace

const Launch& launch() {
  static const Launch kLaunch = find();
  return kLaunch;
}

double first_fraction() { return static_cast<double>(launch().rank) / static_cast<double>(launch().size); }

}  // namespace annulus::cli
