// A project that several threads read and change.
#include "studio_engine/project/shared_project.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/project_photos.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus::studio {
namespace {

TEST(SharedProject, ChangesOfSeveralThreadsAreAllKept) {
  const ScratchFolder folder;
  Project::create(folder / "p", "mobilenet-0.25");
  SharedProject project(folder / "p");
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const auto added =
            project.change([&](Project& there) { return add(there, "class " + std::to_string(t), {100 * t + i}); });
        EXPECT_EQ(added[0].outcome, AddedPhoto::Outcome::kAdded);
        EXPECT_GE(project.read([](const Project& there) { return there.state().photo_count(); }), 1U);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  project.read([](const Project& there) {
    EXPECT_EQ(there.state().photo_count(), 30U);
    EXPECT_EQ(there.state().classes().size(), 3U);
    expect_files_as_said(there);
  });
}

TEST(SharedProject, GivesTheLockBackAfterAnError) {
  const ScratchFolder folder;
  Project::create(folder / "p", "mobilenet-0.25");
  SharedProject project(folder / "p");
  expect_error(ErrorKind::kUsage, "nothing to undo",
               [&] { project.change([](Project& there) { return there.undo(); }); });
  EXPECT_EQ(project.read([](const Project& there) { return there.backbone(); }), "mobilenet-0.25");
}

}  // namespace
}  // namespace annulus::studio
