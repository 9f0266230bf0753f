"""Writes checkpoints in every supported layout with the features PyTorch computes from them, for the importer's tests.

usage: make_import_fixtures.py FOLDER            the small fixtures of tests/data/import
       make_import_fixtures.py FOLDER --full     the real networks: several GB
       make_import_fixtures.py --list            names of the full-size cases
       make_import_fixtures.py FOLDER --full --case NAME   one of them

Needs Debian's python3-torch and python3-numpy, and compares residual networks with python3-torchvision's if it is there. FOLDER/cases.json lists what was written.
"""
import argparse
import collections
import json
import os
import struct
import sys

import numpy as np
import torch

import import_image_text_networks as towers
import import_recent_networks as recent
import import_tensor_names as names
from import_networks import Resnet, Resnet12, Vit, WideResnet, randomise, sine_cosine_positions
from tfjs_fixtures import write_tfjs_cases

BATCH = 2

# Containers: PyTorch's zip file under two extensions, its older format, a compiled module of half-precision weights, and
# safetensors.
ZIP, BIN, LEGACY, SCRIPT, SAFETENSORS = ".pth", ".bin", "legacy", ".pt", ".safetensors"


def test_images(size):
    """The same numbers in the C++ test: ((7919 i) mod 1000) / 500 - 1."""
    i = np.arange(BATCH * 3 * size * size, dtype=np.int64)
    return torch.from_numpy(((7919 * i) % 1000 / 500 - 1).astype(np.float32)).reshape(BATCH, 3, size, size)


def prefixed(state, prefix):
    return collections.OrderedDict((prefix + name, tensor) for name, tensor in state.items())


def with_head(state, name, inputs):
    state = collections.OrderedDict(state)
    state[name + ".weight"] = torch.full((2, inputs), 0.5)
    state[name + ".bias"] = torch.zeros(2)
    return state


# Each layout wraps an encoder's state dict as its authors' training program saves it. `other` is the state dict of a
# second encoder with other weights (the student, the query encoder, ...).
def plain(state, other, width):
    return state


def torchvision_layout(state, other, width):
    return with_head(state, "fc", width)


def timm(state, other, width):
    return with_head(state, "head", width)


def dino_training(state, other, width):
    return {
        "student": prefixed(with_head(other, "head.last_layer", width), "module.backbone."),
        "teacher": prefixed(state, "backbone."),
        "optimizer": {"state": {0: {"step": 3, "exp_avg": torch.zeros(2)}}, "param_groups": [{"lr": 0.1, "params": [0, 1]}]},
        "epoch": 100,
        "args": argparse.Namespace(arch="vit_small", patch_size=16),
    }


def moco_v3(state, other, width):
    return {
        "epoch": 300,
        "arch": "vit_small",
        "state_dict": {
            **prefixed(with_head(state, "head.0", width), "module.base_encoder."),
            **prefixed(other, "module.momentum_encoder."),
        },
    }


def moco_v3_backbone(state, other, width):
    return {"model": state}


def msn(state, other, width):
    return {
        "encoder": prefixed(other, "module."),
        "target_encoder": prefixed(with_head(with_head(state, "fc.fc1", width), "pred.fc1", width), "module."),
        "prototypes": torch.zeros(3, 2),
        "epoch": 600,
    }


def vissl(state, other, width):
    trunk = prefixed(state, "_feature_blocks.")
    heads = {"0.clf.0.weight": torch.zeros(2, 2)}
    return {"phase_idx": 9, "classy_state_dict": {"base_model": {"model": {"trunk": trunk, "heads": heads}}}}


def mmselfsup(state, other, width):
    return {"meta": {"epoch": 200}, "state_dict": prefixed(state, "backbone.")}


def byol_module(state, other, width):
    return {"state_dict": prefixed(state, "module.")}


def pmf(state, other, width):
    return {"model": prefixed(state, "backbone."), "epoch": 3}


def s2m2_module(state, other, width):
    return {"epoch": 1, "state": prefixed(with_head(state, "linear", width), "module.")}


def s2m2_feature(state, other, width):
    return {"epoch": 1, "state": prefixed(state, "feature.")}


