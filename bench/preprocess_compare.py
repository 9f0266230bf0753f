#!/usr/bin/python3
"""Decoding and preprocessing of a folder's images, Annulus beside Pillow + torchvision, one thread each.

Usage: bench/preprocess_compare.py FOLDER [--program build/bench/preprocess_timing] [--rounds 3]
Needs python3-pil and python3-torchvision. Processor time is counted; the two take turns, round by round, and the best
round counts. Tensors are compared bit for bit.
"""
import argparse
import hashlib
import io
import json
import os
import subprocess
import sys
import time

import torch
from PIL import Image, ImageOps
from torchvision import transforms as T

IMAGENET = T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
BICUBIC = T.InterpolationMode.BICUBIC
RECIPES = {
    "imagenet": T.Compose([T.Resize(256, BICUBIC), T.CenterCrop(224), T.ToTensor(), IMAGENET]),
    "square-224": T.Compose([T.Resize((224, 224), BICUBIC), T.ToTensor(), IMAGENET]),
    "episode-84": T.Compose([T.Resize(92), T.CenterCrop(84), T.ToTensor(), IMAGENET]),
}
EXTENSIONS = (".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp")


def image_paths(folder):
    found = []
    for parent, _, names in os.walk(folder, followlinks=True):
        found += [os.path.join(parent, name) for name in names if name.lower().endswith(EXTENSIONS)]
    return sorted(found, key=os.fsencode)


def python_round(files, recipe):
    decode = preprocess = 0.0
    digest = hashlib.sha256()
    for data in files:
        start = time.process_time()
        image = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
        middle = time.process_time()
        tensor = recipe(image)
        end = time.process_time()
        decode += middle - start
        preprocess += end - middle
        digest.update(tensor.contiguous().numpy().tobytes())
    return 1000 * decode / len(files), 1000 * preprocess / len(files), digest.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--program", default="build/bench/preprocess_timing")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    files = []
    for path in image_paths(options.folder):
        with open(path, "rb") as file:
            files.append(file.read())
    same = True
    for name, recipe in RECIPES.items():
        ours, theirs = [], []
        for _ in range(options.rounds):
            output = subprocess.run([options.program, options.folder, name, "1"], check=True, capture_output=True)
            ours.append(json.loads(output.stdout))
            theirs.append(python_round(files, recipe))
        decode, preprocess = min(o["decode_ms"] for o in ours), min(o["preprocess_ms"] for o in ours)
        their_decode, their_preprocess = min(t[0] for t in theirs), min(t[1] for t in theirs)
        equal = ours[0]["sha256"] == theirs[0][2]
        same = same and equal
        print(f"{name}: {ours[0]['images']} images; ms an image, Annulus / Pillow + torchvision: "
              f"decode {decode:.2f} / {their_decode:.2f} ({their_decode / decode:.1f} x), "
              f"preprocess {preprocess:.2f} / {their_preprocess:.2f} ({their_preprocess / preprocess:.1f} x), "
              f"both {decode + preprocess:.2f} / {their_decode + their_preprocess:.2f} "
              f"({(their_decode + their_preprocess) / (decode + preprocess):.1f} x); "
              f"tensors {'equal' if equal else 'DIFFER'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
