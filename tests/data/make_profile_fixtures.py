#!/usr/bin/python3
"""Makes tests/data/profiles: the picture `smooth` of make_photo_fixtures.py as stored in other colours than sRGB's, with the profile that
says which, in every format that holds profiles. Beside it, as <colours>.srgb.png, is what Pillow makes of it for a screen (ImageCms).

Needs Debian's python3-pil, python3-numpy, libheif-examples and libjxl-tools; run it from anywhere. Little CMS makes the profiles.
"""
import ctypes
import io
import os
import struct
import subprocess
import tempfile

from make_photo_fixtures import smooth
from PIL import Image, ImageCms

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "profiles")
LCMS = ctypes.CDLL("liblcms2.so.2")
POINTER = ctypes.c_void_p
LCMS.cmsBuildGamma.restype = LCMS.cmsBuildParametricToneCurve.restype = POINTER
LCMS.cmsCreateRGBProfile.restype = LCMS.cmsCreateGrayProfile.restype = POINTER
LCMS.cmsSaveProfileToMem.argtypes = [POINTER, POINTER, POINTER]

D65 = (0.3127, 0.3290)
D50 = (0.3457, 0.3585)
P3 = ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060))
ADOBE = ((0.64, 0.33), (0.21, 0.71), (0.15, 0.06))


def colour(x, y):
    return (ctypes.c_double * 3)(x, y, 1.0)


def gamma(power):
    return LCMS.cmsBuildGamma(None, ctypes.c_double(power))


def srgb_curve():
    terms = (ctypes.c_double * 5)(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
    return LCMS.cmsBuildParametricToneCurve(None, 4, terms)


def saved(profile):
    """The bytes, without the date in the header."""
    size = ctypes.c_uint32(0)
    LCMS.cmsSaveProfileToMem(profile, None, ctypes.byref(size))
    data = ctypes.create_string_buffer(size.value)
    LCMS.cmsSaveProfileToMem(profile, data, ctypes.byref(size))
    return data.raw[:24] + bytes(12) + data.raw[36:]


def rgb_profile(primaries, curve):
    three = (ctypes.c_double * 9)(*[value for x, y in primaries for value in (x, y, 1.0)])
    return saved(POINTER(LCMS.cmsCreateRGBProfile(colour(*D65), three, (POINTER * 3)(curve, curve, curve))))


def grey_profile(power):
    return saved(POINTER(LCMS.cmsCreateGrayProfile(colour(*D50), POINTER(gamma(power)))))


def path_of(name):
    return os.path.join(FOLDER, name)


def write_srgb(name, picture):
    """What Pillow shows of a picture with a profile."""
    profile = ImageCms.ImageCmsProfile(io.BytesIO(picture.info["icc_profile"]))
    shown = ImageCms.profileToProfile(picture, profile, ImageCms.createProfile("sRGB"), renderingIntent=0, outputMode="RGB")
    shown.info.pop("icc_profile", None)
    shown.save(path_of(f"{name}.srgb.png"), icc_profile=None)


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    p3 = rgb_profile(P3, srgb_curve())
    picture = Image.fromarray(smooth())
    picture.save(path_of("p3.png"), icc_profile=p3)
    picture.save(path_of("p3.webp"), lossless=True, exact=True, icc_profile=p3)
    picture.save(path_of("p3.tif"), compression="tiff_lzw", icc_profile=p3)
    picture.save(path_of("p3_jpeg.jpg"), quality=95, subsampling=0, icc_profile=p3)
    picture.save(path_of("adobe.png"), icc_profile=rgb_profile(ADOBE, gamma(2.19921875)))
    Image.fromarray(smooth()[..., 0]).save(path_of("grey.png"), icc_profile=grey_profile(1.0))
    picture.save(path_of("srgb.png"), icc_profile=ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    # A profile of grey with colours, and one that is cut.
    picture.save(path_of("wrong.png"), icc_profile=grey_profile(1.0))
    picture.save(path_of("cut.png"), icc_profile=p3[:200])
    picture.convert("CMYK").save(path_of("ink.jpg"), quality=95, icc_profile=p3)
    for name in ("p3.png", "p3_jpeg.jpg", "adobe.png", "grey.png"):
        write_srgb(name.rpartition(".")[0], Image.open(path_of(name)))
    run("cjxl", path_of("p3.png"), path_of("p3.jxl"), "-d", "0")
    lossless = ("-L", "-p", "chroma=444", "--matrix_coefficients=0")
    run("heif-enc", *lossless, path_of("p3.png"), "-o", path_of("p3.heic"))
    run("heif-enc", *lossless, "-A", path_of("p3.png"), "-o", path_of("p3.avif"))
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "plain.png")
        picture.save(plain)
        run("heif-enc", *lossless, "-A", plain, "-o", path_of("p3_numbers.avif"))
    # Colours by numbers, which heif-enc does not write here: the primaries of Display P3 and the curve of sRGB.
    with open(path_of("p3_numbers.avif"), "r+b") as file:
        file.seek(file.read().index(b"nclx") + 4)
        file.write(struct.pack(">HH", 12, 13))


if __name__ == "__main__":
    main()
