// Models as C: one C99 header with the weights and the arithmetic, for programs that cannot link a library.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "annulus/learn/model/model.h"

namespace annulus {

inline constexpr std::size_t kMostNumbersInC = 8'000'000;  // gcc 12 takes 200 bytes of memory for each

// Writes the head as a header that is valid C99 and C++, needs math.h alone and computes what predict does: macros
// NAME_CLASSES and NAME_FEATURES (in capitals), functions NAME_predict, NAME_unknown_score and NAME_class_name. Throws
// Error{kUsage} for a name that is no identifier of C, Error{kInput} for a model of more than kMostNumbersInC numbers
// or a class name of more than 4095 bytes, which C99 does not promise to take.
void export_c(const Model& model, const std::string& name, const std::filesystem::path& path);

}  // namespace annulus
