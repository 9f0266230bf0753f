// Results documents to read, from tests/data/reports.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace annulus {

inline std::string fixture(const std::string& name) {
  std::ifstream file(std::string(ANNULUS_TEST_DATA) + "/reports/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace annulus
