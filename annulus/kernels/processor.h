// What the processor offers to the kernels.
#pragma once

#include <string>

namespace annulus {

// The widest instruction set that the kernels use on this processor, as Highway calls it: "AVX3", "AVX2", "NEON", ...
std::string vector_instructions();

// False where kernels run without instructions for fused multiply-add of at least 256 bits (x86) or 128 bits (others):
// everything works, but several times slower than elsewhere.
bool has_fast_vectors();

}  // namespace annulus
