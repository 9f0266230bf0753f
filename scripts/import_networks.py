"""Plain PyTorch definitions of the networks the importer writes, under the tensor names of their authors' programs."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(x).reshape(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        shares = (q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)).softmax(-1)
        return self.proj((shares @ v).transpose(1, 2).reshape(batch, tokens, width))


class LayerScale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gamma = nn.Parameter(torch.empty(width))

    def forward(self, x):
        return x * self.gamma


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1 = nn.Linear(width, 4 * width)
        self.fc2 = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class Block(nn.Module):
    def __init__(self, width, heads, layer_scale):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.attn = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = Mlp(width)
        if layer_scale:
            self.ls1 = LayerScale(width)
            self.ls2 = LayerScale(width)
        self.layer_scale = layer_scale

    def forward(self, x):
        mixed = self.attn(self.norm1(x))
        x = x + (self.ls1(mixed) if self.layer_scale else mixed)
        hidden = self.mlp(self.norm2(x))
        return x + (self.ls2(hidden) if self.layer_scale else hidden)


class PatchEmbed(nn.Module):
    def __init__(self, width, patch):
        super().__init__()
        self.proj = nn.Conv2d(3, width, patch, patch)


class Vit(nn.Module):
    """resize: "offset" (DINO), "exact" (MSN) or "antialias" (DINOv2 with registers); feature: "cls", "mean", "cls+mean"."""

    def __init__(self, width, depth, heads, patch, trained_image, layer_scale=False, registers=0, resize="offset", feature="cls"):
        super().__init__()
        self.feature = feature
        self.patch = patch
        self.resize = resize
        self.trained_grid = trained_image // patch
        self.cls_token = nn.Parameter(torch.empty(1, 1, width))
        self.pos_embed = nn.Parameter(torch.empty(1, 1 + self.trained_grid**2, width))
        if registers:
            self.register_tokens = nn.Parameter(torch.empty(1, registers, width))
        self.registers = registers
        self.patch_embed = PatchEmbed(width, patch)
        self.blocks = nn.ModuleList([Block(width, heads, layer_scale) for _ in range(depth)])
        self.norm = nn.LayerNorm(width, eps=1e-6)

    def positions(self, grid):
        if grid == self.trained_grid:
            return self.pos_embed
        n = self.trained_grid
        table = self.pos_embed[:, 1:].reshape(1, n, n, -1).permute(0, 3, 1, 2)
        if self.resize == "antialias":
            table = F.interpolate(table, size=(grid, grid), mode="bicubic", antialias=True)
        else:
            ratio = (grid + (0.1 if self.resize == "offset" else 0.0)) / n
            table = F.interpolate(table, scale_factor=(ratio, ratio), mode="bicubic")
        assert table.shape[-2:] == (grid, grid)
        return torch.cat([self.pos_embed[:, :1], table.permute(0, 2, 3, 1).reshape(1, grid * grid, -1)], 1)

    def forward(self, x):
        patches = self.patch_embed.proj(x)
        grid = patches.shape[-1]
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), patches.flatten(2).transpose(1, 2)], 1)
        x = x + self.positions(grid)
        if self.registers:
            x = torch.cat([x[:, :1], self.register_tokens.expand(len(x), -1, -1), x[:, 1:]], 1)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        first, mean = x[:, 0], x[:, 1 + self.registers :].mean(1)
        return {"cls": first, "mean": mean, "cls+mean": torch.cat([first, mean], 1)}[self.feature]


def sine_cosine_positions(grid, width):
    """The fixed table of MoCo v3; the class token's row is zero."""
    rows, columns = torch.meshgrid(torch.arange(grid).float(), torch.arange(grid).float(), indexing="ij")
    omega = 1.0 / 10000 ** (torch.arange(width // 4) / (width // 4))
    first = rows.flatten()[:, None] * omega
    second = columns.flatten()[:, None] * omega
    table = torch.cat([first.sin(), first.cos(), second.sin(), second.cos()], 1)
    return torch.cat([torch.zeros(1, width), table])[None]


def convolution(inputs, outputs, size, stride=1):
    return nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)


class Basic(nn.Module):
    def __init__(self, inputs, channels, stride):
        super().__init__()
        self.conv1, self.bn1 = convolution(inputs, channels, 3, stride), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = convolution(channels, channels, 3), nn.BatchNorm2d(channels)
        self.downsample = None
        if stride != 1 or inputs != channels:
            self.downsample = nn.Sequential(convolution(inputs, channels, 1, stride), nn.BatchNorm2d(channels))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.downsample(x) if self.downsample else x))


