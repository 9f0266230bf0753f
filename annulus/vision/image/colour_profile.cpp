// Profiles through Little CMS, a row at a time.
#include "annulus/vision/image/colour_profile.h"

#include <lcms2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <vector>

namespace annulus {
namespace {

struct ReleaseCmsContext {
  void operator()(cmsContext context) const { cmsDeleteContext(context); }
};
// To the library, profiles and transforms are of type void*.
struct ReleaseCmsProfile {
  void operator()(void* profile) const { cmsCloseProfile(profile); }
};
struct ReleaseCmsTransform {
  void operator()(void* transform) const { cmsDeleteTransform(transform); }
};
struct ReleaseCmsCurve {
  void operator()(cmsToneCurve* curve) const { cmsFreeToneCurve(curve); }
};
using CmsContext = std::unique_ptr<std::remove_pointer_t<cmsContext>, ReleaseCmsContext>;
using CmsProfile = std::unique_ptr<void, ReleaseCmsProfile>;
using CmsTransform = std::unique_ptr<void, ReleaseCmsTransform>;

// Profiles that describe colours; others link devices, or list named colours.
bool describes_colours(cmsHPROFILE profile) {
  const cmsProfileClassSignature kind = cmsGetDeviceClass(profile);
  return kind == cmsSigInputClass || kind == cmsSigDisplayClass || kind == cmsSigOutputClass ||
         kind == cmsSigColorSpaceClass;
}

CmsTransform to_srgb(cmsContext context, cmsHPROFILE from, cmsUInt32Number samples) {
  const CmsProfile srgb(cmsCreate_sRGBProfileTHR(context));
  if (!srgb) return nullptr;
  return CmsTransform(
      cmsCreateTransformTHR(context, from, samples, srgb.get(), TYPE_RGB_8, INTENT_PERCEPTUAL, cmsFLAGS_NOCACHE));
}

// Whether some colour of a lattice changes by more than a level.
bool changes_colours(cmsHTRANSFORM transform) {
  constexpr std::size_t kSide = 9;
  std::vector<std::uint8_t> before;
  for (std::size_t i = 0; i < kSide * kSide * kSide; ++i) {
    for (const std::size_t digit : {i / (kSide * kSide), i / kSide % kSide, i % kSide}) {
      before.push_back(static_cast<std::uint8_t>(digit * 255 / (kSide - 1)));
    }
  }
  std::vector<std::uint8_t> after(before.size());
  cmsDoTransform(transform, before.data(), after.data(), static_cast<cmsUInt32Number>(before.size() / 3));
  return !std::equal(before.begin(), before.end(), after.begin(),
                     [](int one, int other) { return std::abs(one - other) <= 1; });
}

void convert_colours(Image& image, cmsHTRANSFORM transform, const DecodeLimits& limits, std::string_view source) {
  if (!changes_colours(transform)) return;
  for (std::size_t y = 0; y < image.height; ++y) {
    check_decode_time(limits, source);
    std::uint8_t* const row = image.rows().row(y).data();
    cmsDoTransform(transform, row, row, static_cast<cmsUInt32Number>(image.width));
  }
}

// Decoders give grey as three equal values; a picture that has others has a wrong profile.
void convert_greys(Image& image, cmsHTRANSFORM transform, const DecodeLimits& limits, std::string_view source) {
  std::array<std::uint8_t, 256> greys{};
  for (std::size_t i = 0; i < greys.size(); ++i) greys[i] = static_cast<std::uint8_t>(i);
  std::array<std::array<std::uint8_t, 3>, 256> colours{};
  cmsDoTransform(transform, greys.data(), colours.data(), static_cast<cmsUInt32Number>(greys.size()));
  const std::uint8_t* const values = image.pixels.get();
  for (std::size_t i = 0; i < image.width * image.height; ++i) {
    if (values[3 * i] != values[3 * i + 1] || values[3 * i] != values[3 * i + 2]) return;
  }
  for (std::size_t y = 0; y < image.height; ++y) {
    check_decode_time(limits, source);
    std::uint8_t* const row = image.rows().row(y).data();
    for (std::size_t x = 0; x < image.width; ++x) {
      const auto& colour = colours[row[3 * x]];
      std::copy(colour.begin(), colour.end(), row + 3 * x);
    }
  }
}

// The curve of sRGB: a power above a straight piece near black.
cmsToneCurve* srgb_curve(cmsContext context) {
  constexpr int kPowerAboveLine = 4;
  const std::array<cmsFloat64Number, 5> terms = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
  return cmsBuildParametricToneCurve(context, kPowerAboveLine, terms.data());
}

}  // namespace

void convert_to_srgb(Image& image, std::span<const std::byte> profile, const DecodeLimits& limits,
                     std::string_view source) {
  if (profile.empty() || profile.size() > kMaxProfileBytes) return;
  const CmsContext context(cmsCreateContext(nullptr, nullptr));
  if (!context) return;
  const CmsProfile from(
      cmsOpenProfileFromMemTHR(context.get(), profile.data(), static_cast<cmsUInt32Number>(profile.size())));
  if (!from || !describes_colours(from.get())) return;
  const cmsColorSpaceSignature space = cmsGetColorSpace(from.get());
  if (space == cmsSigRgbData) {
    const CmsTransform transform = to_srgb(context.get(), from.get(), TYPE_RGB_8);
    if (transform) convert_colours(image, transform.get(), limits, source);
  } else if (space == cmsSigGrayData) {
    const CmsTransform transform = to_srgb(context.get(), from.get(), TYPE_GRAY_8);
    if (transform) convert_greys(image, transform.get(), limits, source);
  }
}

std::vector<std::byte> profile_of_primaries(const std::array<std::array<double, 2>, 4>& primaries) {
  const CmsContext context(cmsCreateContext(nullptr, nullptr));
  if (!context) return {};
  const auto colour = [&](std::size_t i) { return cmsCIExyY{primaries[i][0], primaries[i][1], 1.0}; };
  const cmsCIExyYTRIPLE colours{colour(0), colour(1), colour(2)};
  const cmsCIExyY white = colour(3);
  const std::unique_ptr<cmsToneCurve, ReleaseCmsCurve> curve(srgb_curve(context.get()));
  const std::array<cmsToneCurve*, 3> curves = {curve.get(), curve.get(), curve.get()};
  const CmsProfile made(curve ? cmsCreateRGBProfileTHR(context.get(), &white, &colours, curves.data()) : nullptr);
  cmsUInt32Number size = 0;
  if (!made || cmsSaveProfileToMem(made.get(), nullptr, &size) == 0) return {};
  std::vector<std::byte> bytes(size);
  if (cmsSaveProfileToMem(made.get(), bytes.data(), &size) == 0) return {};
  return bytes;
}

}  // namespace annulus
