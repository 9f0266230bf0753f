#!/usr/bin/python3
"""Makes the awkward little images of tests/data/images and the checksums that decoding and preprocessing must match.

Needs Debian's python3-pil, python3-torchvision and libturbojpeg0 (Pillow 9.4, torchvision 0.14); run it from anywhere.
The manifest holds SHA-256 digests of the RGB bytes Pillow gives and of the float32 tensors torchvision makes of them.
"""
import ctypes
import hashlib
import json
import os
import struct
import zlib

import numpy as np
import torch
from PIL import Image, ImageOps
from torchvision import transforms as T

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "images")
IMAGENET = T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
BICUBIC, BILINEAR = T.InterpolationMode.BICUBIC, T.InterpolationMode.BILINEAR


def caffe(image):
    values = np.asarray(image, dtype=np.float32)[..., ::-1].copy()
    for channel, mean in enumerate([103.939, 116.779, 123.68]):
        values[..., channel] -= mean
    return torch.from_numpy(values).permute(2, 0, 1)


def signed(image):
    values = np.asarray(image, dtype=np.float32).copy()
    values /= 127.5
    values -= 1.0
    return torch.from_numpy(values).permute(2, 0, 1)


def nhwc(tensor):
    return tensor.permute(1, 2, 0)


RECIPES = {
    "imagenet": T.Compose([T.Resize(256, BICUBIC), T.CenterCrop(224), T.ToTensor(), IMAGENET]),
    "imagenet-bilinear": T.Compose([T.Resize(256, BILINEAR), T.CenterCrop(224), T.ToTensor(), IMAGENET]),
    "clip": T.Compose([T.Resize(224, BICUBIC), T.CenterCrop(224), T.ToTensor(),
                       T.Normalize([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])]),
    "keras-caffe": T.Compose([T.Resize(256, BICUBIC), T.CenterCrop(224), caffe]),
    "unit": T.Compose([T.Resize(256, BICUBIC), T.CenterCrop(224), T.ToTensor()]),
    "signed layout=nhwc": T.Compose([T.Resize(256, BICUBIC), T.CenterCrop(224), signed, nhwc]),
    "square-224": T.Compose([T.Resize((224, 224), BICUBIC), T.ToTensor(), IMAGENET]),
    "episode-84": T.Compose([T.Resize(92), T.CenterCrop(84), T.ToTensor(), IMAGENET]),
    "episode-80": T.Compose([T.Resize((80, 80)), T.ToTensor(), IMAGENET]),
    "episode-32": T.Compose([T.Resize((32, 32)), T.ToTensor(), IMAGENET]),
    "unit resize=none crop=33x64": T.Compose([T.CenterCrop((64, 33)), T.ToTensor()]),
    "unit resize=19x50 crop=none layout=nhwc": T.Compose([T.Resize((50, 19), BICUBIC), T.ToTensor(), nhwc]),
    "unit resize=shorter:17 crop=40x15 interpolation=bilinear":
        T.Compose([T.Resize(17, BILINEAR), T.CenterCrop((15, 40)), T.ToTensor()]),
}


def digest(data):
    return hashlib.sha256(data).hexdigest()


def tensor_digests(image):
    return {name: digest(np.ascontiguousarray(recipe(image).numpy(), dtype=np.float32).tobytes())
            for name, recipe in RECIPES.items()}


