// A sentence for the user that is no error.
#pragma once

#include <functional>
#include <string>

namespace annulus {

// Takes a sentence that a user should see though the work goes on, e.g. which image was left out and why.
using NoteCallback = std::function<void(const std::string&)>;

}  // namespace annulus