def meta_baseline(state, other, width):
    return {"model": "meta-baseline", "model_sd": {**prefixed(state, "encoder."), "temp": torch.tensor(10.0)}}


def named(rename):
    """The layout that has the encoder alone, under other names."""
    return lambda state, other, width: rename(state)


def half(layout):
    return lambda state, other, width: layout({k: v.half() if v.is_floating_point() else v for k, v in state.items()}, other, width)


def transposed(layout):
    """The same numbers behind strides that are not contiguous, and all in one storage."""

    def shuffled(state, other, width):
        big = torch.cat([t.t().reshape(-1) if t.dim() == 2 else t.reshape(-1) for t in state.values()])
        out, at = collections.OrderedDict(), 0
        for name, tensor in state.items():
            part = big[at : at + tensor.numel()]
            out[name] = part.view(tensor.shape[::-1]).t() if tensor.dim() == 2 else part.view(tensor.shape)
            at += tensor.numel()
        return layout(out, other, width)

    return shuffled


Case = collections.namedtuple(
    "Case", "name arch make image layout container options layout_word", defaults=(ZIP, {}, "")
)


def vit(width, depth, heads, patch, trained, **settings):
    return lambda: Vit(width, depth, heads, patch, trained, **settings)


def moco_vit(width, depth, heads, patch, trained):
    """The fixed position table has to survive randomise()."""

    def make():
        net = Vit(width, depth, heads, patch, trained)
        net.fixed_positions = sine_cosine_positions(trained // patch, width)
        return net

    return make


def small_cases():
    arch = "vit:width=8,depth=2,heads=2,patch=8,image=32"
    resnet = "resnet:block=bottleneck,blocks=1-1-1-1,width=2,image=64"
    basic = "resnet:block=basic,blocks=1-2-1-1,width=2,image=64"
    tiny = lambda: Vit(8, 2, 2, 8, 32)  # noqa: E731
    deep = lambda: Resnet(True, (1, 1, 1, 1), 2)  # noqa: E731
    inert = {"allow_inert_objects": True}
    return [
        Case("dino_plain", arch, tiny, 32, plain, ZIP, {}, "plain state dict"),
        Case("dino_plain_legacy", arch, tiny, 32, plain, LEGACY, {}, "plain state dict"),
        Case("dino_training", arch, tiny, 32, dino_training, ZIP, inert, "DINO training file"),
        Case("dino_training_legacy", arch, tiny, 32, dino_training, LEGACY, inert, "DINO training file"),
        Case("timm_strided", arch, tiny, 32, transposed(timm), ZIP, {}, "plain state dict"),
        Case("moco_v3_legacy", arch, moco_vit(8, 2, 2, 8, 32), 32, moco_v3, LEGACY, {}, "MoCo v3"),
        Case("msn_resized", arch, vit(8, 2, 2, 8, 56, resize="exact"), 32, msn, ZIP, {}, "MSN"),
        Case("pmf_half", arch, tiny, 32, half(pmf), ZIP, {}, "PMF"),
        Case("dinov2", arch, vit(8, 2, 2, 8, 40, layer_scale=True), 32, plain, ZIP, {}, "DINOv2"),
        Case("dinov2_registers", arch, vit(8, 2, 2, 8, 72, layer_scale=True, registers=3, resize="antialias"), 32, plain, ZIP, {}, "DINOv2"),
        Case("torchvision", basic, lambda: Resnet(False, (1, 2, 1, 1), 2), 64, torchvision_layout, ZIP, {}, "plain"),
        Case("simclr_vissl", resnet, deep, 64, vissl, ZIP, {}, "VISSL"),
        Case("byol_mmselfsup_legacy", resnet, deep, 64, mmselfsup, LEGACY, {}, "MMSelfSup"),
        Case("s2m2", "wrn:depth=16,widen=1,width=2,image=16", lambda: WideResnet(16, 1, 2), 16, s2m2_module, ZIP, {}, "S2M2_R"),
        Case("meta_baseline", "resnet12:channels=4-6-8-10,image=32", lambda: Resnet12((4, 6, 8, 10)), 32, meta_baseline, ZIP, {}, "Meta-Baseline"),
        Case("dino_mean", arch, vit(8, 2, 2, 8, 32, feature="mean"), 32, plain, ZIP, {"feature": "mean"}, "plain"),
        Case("dinov2_both", arch, vit(8, 2, 2, 8, 32, layer_scale=True, registers=3, feature="cls+mean"), 32, plain, ZIP, {"feature": "cls+mean"}, "DINOv2"),
        Case("dino_transformers", arch, tiny, 32, named(names.vit_transformers), BIN, {}, "names of transformers"),
        Case("dinov2_transformers", arch, vit(8, 2, 2, 8, 32, layer_scale=True, registers=3), 32, named(names.vit_transformers), SAFETENSORS, {}, "names of transformers"),
        Case("dinov2_registers_timm", arch, vit(8, 2, 2, 8, 72, layer_scale=True, registers=3, resize="antialias"), 32, named(names.registers_timm), SAFETENSORS, {}, "names of timm"),
        Case("dino_resnet", resnet, deep, 64, plain, ZIP, {}, "plain"),
        Case("moco_v3_resnet", resnet, deep, 64, moco_v3, ZIP, {}, "MoCo v3"),
        Case("resnet_transformers", resnet, deep, 64, named(names.resnet_transformers), SAFETENSORS, {}, "names of transformers"),
    ] + small_recent_cases()


def small_recent_cases():
    clip = "clip:width=8,depth=2,heads=2,patch=8,image=32"
    open_clip = clip + ",activation=erf"
    clip_resnet = "clip-resnet:blocks=1-1-1-1,width=2,heads=4,image=64"
    siglip = "siglip:width=8,depth=2,heads=2,patch=8,image=32"
    dinov3 = "dinov3:width=16,depth=2,heads=2,patch=8,image=32"
    convnext = "convnext:blocks=1-1-2-1,width=2,image=64"
    tower = lambda **settings: lambda: towers.Clip(towers.ClipTower(8, 2, 2, 8, 32, 6, **settings))  # noqa: E731
    resnet = lambda: towers.Clip(towers.ClipResnetTower((1, 1, 1, 1), 2, 4, 64, 6))  # noqa: E731
    vision = lambda **settings: lambda: towers.Siglip(8, 2, 2, 8, 32, **settings)  # noqa: E731
    rotary = lambda **settings: lambda: recent.Dinov3(16, 2, 2, 8, **settings)  # noqa: E731
    stages = lambda: recent.Convnext((1, 1, 2, 1), 2)  # noqa: E731
    both, mean = {"feature": "cls+mean"}, {"feature": "mean"}
    return [
        Case("clip_script", clip, tower(), 32, plain, SCRIPT, {}, "CLIP, names of OpenAI"),
        Case("clip_resized", clip, tower(), 48, plain, ZIP, {"image_size": 48}, "CLIP, names of OpenAI"),
        Case("clip_both", clip, tower(feature="cls+mean"), 32, plain, SAFETENSORS, both, "CLIP, names of OpenAI"),
        Case("open_clip", open_clip, tower(quick=False), 32, plain, BIN, {}, "CLIP, names of OpenAI"),
        Case("clip_transformers", clip, tower(), 32, named(names.clip_transformers), SAFETENSORS, {}, "CLIP, names of transformers"),
        Case("clip_transformers_mean", clip, tower(feature="mean"), 32, named(names.clip_transformers), BIN, mean, "CLIP, names of transformers"),
        Case("clip_timm", clip, tower(), 32, named(names.clip_timm), SAFETENSORS, {}, "CLIP, names of timm"),
        Case("clip_resnet_script", clip_resnet, resnet, 64, plain, SCRIPT, {}, "CLIP, names of OpenAI"),
        Case("clip_resnet", clip_resnet, resnet, 64, plain, SAFETENSORS, {}, "CLIP, names of OpenAI"),
        Case("clip_resnet_timm", clip_resnet, resnet, 64, named(names.clip_resnet_timm), SAFETENSORS, {}, "CLIP, names of timm"),
        Case("siglip_transformers", siglip, vision(), 32, plain, SAFETENSORS, {}, "SigLIP, names of transformers"),
        Case("siglip_both", siglip, vision(feature="cls+mean"), 32, plain, BIN, both, "SigLIP, names of transformers"),
        Case("siglip_timm", siglip, vision(), 32, named(names.siglip_timm), SAFETENSORS, {}, "SigLIP, names of timm"),
        Case("dinov3", dinov3, rotary(), 32, plain, ZIP, {}, "DINOv3, names of DINOv3"),
        Case("dinov3_larger", dinov3, rotary(), 48, plain, ZIP, {"image_size": 48}, "DINOv3, names of DINOv3"),
        Case("dinov3_plus_both", dinov3, rotary(gated=24, feature="cls+mean"), 32, plain, ZIP, both, "DINOv3, names of DINOv3"),
        Case("dinov3_transformers", dinov3, rotary(), 32, named(names.dinov3_transformers), SAFETENSORS, {}, "DINOv3, names of transformers"),
        Case("dinov3_plus_transformers", dinov3, rotary(gated=24), 32, named(names.dinov3_transformers), BIN, {}, "DINOv3, names of transformers"),
        Case("dinov3_timm", dinov3, rotary(biases=False), 32, named(names.dinov3_timm), SAFETENSORS, {}, "DINOv3, names of timm"),
        Case("dinov3_plus_timm", dinov3, rotary(gated=24), 32, named(lambda state: names.dinov3_timm(state, True)), BIN, {}, "DINOv3, names of timm"),
        Case("convnext", convnext, stages, 64, plain, ZIP, {}, "ConvNeXt, names of its authors"),
        Case("convnext_dinov3", convnext, stages, 64, named(names.convnext_dinov3), ZIP, {}, "ConvNeXt, names of its authors"),
        Case("convnext_timm", convnext, stages, 64, named(names.convnext_timm), SAFETENSORS, {}, "ConvNeXt, names of timm"),
        Case("convnext_transformers", convnext, stages, 64, named(names.convnext_transformers), BIN, {}, "ConvNeXt, names of transformers"),
        Case("convnext_dinov3_transformers", convnext, stages, 64, named(lambda state: names.convnext_transformers(state, True)), SAFETENSORS, {}, "ConvNeXt, names of transformers (DINOv3)"),
        Case("mobilenetv4", "mobilenetv4:image=64", lambda: recent.MobilenetV4(16), 64, plain, SAFETENSORS, {}, "MobileNetV4"),
    ]


def full_cases():
    inert = {"allow_inert_objects": True}
    small, base, large = (384, 12, 6), (768, 12, 12), (1024, 24, 16)
    resnet50 = lambda: Resnet(True, (3, 4, 6, 3))  # noqa: E731
    resnet18 = lambda: Resnet(False, (2, 2, 2, 2))  # noqa: E731
    return [
        Case("dino_vit_s16", "vit-s/16", vit(*small, 16, 224), 224, plain),
        Case("dino_vit_s16_legacy", "vit-s/16", vit(*small, 16, 224), 224, plain, LEGACY),
        Case("dino_vit_s16_training", "vit-s/16", vit(*small, 16, 224), 224, dino_training, ZIP, inert),
        Case("dino_vit_s16_at_320", "vit-s/16", vit(*small, 16, 224), 320, plain, ZIP, {"image_size": 320}),
        Case("dino_vit_s8", "vit-s/8", vit(*small, 8, 224), 224, plain),
        Case("dino_vit_b16_timm", "vit-b/16", vit(*base, 16, 224), 224, timm),
        Case("dino_vit_b8", "vit-b/8", vit(*base, 8, 224), 224, plain),
        Case("moco_v3_vit_s16", "vit-s/16", moco_vit(384, 12, 12, 16, 224), 224, moco_v3, LEGACY),
        Case("moco_v3_vit_s16_backbone", "vit-s/16", moco_vit(384, 12, 12, 16, 224), 224, moco_v3_backbone),
        Case("moco_v3_vit_s16_named", "moco-vit-s/16", moco_vit(384, 12, 12, 16, 224), 224, moco_v3),
        Case("msn_vit_s16", "vit-s/16", vit(*small, 16, 224, resize="exact"), 224, msn),
        Case("msn_vit_b4", "vit-b/4", vit(*base, 4, 224, resize="exact"), 224, msn),
        Case("msn_vit_l7", "vit-l/7", vit(*large, 7, 224, resize="exact"), 224, msn),
        Case("vit_l16", "vit-l/16", vit(*large, 16, 224), 224, timm),
        Case("dinov2_vit_s14", "vit-s/14", vit(*small, 14, 518, layer_scale=True), 224, plain),
        Case("dinov2_vit_b14_registers", "vit-b/14", vit(*base, 14, 518, layer_scale=True, registers=4, resize="antialias"), 224, plain),
        Case("dinov2_vit_l14", "vit-l/14", vit(*large, 14, 518, layer_scale=True), 224, plain),
        Case("pmf_vit_s16", "vit-s/16", vit(*small, 16, 224), 224, pmf),
        Case("pmf_vit_b16", "vit-b/16", vit(*base, 16, 224), 224, pmf),
        Case("pmf_resnet50", "resnet50", resnet50, 224, pmf),
        Case("torchvision_resnet50", "resnet50", resnet50, 224, torchvision_layout),
        Case("torchvision_resnet18", "resnet18", resnet18, 224, torchvision_layout, LEGACY),
        Case("simclr_resnet50_vissl", "resnet50", resnet50, 224, vissl),
        Case("byol_resnet50_mmselfsup", "resnet50", resnet50, 224, mmselfsup),
        Case("byol_resnet50_module", "resnet50", resnet50, 224, byol_module, LEGACY),
        Case("s2m2_wrn_28_10", "wrn-28-10", WideResnet, 80, s2m2_module),
        Case("s2m2_wrn_28_10_cifar", "wrn-28-10", WideResnet, 32, s2m2_feature, ZIP, {"image_size": 32}),
        Case("meta_baseline_resnet12", "resnet12", Resnet12, 80, meta_baseline),
        Case("meta_baseline_resnet12_84", "resnet12", Resnet12, 84, meta_baseline, LEGACY, {"image_size": 84}),
        Case("dino_resnet50", "resnet50", resnet50, 224, plain),
        Case("moco_v3_resnet50", "resnet50", resnet50, 224, moco_v3),
        Case("moco_v3_vit_b16", "vit-b/16", moco_vit(768, 12, 12, 16, 224), 224, moco_v3),
        Case("dinov2_vit_s14_both", "vit-s/14", vit(*small, 14, 518, layer_scale=True, feature="cls+mean"), 224, plain, ZIP, {"feature": "cls+mean"}),
    ] + full_recent_cases()


def full_recent_cases():
    base = (768, 12, 12)
    tower = lambda patch, **settings: lambda: towers.Clip(towers.ClipTower(*base, patch, 224, 512, **settings))  # noqa: E731
    resnet = lambda: towers.Clip(towers.ClipResnetTower((3, 4, 6, 3), 64, 32, 224, 1024))  # noqa: E731
    tiny = lambda: recent.Convnext((3, 3, 9, 3), 96)  # noqa: E731
    return [
        Case("clip_vit_b32", "clip-vit-b/32", tower(32), 224, plain, SCRIPT),
        Case("clip_vit_b16", "clip-vit-b/16", tower(16), 224, plain, SCRIPT),
        Case("clip_vit_b32_transformers", "clip-vit-b/32", tower(32), 224, named(names.clip_transformers), SAFETENSORS),
        Case("open_clip_vit_b16", "openclip-vit-b/16", tower(16, quick=False), 224, plain, BIN),
        Case("clip_rn50", "clip-rn50", resnet, 224, plain, SCRIPT),
        Case("siglip2_b16", "siglip-b/16", lambda: towers.Siglip(*base, 16, 224), 224, plain, SAFETENSORS),
        Case("siglip2_b16_timm", "siglip-b/16", lambda: towers.Siglip(*base, 16, 224), 224, named(names.siglip_timm), SAFETENSORS),
        Case("dinov3_vit_s16", "dinov3-vit-s/16", lambda: recent.Dinov3(384, 12, 6, 16), 224, plain),
        Case("dinov3_vit_s16plus", "dinov3-vit-s/16", lambda: recent.Dinov3(384, 12, 6, 16, gated=1536), 224, plain),
        Case("dinov3_vit_b16_transformers", "dinov3-vit-b/16", lambda: recent.Dinov3(768, 12, 12, 16), 224, named(names.dinov3_transformers), SAFETENSORS),
        Case("dinov3_vit_s16_timm", "dinov3-vit-s/16", lambda: recent.Dinov3(384, 12, 6, 16, biases=False), 224, named(names.dinov3_timm), SAFETENSORS),
        Case("dinov3_convnext_tiny", "convnext-tiny", tiny, 224, named(names.convnext_dinov3)),
        Case("convnext_tiny_timm", "convnext-tiny", tiny, 224, named(names.convnext_timm), SAFETENSORS),
        Case("mobilenetv4_small", "mobilenetv4-small", recent.MobilenetV4, 224, plain, SAFETENSORS),
    ]


def make_network(case, seed):
    net = randomise(case.make(), seed)
    if hasattr(net, "fixed_positions"):
        with torch.no_grad():
            net.pos_embed.copy_(net.fixed_positions)
    if hasattr(net, "restore"):
        with torch.no_grad():
            net.restore()
    return net


class Holder(torch.nn.Module):
    """The tensors of a module under their names, and a forward that can be compiled."""

    def __init__(self, module):
        super().__init__()
        for name, tensor in module.named_parameters(recurse=False):
            self.register_parameter(name, torch.nn.Parameter(tensor.half(), requires_grad=False))
        for name, tensor in module.named_buffers(recurse=False):
            self.register_buffer(name, tensor.half() if tensor.is_floating_point() else tensor)
        for name, child in module.named_children():
            self.add_module(name, Holder(child))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def save_safetensors(state, path):
    """A header of JSON with the place of every tensor, then their bytes."""
    kinds = {torch.float32: "F32", torch.float16: "F16", torch.int64: "I64"}
    header, blocks, at = {}, [], 0
    for name, tensor in state.items():
        data = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": kinds[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + len(data)]}
        blocks.append(data)
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + b"".join(blocks))


