"""make_import_corpus.py FOLDER: writes the seeds of the importer's fuzzers (fuzz/corpus): the smallest honest files.

Needs Debian's python3-torch.
"""
import argparse
import collections
import io
import json
import os
import pickle
import sys
import zipfile

import torch

from tfjs_fixtures import graph_model, layers_model


class Shell:
    """What a hostile file looks like."""

    def __reduce__(self):
        return os.system, ("true",)


def saved(value, zipped):
    out = io.BytesIO()
    torch.save(value, out, _use_new_zipfile_serialization=zipped)
    return out.getvalue()


def pickle_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        name = next(entry for entry in archive.namelist() if entry.endswith("data.pkl"))
        return archive.read(name)


def write(folder, reader, name, data):
    os.makedirs(os.path.join(folder, reader), exist_ok=True)
    with open(os.path.join(folder, reader, name), "wb") as out:
        out.write(data)


def main(folder):
    weights = collections.OrderedDict(a=torch.ones(2, 3).t(), b=torch.arange(3), c=torch.zeros(2).half())
    module = torch.nn.Linear(2, 1)
    values = {
        "state": {"state_dict": weights, "epoch": 3},
        "module": {"model": module.state_dict(), "parameter": module.weight, "args": argparse.Namespace(a=1)},
        "features": {"features": torch.ones(2, 2), "targets": [0, 1], "names": ["x", "y"], "size": torch.Size([2, 2])},
    }
    for name, value in values.items():
        zipped = saved(value, True)
        write(folder, "pickle", name, pickle_of(zipped))
        write(folder, "torch_file", name + ".zip", zipped)
        write(folder, "torch_file", name + ".legacy", saved(value, False))
    out = io.BytesIO()
    torch.jit.save(torch.jit.script(module), out)
    write(folder, "pickle", "script", pickle_of(out.getvalue()))
    write(folder, "torch_file", "script.zip", out.getvalue())
    for protocol in (2, 4):
        write(folder, "pickle", f"shell_{protocol}", pickle.dumps({"x": Shell()}, protocol))
        write(folder, "pickle", f"plain_{protocol}", pickle.dumps([{"k": (1, 2.5, None, True, b"raw", {3})}, 2**70], protocol))
    for name, make, size in (("layers", layers_model, 32), ("graph", graph_model, 30)):
        with torch.no_grad():
            model, tensors, _, _ = make(torch.zeros(1, 3, size, size))
        model["weightsManifest"] = [{"paths": ["shard"], "weights": tensors.entries}]
        write(folder, "tfjs_model", name + ".json", json.dumps(model, separators=(",", ":")).encode())


if __name__ == "__main__":
    main(sys.argv[1])
