// A project that several threads use.
#pragma once

#include <filesystem>
#include <mutex>

#include "studio_engine/project/project.h"

namespace annulus::studio {

// One mutex guards the project; read() and change() hold it while they call. It comes first in the lock order: what
// they call may lock the mutex of a part of the studio, but whoever holds such a mutex never calls read() or change().
class SharedProject {
 public:
  // Opens the project, see Project.
  explicit SharedProject(const std::filesystem::path& folder) : project_(folder) {}

  // Both return what the function returns. It must not keep references into the project.
  template <class Reader>
  auto read(const Reader& reader) const {
    const std::lock_guard lock(mutex_);
    return reader(static_cast<const Project&>(project_));
  }
  // A change is on disk when this returns.
  template <class Changer>
  auto change(const Changer& changer) {
    const std::lock_guard lock(mutex_);
    return changer(project_);
  }

 private:
  mutable std::mutex mutex_;  // guards project_
  Project project_;
};

}  // namespace annulus::studio
