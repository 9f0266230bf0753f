#!/usr/bin/python3
"""From photos to features in plain PyTorch and torchvision, as a timing program: jobs come in on standard input, one line of JSON
each, and are answered by one line of JSON. The process stays warm from job to job.

{"job": "open", "network": "resnet50" or "vit-s/16", "photos": [FILE, ...], "batch": B, "threads": N}     random weights
{"job": "extract", "workers": W}     seconds: photos are read, decoded, resized and cropped in W further processes (0: in this one)
{"job": "network"}                   seconds of the network alone on ready tensors
{"job": "versions"}                  what is being timed
"""
import json
import sys
import time

import torch
import torchvision
from PIL import Image
from torchvision import transforms

PREPARE = transforms.Compose([transforms.Resize(256, interpolation=transforms.InterpolationMode.BICUBIC), transforms.CenterCrop(224),
                              transforms.ToTensor(), transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])


class Photos(torch.utils.data.Dataset):
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, number):
        return PREPARE(Image.open(self.files[number]).convert("RGB"))


def network_of(name):
    torch.manual_seed(0)
    if name == "resnet50":
        network = torchvision.models.resnet50(weights=None)
        network.fc = torch.nn.Identity()
    else:
        network = torchvision.models.vision_transformer.VisionTransformer(224, 16, 12, 6, 384, 1536)
        network.heads = torch.nn.Identity()
    return network.eval()


class State:
    network = photos = ready = None
    batch = 16


@torch.inference_mode()
def features(batches):
    return torch.cat([State.network(batch) for batch in batches])


def run(job):
    if job["job"] == "versions":
        return {"torch": torch.__version__, "torchvision": torchvision.__version__}
    if job["job"] == "open":
        torch.set_num_threads(job["threads"])
        State.network, State.batch, State.photos = network_of(job["network"]), job["batch"], Photos(job["photos"])
        State.ready = list(torch.utils.data.DataLoader(State.photos, State.batch))
        return {"dimension": features(State.ready[:1]).shape[1]}
    start = time.perf_counter()
    if job["job"] == "network":
        features(State.ready)
    else:
        features(torch.utils.data.DataLoader(State.photos, State.batch, num_workers=job["workers"]))
    return {"seconds": time.perf_counter() - start}


def main():
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
