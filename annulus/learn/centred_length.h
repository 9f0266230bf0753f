// When a centred row is too short to have a direction; shared by all that condition rows, exported models included.
#pragma once

namespace annulus {

inline constexpr float kLeastCentredLength = 1e-4F;  // shorter ones are rounding errors, and their rows stay uncentred

}  // namespace annulus
