"""make_reproduce_fixtures.py FOLDER: stand-ins for the feature files that the paper's authors published (tests/data/reproduce).

The same tree, the same dicts of tensors, the same way of writing (Python's pickle module, not torch.save), with 12 classes of
8 numbers each in place of ImageNet. torch_save/ holds the same content as torch.save writes it. Needs Debian's python3-torch.
"""
import pathlib
import pickle
import sys

import torch

CLASSES, DIMENSION = 12, 8


def rows_of(centres, count, noise, generator):
    """`count` rows around each centre, of length 1, with their labels: what the authors' extraction leaves behind."""
    targets = torch.arange(CLASSES).repeat_interleave(count)
    features = centres[targets] + noise * torch.randn(len(targets), DIMENSION, generator=generator)
    return {"features": torch.nn.functional.normalize(features, dim=-1), "targets": targets}


def write(path, content, protocol=4):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as out:
        pickle.dump(content, out, protocol)


def main(root):
    generator = torch.Generator().manual_seed(20240617)
    trees = {
        "DINO/CUB/deit_small_p16": {"train_1shot_0": 1, "train_1shot_1": 1, "train_1shot_2": 1, "train_2shot_0": 2},
        "MoCov3/Imagenet/deit_small_p16": {"train_1shot_0": 1, "train_1shot_1": 1, "train_2shot_0": 2},
        "MSN/Imagenet/deit_large_p7": {"train_2shot_0": 2},
        "DINO/Imagenet_1pt/deit_small_p16": {"train_1pt": 3},
        "PMF/CIFAR-FS/vit_small_p16": {},
    }
    for tree, training in trees.items():
        centres = torch.randn(CLASSES, DIMENSION, generator=generator)
        folder = root / tree / "features"
        for name, count in training.items():
            # The authors' first files are of Python 3.7, whose pickles are of protocol 3.
            write(folder / f"{name}.pth", rows_of(centres, count, 0.9, generator), 3 if name.endswith("_0") else 4)
        if training:
            write(folder / "test.pth", rows_of(centres, 4, 0.9, generator))
        else:
            write(folder / "novel.pth", rows_of(centres, 20, 0.9, generator))
    content = rows_of(torch.randn(CLASSES, DIMENSION, generator=generator), 1, 0.5, generator)
    write(root / "torch_save/pickled.pth", content)
    torch.save(content, root / "torch_save/zip.pth")
    torch.save(content, root / "torch_save/legacy.pth", _use_new_zipfile_serialization=False)
    shifted = torch.cat([torch.zeros(1, DIMENSION), content["features"]])[1:]  # an offset into a larger storage
    write(root / "torch_save/view.pth", {"features": shifted, "targets": content["targets"].to(torch.int32)})
    write(root / "torch_save/no_features.pth", {"weights": content["features"]})


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(pathlib.Path(sys.argv[1]))