def save(case, net, value, path):
    if case.container == SCRIPT:
        torch.jit.save(torch.jit.script(Holder(net)), path)
    elif case.container == SAFETENSORS:
        save_safetensors(value, path)
    else:
        torch.save(value, path, _use_new_zipfile_serialization=case.container != LEGACY)


def write_case(case, folder, full):
    net = make_network(case, 1)
    other = make_network(case, 2).state_dict() if not full else net.state_dict()
    if full and case.layout in (dino_training, moco_v3, msn):
        other = {name: torch.zeros_like(tensor) for name, tensor in other.items()}
    state = net.state_dict()
    with torch.no_grad():
        images = test_images(case.image)[: 1 if full else BATCH]
        if case.name.endswith("_half") or case.container == SCRIPT:
            net = net.half().float()
        features = torch.cat([net(image[None]) for image in images])
    path = case.name + (ZIP if case.container == LEGACY else case.container)
    save(case, net, case.layout(state, other, features.shape[1]), os.path.join(folder, path))
    return {
        "name": case.name,
        "file": path,
        "arch": case.arch,
        "image": case.image,
        "options": case.options,
        "layout": case.layout_word,
        "features": [[float(f"{x:.8g}") for x in row] for row in features.tolist()],
    }


def check_against_torchvision():
    try:
        import torchvision
    except ImportError:
        print("python3-torchvision is not installed: residual networks were not compared with it", file=sys.stderr)
        return
    for name, net in (("resnet50", Resnet(True, (3, 4, 6, 3), 64, 1000)), ("resnet18", Resnet(False, (2, 2, 2, 2), 64, 1000))):
        theirs = getattr(torchvision.models, name)().eval()
        randomise(net, 3)
        theirs.load_state_dict(net.state_dict())
        with torch.no_grad():
            images = test_images(224)[:1]
            assert torch.allclose(theirs(images), net.fc(net(images)), atol=1e-4), name


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--case")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(case.name for case in full_cases()))
        return 0
    os.makedirs(arguments.folder, exist_ok=True)
    torch.manual_seed(0)
    cases = full_cases() if arguments.full else small_cases()
    written = [
        write_case(case, arguments.folder, arguments.full) for case in cases if arguments.case in (None, case.name)
    ]
    if not arguments.full:
        check_against_torchvision()
        written += write_tfjs_cases(arguments.folder, test_images)
    with open(os.path.join(arguments.folder, "cases.json"), "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(case) for case in written) + "\n]\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
