// ICC colour profiles: the colours of a decoded picture as sRGB.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "annulus/vision/image/image.h"

namespace annulus {

// Longer profiles are not used; those of printers have up to 3 MB.
inline constexpr std::size_t kMaxProfileBytes = std::size_t{4} << 20;

// Converts the pixels from the colours of an ICC profile to sRGB, as Pillow's ImageCms does (perceptual intent). They
// stay as they are if the profile is empty, damaged, too long, of neither RGB nor grey, or that of sRGB itself: one
// that changes no colour by more than a level. Throws Error{kCancelled} after the deadline.
void convert_to_srgb(Image& image, std::span<const std::byte> profile, const DecodeLimits& limits,
                     std::string_view source);

// A profile of these primaries, x and y of red, green, blue and white, with the curve of sRGB; empty if there is none
// of them, for files that state numbers in place of a profile.
std::vector<std::byte> profile_of_primaries(const std::array<std::array<double, 2>, 4>& primaries);

}  // namespace annulus
