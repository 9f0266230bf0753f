// Tests that run a network are skipped, with the reason, where ONNX Runtime is not to be had.
#pragma once

#include <gtest/gtest.h>

#include "annulus/base/error.h"
#include "annulus/vision/onnxruntime.h"

namespace annulus {

// A fixture's own SetUp calls this one first and returns when the test is skipped.
class NeedsOnnxRuntime : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      onnxruntime();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

}  // namespace annulus
