// Checks the kind and the words of an Error.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "annulus/base/error.h"

namespace annulus {

template <class Call>
void expect_error(ErrorKind kind, std::string_view words, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "expected an error with \"" << words << "\", found none";
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
    EXPECT_NE(std::string_view(error.what()).find(words), std::string_view::npos) << error.what();
  }
}

}  // namespace annulus
