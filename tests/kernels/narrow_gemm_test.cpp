// Products with one short side against plain loops.
#include "annulus/kernels/narrow_gemm.h"

#include <gtest/gtest.h>

#include "tests/fixtures/every_target.h"
#include "tests/fixtures/plain_products.h"

namespace annulus {
namespace {

// Products with a few rows or columns go another way, five at a time.
TEST(NarrowGemm, EqualsPlainLoops) {
  for_every_target([] {
    for (const std::size_t few : {1U, 2U, 3U, 4U, 5U, 6U, 9U, 13U, 16U, 17U}) {
      for (const std::size_t inner : {1U, 67U}) {
        expect_product<float>(67, few, inner, Transpose::kNo, Transpose::kYes, 2.0F, 0.0F);
        expect_product<float>(few, 67, inner, Transpose::kNo, Transpose::kYes, 2.0F, 0.0F);
        expect_product<float>(few, few == 5 ? 1037 : 43, inner, Transpose::kYes, Transpose::kNo, 2.0F, 0.0F);
      }
    }
  });
}

}  // namespace
}  // namespace annulus