class Bottleneck(nn.Module):
    def __init__(self, inputs, channels, stride):
        super().__init__()
        outputs = 4 * channels
        self.conv1, self.bn1 = convolution(inputs, channels, 1), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = convolution(channels, channels, 3, stride), nn.BatchNorm2d(channels)
        self.conv3, self.bn3 = convolution(channels, outputs, 1), nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        return F.relu(self.bn3(self.conv3(y)) + (self.downsample(x) if self.downsample else x))


class Resnet(nn.Module):
    """torchvision's residual network with any width and number of blocks; checked against torchvision below."""

    def __init__(self, bottleneck, blocks, width=64, classes=0):
        super().__init__()
        self.conv1, self.bn1 = convolution(3, width, 7, 2), nn.BatchNorm2d(width)
        inputs = width
        for stage, count in enumerate(blocks):
            channels = width << stage
            made = []
            for i in range(count):
                made.append((Bottleneck if bottleneck else Basic)(inputs, channels, 2 if stage and not i else 1))
                inputs = channels * (4 if bottleneck else 1)
            setattr(self, f"layer{stage + 1}", nn.Sequential(*made))
        if classes:
            self.fc = nn.Linear(inputs, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        return self.layer4(self.layer3(self.layer2(self.layer1(x)))).mean((2, 3))


class WideBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(inputs), convolution(inputs, outputs, 3, stride)
        self.bn2, self.conv2 = nn.BatchNorm2d(outputs), convolution(outputs, outputs, 3)
        self.convShortcut = None if inputs == outputs else convolution(inputs, outputs, 1, stride)

    def forward(self, x):
        active = F.relu(self.bn1(x))
        y = self.conv2(F.relu(self.bn2(self.conv1(active))))
        return (x if self.convShortcut is None else self.convShortcut(active)) + y


class WideStage(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.layer = nn.Sequential(*blocks)

    def forward(self, x):
        return self.layer(x)


class WideResnet(nn.Module):
    def __init__(self, depth=28, widen=10, width=16):
        super().__init__()
        self.conv1 = convolution(3, width, 3)
        inputs = width
        for stage in range(3):
            outputs = (width << stage) * widen
            blocks = []
            for i in range((depth - 4) // 6):
                blocks.append(WideBlock(inputs, outputs, 2 if stage and not i else 1))
                inputs = outputs
            setattr(self, f"block{stage + 1}", WideStage(blocks))
        self.bn1 = nn.BatchNorm2d(inputs)

    def forward(self, x):
        x = self.block3(self.block2(self.block1(self.conv1(x))))
        return F.relu(self.bn1(x)).mean((2, 3))


class Block12(nn.Module):
    def __init__(self, inputs, channels):
        super().__init__()
        self.conv1, self.bn1 = convolution(inputs, channels, 3), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = convolution(channels, channels, 3), nn.BatchNorm2d(channels)
        self.conv3, self.bn3 = convolution(channels, channels, 3), nn.BatchNorm2d(channels)
        self.downsample = nn.Sequential(convolution(inputs, channels, 1), nn.BatchNorm2d(channels))

    def forward(self, x):
        y = F.leaky_relu(self.bn1(self.conv1(x)), 0.1)
        y = F.leaky_relu(self.bn2(self.conv2(y)), 0.1)
        return F.max_pool2d(F.leaky_relu(self.bn3(self.conv3(y)) + self.downsample(x), 0.1), 2)


class Resnet12(nn.Module):
    def __init__(self, channels=(64, 128, 256, 512)):
        super().__init__()
        inputs = 3
        for stage, outputs in enumerate(channels):
            setattr(self, f"layer{stage + 1}", Block12(inputs, outputs))
            inputs = outputs

    def forward(self, x):
        return self.layer4(self.layer3(self.layer2(self.layer1(x)))).mean((2, 3))


def randomise(module, seed):
    """Random weights on a scale that keeps activations alive, random norms and statistics."""
    generator = torch.Generator().manual_seed(seed)

    def normal(shape, scale):
        return torch.randn(shape, generator=generator) * scale

    with torch.no_grad():
        for name, tensor in list(module.named_parameters()) + list(module.named_buffers()):
            if name.endswith("num_batches_tracked"):
                continue
            if name.endswith("running_var"):
                tensor.copy_(torch.rand(tensor.shape, generator=generator) + 0.5)
            elif tensor.dim() > 1 and "token" not in name and "pos_embed" not in name:
                tensor.copy_(normal(tensor.shape, math.sqrt(1.5 / tensor[0].numel())))
            elif name.endswith("weight") or name.endswith("gamma"):
                tensor.copy_(1 + normal(tensor.shape, 0.2))
            else:
                tensor.copy_(normal(tensor.shape, 0.2))
    return module.eval()
