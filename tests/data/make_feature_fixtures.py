#!/usr/bin/env python3
"""Makes tests/data/features/: small feature files as NumPy writes them, and safetensors files of every element type.

Needs NumPy. Run it from anywhere; the files are committed, so the tests do not need it.
Feature (i, j) is integer(i, j) / 4 in floating types and integer(i, j) itself in integer types.
"""
import json
import os
import struct
import zipfile

import numpy as np

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "features")
ROWS, DIMENSION = 6, 5
FIXED_DATE = (1980, 1, 1, 0, 0, 0)


def integers(lowest):
    i, j = np.indices((ROWS, DIMENSION))
    return (i * 5 + j * 3) % 16 + lowest


FEATURES = integers(-7) / 4.0
LABELS = np.arange(ROWS) % 3
NAMES = np.array(["auk", "Bülbül", "cuckoo"])


def features_as(dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return FEATURES.astype(dtype)
    if dtype.kind == "b":
        return integers(0) % 2 == 0
    return integers(-7 if dtype.kind == "i" else 1).astype(dtype)


def npy(name, array, version=(1, 0)):
    with open(os.path.join(HERE, name), "wb") as file:
        np.lib.format.write_array(file, array, version=version, allow_pickle=False)


def npz(name, deflate=False, **arrays):
    """Like numpy.savez, but with a fixed date so that the bytes do not change from run to run."""
    method = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
    with zipfile.ZipFile(os.path.join(HERE, name), "w", method) as archive:
        for key, array in arrays.items():
            info = zipfile.ZipInfo(key + ".npy", FIXED_DATE)
            info.compress_type = method
            with archive.open(info, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=True)


def safetensors(name, tensors, metadata=None, pad=True):
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for key, (dtype, shape, raw) in tensors.items():
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8) if pad else b" " * ((-len(text)) % 8 + 1)
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def brain_float(array):
    return (array.astype("<f4").view("<u4") >> 16).astype("<u2")


os.makedirs(HERE, exist_ok=True)

for dtype in "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8".split():
    npy(f"{dtype}.npy", features_as("<" + dtype))
npy("b1.npy", features_as("?"))
npy("big_endian_f4.npy", features_as(">f4"))
npy("big_endian_f2.npy", features_as(">f2"))
npy("fortran_f4.npy", np.asfortranarray(features_as("<f4")))
npy("fortran_f2.npy", np.asfortranarray(features_as("<f2")))
npy("fortran_big_endian_f8.npy", np.asfortranarray(features_as(">f8")))
npy("version_2.npy", features_as("<f4"), (2, 0))
npy("version_3.npy", features_as("<f4"), (3, 0))
npy("pooled.npy", features_as("<f4").reshape(ROWS, DIMENSION, 1, 1))
npy("complex.npy", features_as("<f4").astype("<c8"))
npy("record.npy", np.zeros(3, dtype=[("a", "<f4"), ("b", "<i4")]))
npy("pair_features.npy", features_as("<f4"))
npy("pair_labels.npy", LABELS.astype("<i4"))
npy("text_features.npy", features_as("<f4"))
npy("text_targets.npy", NAMES[LABELS])

f32 = features_as("<f4")
npz("stored_f4.npz", features=f32, labels=LABELS)
npz("deflated_f8.npz", True, features=FEATURES, labels=LABELS)
npz("f2_text_labels.npz", features=features_as("<f2"), labels=NAMES[LABELS])
npz("bytes_labels.npz", features=f32, labels=np.array([b"x", b"yy", b"z"])[LABELS])
npz("big_endian_text.npz", features=f32, labels=NAMES[LABELS].astype(">U6"), class_names=NAMES)
npz("coop.npz", feature_list=f32, label_list=LABELS)
npz("msn.npz", True, embs=features_as("<f2"), labels=LABELS)
npz("targets_u1.npz", features=f32, targets=LABELS.astype("u1").reshape(ROWS, 1))
npz("sparse_labels.npz", features=f32, labels=np.array([200, 3, 10, 3, 200, 10], dtype="<u8"))
npz("full.npz", True, features=f32, labels=LABELS, is_train=LABELS != 1, class_names=np.append(NAMES, "unseen"),
    paths=np.array([f"{i}/bild ä.jpg" for i in range(ROWS)]), provenance=np.array(json.dumps({"backbone": "tiny"})))
npz("unlabelled.npz", features=f32)
npz("pickled_labels.npz", features=f32, labels=NAMES[LABELS].astype(object))
npz("negative_labels.npz", features=f32, labels=LABELS - 1)
npz("label_beyond_names.npz", features=f32, labels=LABELS, class_names=NAMES[:2])
npz("short_labels.npz", features=f32, labels=LABELS[:-1])
npz("nan.npz", features=np.where(f32 == 2.0, np.float32("nan"), f32), labels=LABELS)
npz("infinity.npz", features=np.where(f32 == 2.0, np.float32("inf"), f32), labels=LABELS)
npz("zero_row.npz", features=f32 * (np.arange(ROWS) != 4)[:, None], labels=LABELS)
npz("flat.npz", features=f32.ravel(), labels=LABELS)
npz("no_features.npz", weights=f32)
npz("bomb.npz", True, features=np.zeros((2048, 2048), dtype="<f4"))

labels = ("I64", [ROWS], LABELS.astype("<i8").tobytes())
for dtype, raw in {"F64": FEATURES.astype("<f8"), "F32": f32, "F16": features_as("<f2"), "BF16": brain_float(f32),
                   "I64": features_as("<i8"), "I32": features_as("<i4"), "I16": features_as("<i2"),
                   "I8": features_as("i1"), "U8": features_as("u1"), "BOOL": features_as("?")}.items():
    safetensors(f"{dtype}.safetensors", {"labels": labels, "features": (dtype, [ROWS, DIMENSION], raw.tobytes())})
safetensors("unaligned.safetensors", {"is_train": ("BOOL", [ROWS], (LABELS != 1).tobytes()),
                                      "features": ("F32", [ROWS, DIMENSION], f32.tobytes()),
                                      "labels": ("I32", [ROWS], LABELS.astype("<i4").tobytes())},
            {"class_names": json.dumps(list(NAMES))}, pad=False)
