#!/usr/bin/python3
"""Compares tests/data/photos, whose pictures tests compute by a formula, with what other programs read from them.

Pillow reads TIFF, GIF and the preview of DNG, heif-convert HEIC and AVIF, djxl JPEG XL. Prints the largest difference of a value and the
program for each file; exits with 1 when a file shows another picture than its formula says. Needs Debian's python3-pil, python3-numpy,
libheif-examples and libjxl-tools.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
from make_photo_fixtures import FOLDER, blocks, smooth
from PIL import Image

# Files that Pillow reads otherwise, and why.
OTHERWISE = {"grey16.tif": "clips 16 bits to white", "turned_6.dng": "does not know the file",
             "huge.tif": "a bomb", "lying.tif": "a bomb", "no_preview.dng": "no picture"}
LOSSY = {".heic": 20, ".avif": 14, ".jxl": 30, ".dng": 6, ".tif": 2}
EXACT = {"lossless.heic": 1, "lossless.avif": 1, "pixel.heic": 2, "pixel.avif": 2, "grey.heic": 2, "lossless.jxl": 0, "boxes.jxl": 0,
         "alpha.jxl": 0, "rgb16.jxl": 0, "pixel.jxl": 0, "grey.jxl": 0}


def pixels_of(path, folder):
    """(program, colours): Pillow turns TIFF files upright as it loads them."""
    program = {".jxl": "djxl", ".heic": "heif-convert", ".avif": "heif-convert"}.get(os.path.splitext(path)[1])
    if program:
        png = os.path.join(folder, "picture.png")
        subprocess.run([program, path, png], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        path = png
    return program or "Pillow", np.asarray(Image.open(path).convert("RGB")).astype(int)


def main():
    grey = np.repeat(smooth()[..., :1], 3, -1)
    wrong = 0
    for name in sorted(set(os.listdir(FOLDER)) - set(OTHERWISE)):
        with tempfile.TemporaryDirectory() as folder:
            program, found = pixels_of(os.path.join(FOLDER, name), folder)
        expected = [picture for picture in (smooth(), blocks(), grey, smooth(1, 1)) if picture.shape == found.shape]
        largest = min((int(abs(found - picture).max()) for picture in expected), default=256)
        kind = os.path.splitext(name)[1]
        most = EXACT.get(name, LOSSY.get(kind, 0) if kind != ".tif" or name == "jpeg.tif" else 0)
        print(f"{name:24} {program:13} {largest:3}{'' if largest <= most else '   WRONG'}")
        wrong += largest > most
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
