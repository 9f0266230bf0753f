// What the program needs on this machine, what of it is there, and how to get the rest.
#pragma once

#include <string>
#include <vector>

namespace annulus {

struct Finding {
  std::string subject;  // "image support", "cache folder", ...
  bool ok = true;
  bool needed = true;  // false: only some commands need it
  std::string found;   // what is there, or what is wrong
  std::string mend{};  // the command or setting that mends it; empty where it is ok
};

// Looks at image support, ONNX Runtime, the cache folder and its disk, the download script and its npm, the networks
// known by name, fonts and the processor. Changes nothing but for a file in the cache folder that it removes again.
std::vector<Finding> diagnose();

// False where something that is needed is missing.
bool all_needed(const std::vector<Finding>& findings);

}  // namespace annulus
