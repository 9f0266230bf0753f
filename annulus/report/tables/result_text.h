// Values of results as text, the same in every table.
#pragma once

#include <cstddef>
#include <string>

namespace annulus {

// "5", or "all" for 0.
std::string shots_text(std::size_t shots);
// "12.3", "0.004", "< 0.001": seconds with the digits that matter.
std::string seconds_text(double seconds);
// "2.345", or "-" for 0: a method without a radius.
std::string epsilon_text(double epsilon);
// Red on a terminal that has colours.
std::string red_text(const std::string& text, bool colour);

}  // namespace annulus
