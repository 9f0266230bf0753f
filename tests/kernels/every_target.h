// Runs a test body once for every instruction set that this machine and this build have.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <vector>

namespace annulus {

// Restricts dispatch to one target at a time; all are allowed again afterwards.
template <class Body>
void for_every_target(const Body& body) {
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  ASSERT_FALSE(targets.empty());
  for (const int64_t target : targets) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// Lengths around vector sizes, where tails go wrong.
inline const std::vector<std::size_t> kAwkwardLengths = {1,  2,  3,  4,  5,  7,  8,  9,   15,
                                                         16, 17, 31, 33, 63, 64, 65, 100, 257};

}  // namespace annulus
