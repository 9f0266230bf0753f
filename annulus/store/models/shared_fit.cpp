// A key for everything that the numbers of a fit depend on, compared over processes and with the checkpoint.
#include "annulus/store/models/shared_fit.h"

#include <fmt/format.h>

#include <span>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/version.h"

namespace annulus {
namespace {

// Processes that were given different data would make nonsense together.
void expect_same_fit(Communicator& communicator, const std::string& own) {
  std::string first = own;
  communicator.broadcast(std::as_writable_bytes(std::span(first)));
  double differ = own == first ? 0.0 : 1.0;
  communicator.sum(std::span<double>(&differ, 1));
  if (differ > 0.0) {
    fail(ErrorKind::kInput, "expected the same examples and options on every process, found others on {} of {}", differ,
         communicator.size());
  }
}

std::string fit_key(const SharedFitOptions& options, const FeatureSet& set, const Recipe& recipe) {
  std::string text = fmt::format("{}\n{}\n{}\n{}\n{}\n", kVersion, content_checksum(set), options.shots,
                                 options.calibrate && recipe.calibrate, options.noise_group);
  for (const auto& [name, value] : describe(recipe)) text += name + "=" + value + "\n";
  return sha256_hex(std::as_bytes(std::span(text)));
}

}  // namespace

void prepare_shared_fit(const SharedFitOptions& options, const FeatureSet& set, SharedFit& shared, Recipe& recipe) {
  if (!shared.communicator && options.checkpoint.empty()) return;
  const std::string key = fit_key(options, set, recipe);
  if (shared.communicator) {
    expect_same_fit(*shared.communicator, key);
    shared.layout.emplace(*shared.communicator, options.class_ranks, set.classes());
    set_layout(recipe, &*shared.layout);
  }
  if (options.checkpoint.empty()) return;
  FitCheckpointFile::Options keeping{options.checkpoint_seconds, shared.communicator.get(), true};
  if (shared.layout) keeping.writes = shared.layout->same_block().rank() == 0;
  shared.checkpoint.emplace(options.checkpoint, key, keeping);
  set_checkpoint(recipe, &*shared.checkpoint);
}

}  // namespace annulus
