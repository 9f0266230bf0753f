// Asks Highway, which dispatches the kernels.
#include "annulus/kernels/processor.h"

#include <hwy/targets.h>

namespace annulus {
namespace {

// Better targets have lower bits.
std::int64_t best_target() {
  const std::int64_t targets = hwy::SupportedTargets();
  return targets & -targets;
}

}  // namespace

std::string vector_instructions() { return hwy::TargetName(best_target()); }

bool has_fast_vectors() {
#if HWY_ARCH_X86
  return best_target() <= HWY_AVX2;
#else
  return best_target() != HWY_SCALAR && best_target() != HWY_EMU128;
#endif
}

}  // namespace annulus