def picture(width, height, channels=3, seed=1):
    """A smooth ramp, a hard-edged disc and noise: everything that resampling can get wrong."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    planes = []
    for c in range(channels):
        ramp = 255 * ((x * (c + 1) / max(width, 2) + y * (3 - c) / max(height, 2)) / 4 % 1)
        disc = (x - width * 0.4) ** 2 + (y - height * (0.3 + 0.1 * c)) ** 2 < (0.3 * min(width, height)) ** 2
        planes.append(np.where(disc, 255 - ramp, ramp))
    noise = np.random.default_rng(seed + 1000 * width + height).integers(-40, 41, (height, width, channels))
    return np.clip(np.stack(planes, -1) + noise, 0, 255).astype(np.uint8)


def rgb(width, height, seed=1):
    return Image.fromarray(picture(width, height, 3, seed))


# --- writing what Pillow cannot -----------------------------------------------------------------------------------
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
PNG_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def png_chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png_rows(samples, depth):
    """Packed rows, each with filter type 0, 1 or 2 in turn, of samples with shape height x width x channels."""
    height, width, channels = samples.shape
    if height == 0 or width == 0:
        return b""
    flat = samples.reshape(height, -1)
    if depth == 16:
        rows = flat.astype(">u2").view(np.uint8).reshape(height, -1)
    elif depth == 8:
        rows = flat.astype(np.uint8)
    else:
        bits = ((flat[..., None].astype(np.uint8) >> np.arange(depth - 1, -1, -1)) & 1).reshape(height, -1)
        rows = np.packbits(bits.astype(np.uint8), axis=1)
    step = max(1, channels * depth // 8)
    out = b""
    for y, row in enumerate(rows):
        kind = y % 3
        left = np.concatenate([np.zeros(step, np.uint8), row[:-step]])[:len(row)]
        above = rows[y - 1] if y else np.zeros_like(row)
        out += bytes([kind]) + (row - [np.zeros_like(row), left, above][kind]).astype(np.uint8).tobytes()
    return out


def write_png(name, samples, depth, colour, interlaced=False, before=(), after=()):
    height, width = samples.shape[:2]
    samples = samples.reshape(height, width, PNG_CHANNELS[colour])
    passes = [samples[y::dy, x::dx] for x, y, dx, dy in ADAM7] if interlaced else [samples]
    data = zlib.compress(b"".join(png_rows(part, depth) for part in passes), 9)
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    with open(os.path.join(FOLDER, name), "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header))
        for chunk in before:
            file.write(png_chunk(*chunk))
        half = len(data) // 2
        file.write(png_chunk(b"IDAT", data[:half]) + png_chunk(b"IDAT", data[half:]))
        for chunk in after:
            file.write(png_chunk(*chunk))
        file.write(png_chunk(b"IEND", b""))


def write_turbo_jpeg(name, image, subsampling):
    """Through TurboJPEG, for chroma subsamplings that Pillow does not write (4 is 4:4:0, 5 is 4:1:1)."""
    turbo = ctypes.CDLL("libturbojpeg.so.0")
    turbo.tjInitCompress.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(turbo.tjInitCompress())
    pixels = np.ascontiguousarray(np.asarray(image))
    height, width = pixels.shape[:2]
    buffer, size = ctypes.POINTER(ctypes.c_ubyte)(), ctypes.c_ulong(0)
    code = turbo.tjCompress2(handle, pixels.ctypes.data_as(ctypes.c_void_p), width, 0, height, 0,
                             ctypes.byref(buffer), ctypes.byref(size), subsampling, 88, 0)
    assert code == 0
    with open(os.path.join(FOLDER, name), "wb") as file:
        file.write(bytes(buffer[:size.value]))


def edit(name, change):
    path = os.path.join(FOLDER, name)
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(change(data))


def set_adobe_transform(transform):
    def change(data):
        at = data.index(b"Adobe")
        return data[:at + 11] + bytes([transform]) + data[at + 12:]
    return change


def replace_jfif_by_adobe_rgb(data):
    length = struct.unpack(">H", data[4:6])[0]
    adobe = b"\xff\xee" + struct.pack(">H", 14) + b"Adobe" + struct.pack(">HHHB", 100, 0, 0, 0)
    return data[:2] + adobe + data[4 + length:]


def tiff_orientation(value, order="<", kind=3):
    head = b"II*\0" if order == "<" else b"MM\0*"
    number = struct.pack(order + "H", value) + b"\0\0" if kind == 3 else struct.pack(order + "I", value)
    return (head + struct.pack(order + "IH", 8, 2) +
            struct.pack(order + "HHI", 0x010F, 2, 4) + b"Nul\0" +
            struct.pack(order + "HHI", 0x0112, kind, 1) + number + struct.pack(order + "I", 0))


# --- the images ---------------------------------------------------------------------------------------------------
def save(name, image, **options):
    image.save(os.path.join(FOLDER, name), **options)


def make_jpegs():
    for width, height in [(1, 1), (1, 37), (41, 1), (2, 2), (7, 5), (97, 61), (300, 17), (19, 290)]:
        save(f"jpeg_{width}x{height}.jpg", rgb(width, height), quality=90)
    save("jpeg_256x320_no_resize.jpg", rgb(256, 320), quality=60)
    save("jpeg_320x257.jpg", rgb(320, 257), quality=50)
    for number, name in [(0, "444"), (1, "422"), (2, "420")]:
        save(f"jpeg_{name}.jpg", rgb(75, 53), quality=85, subsampling=number)
    write_turbo_jpeg("jpeg_440.jpg", rgb(75, 53), 4)
    write_turbo_jpeg("jpeg_411.jpg", rgb(75, 53), 5)
    save("jpeg_progressive.jpg", rgb(83, 59), quality=85, progressive=True)
    save("jpeg_progressive_444.jpg", rgb(59, 83), quality=95, progressive=True, subsampling=0)
    save("jpeg_quality_5.jpg", rgb(64, 48), quality=5)
    save("jpeg_grey.jpg", Image.fromarray(picture(61, 47, 1)[..., 0]), quality=85)
    save("jpeg_grey_progressive.jpg", Image.fromarray(picture(47, 61, 1)[..., 0]), quality=85, progressive=True)
    save("jpeg_cmyk.jpg", Image.fromarray(picture(45, 33, 4), "CMYK"), quality=85)
    save("jpeg_ycck.jpg", Image.fromarray(picture(45, 33, 4), "CMYK"), quality=85)
    edit("jpeg_ycck.jpg", set_adobe_transform(2))
    save("jpeg_rgb_colours.jpg", rgb(45, 33), quality=90, subsampling=0)
    edit("jpeg_rgb_colours.jpg", replace_jfif_by_adobe_rgb)
    save("jpeg_stray_bytes.jpg", rgb(33, 45), quality=85)
    edit("jpeg_stray_bytes.jpg", lambda data: data[:-2] + b"\x11\x22\x33" + data[-2:])
    for value in range(1, 9):
        block = tiff_orientation(value, "<" if value % 2 else ">", 3 if value != 6 else 4)
        save(f"exif_{value}.jpg", rgb(37, 23), quality=90, exif=b"Exif\0\0" + block)
    save("exif_9_unknown.jpg", rgb(37, 23), quality=90, exif=b"Exif\0\0" + tiff_orientation(9))
    save("exif_damaged.jpg", rgb(37, 23), quality=90, exif=b"Exif\0\0" + tiff_orientation(6)[:20])


def make_pngs():
    grey = picture(35, 29, 1)
    palette = np.random.default_rng(5).integers(0, 256, (256, 3)).astype(np.uint8)
    for depth in (1, 2, 4, 8, 16):
        samples = grey.astype(np.uint16) * 257 >> (16 - depth)
        for interlaced in (False, True):
            write_png(f"png_grey_{depth}{'_interlaced' if interlaced else ''}.png", samples, depth, 0, interlaced)
    for depth in (1, 2, 4, 8):
        samples = grey >> (8 - depth)
        used = palette[:2 ** depth].tobytes()
        write_png(f"png_palette_{depth}.png", samples, depth, 3, before=[(b"PLTE", used)])
        write_png(f"png_palette_{depth}_interlaced_transparent.png", samples, depth, 3, True,
                  before=[(b"PLTE", used), (b"tRNS", bytes([0, 128]))])
    write_png("png_palette_short.png", grey % 12, 8, 3, before=[(b"PLTE", palette[:7].tobytes())])
    deep = np.random.default_rng(6).integers(0, 65536, (23, 31, 4)).astype(np.uint16)
    wide = picture(31, 23, 4)
    for colour, name in [(2, "rgb"), (4, "grey_alpha"), (6, "rgba")]:
        channels = PNG_CHANNELS[colour]
        write_png(f"png_{name}_8.png", wide[..., :channels], 8, colour)
        write_png(f"png_{name}_16.png", deep[..., :channels], 16, colour)
        write_png(f"png_{name}_8_interlaced.png", wide[..., :channels], 8, colour, True)
        write_png(f"png_{name}_16_interlaced.png", deep[..., :channels], 16, colour, True)
    write_png("png_rgb_transparent_colour_gamma.png", wide[..., :3], 8, 2,
              before=[(b"gAMA", struct.pack(">I", 45455)), (b"tRNS", struct.pack(">HHH", 1, 2, 3))])
    write_png("png_grey_transparent.png", grey, 8, 0, before=[(b"tRNS", struct.pack(">H", 7))])
    write_png("png_1x1.png", picture(1, 1), 8, 2)
    write_png("png_1x1_interlaced.png", picture(1, 1), 8, 2, True)
    write_png("png_3x2_interlaced.png", picture(3, 2), 8, 2, True)
    save("png_pillow.png", rgb(53, 31), optimize=True)
    write_png("exif_6.png", wide[..., :3], 8, 2, before=[(b"eXIf", tiff_orientation(6))])
    write_png("exif_8_after_pixels.png", wide[..., :3], 8, 2, after=[(b"eXIf", tiff_orientation(8, ">"))])
    with open(os.path.join(FOLDER, "huge_20000x20000.bin"), "wb") as file:  # header and the beginning of a bomb
        header = struct.pack(">IIBBBBB", 20000, 20000, 1, 0, 0, 0, 0)
        data = zlib.compress(bytes(1 << 20), 9)
        file.write(b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + png_chunk(b"IDAT", data))


def make_webps():
    save("webp_lossy.webp", rgb(61, 43), quality=80)
    save("webp_lossless.webp", rgb(43, 31), lossless=True)
    save("webp_lossy_alpha.webp", Image.fromarray(picture(45, 33, 4)), quality=80)
    save("webp_lossless_alpha.webp", Image.fromarray(picture(33, 25, 4)), lossless=True, exact=True)
    save("webp_1x1.webp", rgb(1, 1), quality=80)
    save("webp_animated.webp", rgb(32, 24), save_all=True, append_images=[rgb(32, 24, 7)], quality=70)
    save("exif_3.webp", rgb(37, 23), quality=90, exif=tiff_orientation(3))
    save("exif_5_lossless.webp", rgb(25, 17), lossless=True, exif=b"Exif\0\0" + tiff_orientation(5, ">"))


def decoded(path, apply_exif):
    with Image.open(path) as image:
        if image.mode == "I":  # Pillow would clip 16-bit grey to white; Annulus keeps the high byte
            image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
        elif apply_exif:
            image = ImageOps.exif_transpose(image)
        return image.convert("RGB")


def generated(width, height):
    """The same formula as in tests/vision/preprocess_test.cpp."""
    y, x, c = np.mgrid[0:height, 0:width, 0:3].astype(np.int64)
    value = x * 7 + y * 13 + c * 29 + ((x * y) >> 5) + ((x ^ y) * (c + 1))
    return Image.fromarray((value & 255).astype(np.uint8))


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name in os.listdir(FOLDER):
        os.remove(os.path.join(FOLDER, name))
    make_jpegs()
    make_pngs()
    make_webps()
    images = []
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith(".bin"):
            continue
        upright = decoded(os.path.join(FOLDER, name), True)
        stored = decoded(os.path.join(FOLDER, name), False)
        images.append({"file": name, "width": upright.width, "height": upright.height,
                       "rgb": digest(upright.tobytes()), "rgb_without_exif": digest(stored.tobytes()),
                       "tensors": tensor_digests(upright)})
    sizes = [(1, 1), (2, 3), (1, 700), (700, 1), (5, 999), (255, 256), (257, 256), (256, 256), (223, 225), (224, 224),
             (500, 375), (375, 500), (333, 1001), (4032, 3024), (1, 4000)]
    made = [{"width": w, "height": h, "tensors": tensor_digests(generated(w, h))} for w, h in sizes]
    with open(os.path.join(FOLDER, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump({"images": images, "generated": made}, file, indent=1)
        file.write("\n")
    print(len(images), "images,", sum(os.path.getsize(os.path.join(FOLDER, f)) for f in os.listdir(FOLDER)), "bytes")


if __name__ == "__main__":
    main()
