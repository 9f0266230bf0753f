// What several processes and a checkpoint need of a fit before it begins.
#include "annulus/store/models/shared_fit.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"
#include "tests/fixtures/small_set.h"
#include "tests/fixtures/thread_communicator.h"

namespace annulus {
namespace {

// Lets a process of the test stand where a launched one would.
void prepare_with(Communicator& communicator, const SharedFitOptions& options, SharedFit& shared, Recipe& recipe) {
  shared.communicator.reset(&communicator);
  try {
    prepare_shared_fit(options, small_set(), shared, recipe);
  } catch (...) {
    static_cast<void>(shared.communicator.release());
    throw;
  }
  static_cast<void>(shared.communicator.release());
}

TEST(PrepareSharedFit, OneProcessWithoutACheckpointNeedsNothing) {
  SharedFit shared;
  Recipe recipe = recipe_named("default");
  prepare_shared_fit({}, small_set(), shared, recipe);
  EXPECT_FALSE(shared.layout.has_value());
  EXPECT_FALSE(shared.checkpoint.has_value());
}

TEST(PrepareSharedFit, ProcessesWithTheSameFitGetALayout) {
  run_processes(2, [](Communicator& communicator) {
    SharedFit shared;
    Recipe recipe = recipe_named("default");
    prepare_with(communicator, {}, shared, recipe);
    ASSERT_TRUE(shared.layout.has_value());
    EXPECT_EQ(recipe.final_training.layout, &*shared.layout);
  });
}

TEST(PrepareSharedFit, OtherOptionsOnOneProcessAreAnErrorOnAll) {
  run_processes(2, [](Communicator& communicator) {
    SharedFitOptions options;
    options.shots = communicator.rank() == 0 ? "1" : "2";
    SharedFit shared;
    Recipe recipe = recipe_named("default");
    expect_error(ErrorKind::kInput, "found others on 1 of 2",
                 [&] { prepare_with(communicator, options, shared, recipe); });
  });
}

TEST(PrepareSharedFit, ACheckpointOfAnotherFitIsRejected) {
  const ScratchFolder folder;
  SharedFitOptions options;
  options.checkpoint = folder / "fit.checkpoint";
  {
    SharedFit shared;
    Recipe recipe = recipe_named("default");
    prepare_shared_fit(options, small_set(), shared, recipe);
    ASSERT_TRUE(shared.checkpoint.has_value());
    shared.checkpoint->keep_accuracy(0.5);
  }
  ASSERT_TRUE(std::filesystem::exists(options.checkpoint));
  options.shots = "3";
  SharedFit shared;
  Recipe recipe = recipe_named("default");
  expect_error(ErrorKind::kInput, "fit.checkpoint", [&] { prepare_shared_fit(options, small_set(), shared, recipe); });
}

}  // namespace
}  // namespace annulus
