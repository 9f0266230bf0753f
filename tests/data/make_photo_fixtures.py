#!/usr/bin/python3
"""Makes tests/data/photos: one small picture in every format beyond JPEG, PNG and WebP, in every odd way that files come in.

Needs Debian's python3-pil, python3-numpy, libheif-examples and libjxl-tools; run it from anywhere. Tests compute the pictures by the same
formulas (tests/fixtures/photo_fixtures.h), so a file needs no reference beside it: turned upright, it shows `smooth` or `blocks`.
"""
import io
import os
import struct
import subprocess
import tempfile
import zlib

import numpy as np
from PIL import Image

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "photos")
WIDTH, HEIGHT = 40, 24


def smooth(width=WIDTH, height=HEIGHT):
    """A ramp a colour: what lossy formats keep well, and no two corners are alike."""
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([6 * x, 10 * y, 255 - 3 * x - 5 * y], -1).astype(np.uint8)


def blocks():
    """64 colours, for palettes."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    red, green = 36 * (x // 5), 36 * (y // 3)
    return np.stack([red, green, 255 - red // 2 - green // 2], -1).astype(np.uint8)


def stored_for(pixels, orientation):
    """How a file that states this orientation stores the pixels."""
    return {1: lambda p: p, 2: lambda p: p[:, ::-1], 3: lambda p: p[::-1, ::-1], 4: lambda p: p[::-1],
            5: lambda p: p.swapaxes(0, 1), 6: lambda p: p.swapaxes(0, 1)[::-1], 7: lambda p: p.swapaxes(0, 1)[::-1, ::-1],
            8: lambda p: p.swapaxes(0, 1)[:, ::-1]}[orientation](pixels)


def path_of(name):
    return os.path.join(FOLDER, name)


def write(name, data):
    with open(path_of(name), "wb") as file:
        file.write(data)


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def with_alpha(pixels):
    alpha = (np.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH, 1) % 200 + 20).astype(np.uint8)
    return np.concatenate([pixels, alpha], -1)


# --- TIFF by hand: Pillow writes neither 16-bit colours nor every order of samples --------------------------------
def tiff(samples, photometric, order="<", extra=None, separate=False, tags=(), strip_rows=7):
    """Uncompressed; samples has shape height x width x channels and the width of its type."""
    height, width, channels = samples.shape
    bits = 8 * samples.dtype.itemsize
    planes = [samples[..., c:c + 1] for c in range(channels)] if separate else [samples]
    strips = [np.ascontiguousarray(plane[y:y + strip_rows]).astype(samples.dtype.newbyteorder(order)).tobytes()
              for plane in planes for y in range(0, height, strip_rows)]
    entries = {256: (4, [width]), 257: (4, [height]), 258: (3, [bits] * channels), 259: (3, [1]), 262: (3, [photometric]),
               277: (3, [channels]), 278: (4, [strip_rows]), 284: (3, [2 if separate else 1]),
               279: (4, [len(strip) for strip in strips])}
    if extra is not None:
        entries[338] = (3, [extra])
    entries.update(tags)
    entries[273] = (4, [0] * len(strips))
    size = {1: 1, 3: 2, 4: 4}
    data_at = 8 + 2 + 12 * len(entries) + 4
    at = data_at + sum((len(v) * size[t] + 1) // 2 * 2 for t, v in entries.values() if len(v) * size[t] > 4)
    offsets = []
    for strip in strips:
        offsets.append(at)
        at += len(strip)
    entries[273] = (4, offsets)
    directory, data = b"", b""
    for tag, (kind, values) in sorted(entries.items()):
        packed = b"".join(struct.pack(order + {1: "B", 3: "H", 4: "I"}[kind], value) for value in values)
        directory += struct.pack(order + "HHI", tag, kind, len(values))
        if len(packed) <= 4:
            directory += packed.ljust(4, b"\0")
        else:
            directory += struct.pack(order + "I", data_at + len(data))
            data += packed + b"\0" * (len(packed) % 2)
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + "HIH", 42, 8, len(entries))
    return head + directory + struct.pack(order + "I", 0) + data + b"".join(strips)


def make_tiffs():
    for compression in ("tiff_lzw", "tiff_adobe_deflate", "packbits"):
        Image.fromarray(smooth()).save(path_of(f"{compression.replace('tiff_', '')}.tif"), compression=compression)
    Image.fromarray(smooth()).save(path_of("jpeg.tif"), compression="jpeg", quality=95)
    Image.fromarray(smooth(1, 1)).save(path_of("pixel.tif"))
    Image.fromarray(blocks()).quantize(64, dither=0).save(path_of("palette.tif"))
    deep = smooth().astype(np.uint16) * 257
    write("rgb16.tif", tiff(deep, 2))
    write("rgb16_big_endian.tif", tiff(deep, 2, ">"))
    write("grey16.tif", tiff(deep[..., :1], 1))
    write("white_is_zero.tif", tiff(255 - smooth()[..., :1], 0))
    write("planes.tif", tiff(smooth(), 2, separate=True))
    write("alpha.tif", tiff(with_alpha(smooth()), 2, extra=2))
    ink = np.concatenate([255 - smooth(), np.zeros((HEIGHT, WIDTH, 1), np.uint8)], -1)
    write("cmyk.tif", tiff(ink, 5))
    for orientation in range(2, 9):
        write(f"turned_{orientation}.tif", tiff(stored_for(smooth(), orientation), 2, tags={274: (3, [orientation])}.items()))
    write("huge.tif", tiff(smooth(), 2, tags={256: (4, [60000]), 257: (4, [60000])}.items()))
    write("lying.tif", tiff(smooth(), 2, tags={256: (4, [14000]), 257: (4, [14000]), 278: (4, [14000])}.items()))
    write("named.jpg", tiff(smooth(), 2))


def make_gifs():
    palette = Image.fromarray(blocks()).quantize(64, dither=0)
    palette.save(path_of("blocks.gif"), interlace=0)
    palette.save(path_of("interlaced.gif"), interlace=1)
    palette.save(path_of("transparent.gif"), transparency=3)
    other = Image.fromarray(255 - blocks()).quantize(64, dither=0)
    palette.save(path_of("animated.gif"), save_all=True, append_images=[other])
    Image.fromarray(smooth(1, 1)).quantize(2).save(path_of("pixel.gif"))


def boxes(data, at, end):
    """(where, size, type) of the boxes between two places."""
    found = []
    while at < end:
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        found.append((at, size, kind))
        at += size
    return found


def with_rotation(data, quarters):
    """Adds the property of a rotation by so many quarters, anticlockwise, to the main picture, as cameras write it beside EXIF."""
    outer = {kind: (at, size) for at, size, kind in boxes(data, 0, len(data))}
    meta_at, meta_size = outer[b"meta"]
    inner = {kind: (at, size) for at, size, kind in boxes(data, meta_at + 12, meta_at + meta_size)}
    iprp_at, iprp_size = inner[b"iprp"]
    (ipco_at, ipco_size, _), (ipma_at, ipma_size, _) = boxes(data, iprp_at + 8, iprp_at + iprp_size)
    count = len(boxes(data, ipco_at + 8, ipco_at + ipco_size))
    grown = len(struct.pack(">I4sB", 9, b"irot", quarters)) + 1
    ipco = struct.pack(">I4s", ipco_size + 9, b"ipco") + data[ipco_at + 8:ipco_at + ipco_size] + struct.pack(">I4sB", 9, b"irot", quarters)
    # Version 0, small indices: after the number of entries, an item's number, how many properties it has, and they.
    ipma = bytearray(data[ipma_at:ipma_at + ipma_size])
    assert ipma[8] == 0 and ipma[11] & 1 == 0
    pitm_at, _ = inner[b"pitm"]
    main = struct.unpack(">H", data[pitm_at + 12:pitm_at + 14])[0]
    at = 16
    while struct.unpack(">H", ipma[at:at + 2])[0] != main:
        at += 3 + ipma[at + 2]
    end = at + 3 + ipma[at + 2]
    ipma[at + 2] += 1
    ipma = ipma[:end] + bytes([0x80 | (count + 1)]) + ipma[end:]
    ipma[0:4] = struct.pack(">I", ipma_size + 1)
    iprp = struct.pack(">I4s", iprp_size + grown, b"iprp") + ipco + bytes(ipma)
    # Pixels and metadata lie behind and move; items of construction method 1 lie within the boxes.
    iloc_at, iloc_size = inner[b"iloc"]
    iloc = bytearray(data[iloc_at:iloc_at + iloc_size])
    assert iloc[8] == 1 and iloc[12:14] == b"\x44\x40"
    at = 16
    for _ in range(struct.unpack(">H", iloc[14:16])[0]):
        method, base, extents = struct.unpack(">H2xIH", iloc[at + 2:at + 12])
        if method == 0:
            iloc[at + 6:at + 10] = struct.pack(">I", base + grown)
        at += 12 + 8 * extents
    data = bytearray(data)
    data[iloc_at:iloc_at + iloc_size] = iloc
    data[meta_at:meta_at + 4] = struct.pack(">I", meta_size + grown)
    return bytes(data[:iprp_at]) + iprp + bytes(data[iprp_at + iprp_size:])


def make_heifs():
    with tempfile.TemporaryDirectory() as folder:
        png, deep, jpeg = (os.path.join(folder, name) for name in ("a.png", "b.png", "c.jpg"))
        Image.fromarray(smooth()).save(png)
        run("heif-enc", "-q", "95", png, "-o", path_of("smooth.heic"))
        run("heif-enc", "-q", "95", "-A", png, "-o", path_of("smooth.avif"))
        run("heif-enc", "-L", "-p", "chroma=444", "--matrix_coefficients=0", png, "-o", path_of("lossless.heic"))
        run("heif-enc", "-L", "-A", "-p", "chroma=444", "--matrix_coefficients=0", png, "-o", path_of("lossless.avif"))
        Image.fromarray(with_alpha(smooth())).save(png)
        run("heif-enc", "-q", "95", png, "-o", path_of("alpha.heic"))
        run("heif-enc", "-q", "95", "-A", png, "-o", path_of("alpha.avif"))
        Image.fromarray(smooth()[..., 0]).save(png)
        run("heif-enc", "-q", "95", png, "-o", path_of("grey.heic"))
        Image.fromarray(smooth(1, 1)).save(png)
        run("heif-enc", "-q", "95", png, "-o", path_of("pixel.heic"))
        run("heif-enc", "-q", "95", "-A", png, "-o", path_of("pixel.avif"))
        write_deep_png(deep)
        run("heif-enc", "-q", "95", "-b", "10", deep, "-o", path_of("ten_bits.heic"))
        for orientation in (3, 6, 8):
            exif = Image.Exif()
            exif[0x0112] = orientation
            Image.fromarray(stored_for(smooth(), orientation)).save(jpeg, quality=98, subsampling=0, exif=exif)
            turned = path_of(f"turned_{orientation}.heic")
            run("heif-enc", "-q", "95", jpeg, "-o", turned)  # which copies the EXIF block but states no rotation
            with open(turned, "rb") as file:
                data = file.read()
            write(os.path.basename(turned), with_rotation(data, {3: 2, 6: 3, 8: 1}[orientation]))


def write_deep_png(path):
    """16 bits a sample, which Pillow does not write."""
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in smooth().astype(np.uint16) * 257)
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 16, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def make_jxls():
    with tempfile.TemporaryDirectory() as folder:
        png, jpeg = os.path.join(folder, "a.png"), os.path.join(folder, "a.jpg")
        Image.fromarray(smooth()).save(png)
        run("cjxl", png, path_of("lossless.jxl"), "-d", "0")
        run("cjxl", png, path_of("lossy.jxl"), "-d", "0.5")
        run("cjxl", png, path_of("boxes.jxl"), "-d", "0", "--container=1")
        Image.fromarray(with_alpha(smooth())).save(png)
        run("cjxl", png, path_of("alpha.jxl"), "-d", "0")
        Image.fromarray(smooth()[..., 0]).save(png)
        run("cjxl", png, path_of("grey.jxl"), "-d", "0")
        Image.fromarray(smooth(1, 1)).save(png)
        run("cjxl", png, path_of("pixel.jxl"), "-d", "0")
        write_deep_png(png)
        run("cjxl", png, path_of("rgb16.jxl"), "-d", "0")
        for orientation in (6, 8):
            exif = Image.Exif()
            exif[0x0112] = orientation
            Image.fromarray(stored_for(smooth(), orientation)).save(jpeg, quality=98, subsampling=0, exif=exif)
            run("cjxl", jpeg, path_of(f"jpeg_turned_{orientation}.jxl"))


# --- a camera's RAW file: a DNG with a preview and a small sensor --------------------------------------------------
def dng(preview, orientation=1):
    """The preview is a JPEG file in the first directory, the sensor's data in another that it points to."""
    order = "<"
    sensor_width, sensor_height = 64, 48
    sensor = (np.arange(sensor_width * sensor_height) % 4096).astype("<u2").tobytes()

    def directory(entries, at):
        packed, extra = b"", b""
        extra_at = at + 2 + 12 * len(entries) + 4
        for tag, kind, values in sorted(entries):
            data = values if isinstance(values, bytes) else b"".join(
                struct.pack(order + {1: "B", 3: "H", 4: "I"}[kind], value) for value in values)
            count = len(data) // {1: 1, 2: 1, 3: 2, 4: 4}[kind]
            packed += struct.pack(order + "HHI", tag, kind, count)
            if len(data) <= 4:
                packed += data.ljust(4, b"\0")
            else:
                packed += struct.pack(order + "I", extra_at + len(extra))
                extra += data + b"\0" * (len(data) % 2)
        return struct.pack(order + "H", len(entries)) + packed + struct.pack(order + "I", 0) + extra

    def first(sub, preview_at, at=8):
        entries = [(254, 4, [1]), (271, 2, b"Annulus\0"), (272, 2, b"Fixture\0"), (274, 3, [orientation]), (330, 4, [sub]),
                   (50706, 1, [1, 4, 0, 0]), (50708, 2, b"Annulus Fixture\0")]
        if preview:
            entries += [(256, 4, [WIDTH]), (257, 4, [HEIGHT]), (258, 3, [8, 8, 8]), (259, 3, [7]), (262, 3, [6]),
                        (273, 4, [preview_at]), (277, 3, [3]), (278, 4, [HEIGHT]), (279, 4, [len(preview)])]
        return directory(entries, at)

    def second(at, sensor_at):
        return directory([(254, 4, [0]), (256, 4, [sensor_width]), (257, 4, [sensor_height]), (258, 3, [16]), (259, 3, [1]),
                          (262, 3, [32803]), (273, 4, [sensor_at]), (277, 3, [1]), (278, 4, [sensor_height]),
                          (279, 4, [len(sensor)]), (33421, 3, [2, 2]), (33422, 1, [0, 1, 1, 2])], at)

    sub_at = 8 + len(first(0, 0))
    preview_at = sub_at + len(second(0, 0))
    sensor_at = preview_at + len(preview)
    return b"II*\0\x08\0\0\0" + first(sub_at, preview_at) + second(sub_at, sensor_at) + preview + sensor


def jpeg_bytes(pixels):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=97, subsampling=0)
    return out.getvalue()


def make_raws():
    write("preview.dng", dng(jpeg_bytes(smooth())))
    write("turned_6.dng", dng(jpeg_bytes(stored_for(smooth(), 6)), 6))
    write("no_preview.dng", dng(b""))


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name in os.listdir(FOLDER):
        os.remove(path_of(name))
    make_heifs()
    make_tiffs()
    make_gifs()
    make_jxls()
    make_raws()
    print(len(os.listdir(FOLDER)), "files,", sum(os.path.getsize(path_of(name)) for name in os.listdir(FOLDER)), "bytes")


if __name__ == "__main__":
    main()
