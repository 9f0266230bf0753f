"""Plain PyTorch definitions of DINOv3, ConvNeXt (tensor names of their authors) and MobileNetV4 (tensor names of timm).

Written from the papers' formulas.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

from import_image_text_networks import attend, pick
from import_networks import LayerScale, PatchEmbed, convolution


# --- DINOv3 ---


def rotate(x, heads, angles, front):
    """angles: patches x head width / 2. The two halves of a head turn with each other; tokens in front stay."""
    kept, x = x[:, :front], x[:, front:]
    batch, count, width = x.shape
    first, second = x.reshape(batch, count, heads, 2, -1).unbind(3)
    sine, cosine = angles.sin()[:, None], angles.cos()[:, None]
    turned = torch.stack([first * cosine - second * sine, second * cosine + first * sine], 3)
    return torch.cat([kept, turned.reshape(batch, count, width)], 1)


class MaskedLinear(nn.Linear):
    def __init__(self, width):
        super().__init__(width, 3 * width)
        self.register_buffer("bias_mask", torch.empty(3 * width))

    def forward(self, x):
        return F.linear(x, self.weight, self.bias * self.bias_mask)


class RotaryAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = MaskedLinear(width)
        self.proj = nn.Linear(width, width)

    def forward(self, x, angles, front):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k = rotate(q, self.heads, angles, front), rotate(k, self.heads, angles, front)
        return self.proj(attend(q, k, v, self.heads))


class PlainMlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class GatedMlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(width, hidden), nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        return self.w3(F.silu(self.w1(x)) * self.w2(x))


class Dinov3Block(nn.Module):
    def __init__(self, width, heads, gated):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = RotaryAttention(width, heads)
        self.ls1, self.ls2 = LayerScale(width), LayerScale(width)
        self.mlp = GatedMlp(width, gated) if gated else PlainMlp(width)

    def forward(self, x, angles, front):
        x = x + self.ls1(self.attn(self.norm1(x), angles, front))
        return x + self.ls2(self.mlp(self.norm2(x)))


class Dinov3(nn.Module):
    """gated: the hidden width of a gated MLP; 0: a plain one. biases: those of queries and values are not zero."""

    def __init__(self, width, depth, heads, patch, storage=4, gated=0, feature="cls", biases=True):
        super().__init__()
        self.biases = biases
        self.feature = feature
        self.front = 1 + storage
        self.cls_token = nn.Parameter(torch.empty(1, 1, width))
        self.storage_tokens = nn.Parameter(torch.empty(1, storage, width))
        self.mask_token = nn.Parameter(torch.empty(1, width))
        self.patch_embed = PatchEmbed(width, patch)
        self.rope_embed = nn.Module()
        self.rope_embed.register_buffer("periods", torch.empty(width // heads // 4))
        self.blocks = nn.ModuleList([Dinov3Block(width, heads, gated) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)

    def restore(self):
        """What random numbers must not change."""
        periods = self.rope_embed.periods
        periods.copy_(100.0 ** (torch.arange(len(periods)) / len(periods)))
        for block in self.blocks:
            if not self.biases:
                block.attn.qkv.bias.zero_()
            mask = block.attn.qkv.bias_mask
            mask.fill_(1.0)
            mask[len(mask) // 3 : 2 * len(mask) // 3] = 0.0

    def forward(self, x):
        patches = self.patch_embed.proj(x)
        grid = patches.shape[-1]
        places = 2 * (torch.arange(grid) + 0.5) / grid - 1
        rows, columns = torch.meshgrid(places, places, indexing="ij")
        waves = 2 * math.pi / self.rope_embed.periods
        angles = torch.cat([rows.reshape(-1, 1) * waves, columns.reshape(-1, 1) * waves], 1)
        front = [self.cls_token.expand(len(x), -1, -1), self.storage_tokens.expand(len(x), -1, -1)]
        x = torch.cat([*front, patches.flatten(2).transpose(1, 2)], 1)
        for block in self.blocks:
            x = block(x, angles, self.front)
        x = self.norm(x)
        return torch.cat(pick(x, x[:, 0], self.front, self.feature), 1)


# --- ConvNeXt, names of its authors ---


class ConvnextBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.dwconv = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
        self.norm = nn.LayerNorm(channels, eps=1e-6)
        self.pwconv1, self.pwconv2 = nn.Linear(channels, 4 * channels), nn.Linear(4 * channels, channels)
        self.gamma = nn.Parameter(torch.empty(channels))

    def forward(self, x):
        y = self.norm(self.dwconv(x).permute(0, 2, 3, 1))
        return x + (self.gamma * self.pwconv2(F.gelu(self.pwconv1(y)))).permute(0, 3, 1, 2)


class ChannelNorm(nn.LayerNorm):
    def __init__(self, channels):
        super().__init__(channels, eps=1e-6)

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Convnext(nn.Module):
    def __init__(self, blocks, width):
        super().__init__()
        channels = [width << stage for stage in range(4)]
        self.downsample_layers = nn.ModuleList([nn.Sequential(nn.Conv2d(3, width, 4, 4), ChannelNorm(width))])
        for stage in range(1, 4):
            step = nn.Conv2d(channels[stage - 1], channels[stage], 2, 2)
            self.downsample_layers.append(nn.Sequential(ChannelNorm(channels[stage - 1]), step))
        self.stages = nn.ModuleList(
            [nn.Sequential(*[ConvnextBlock(channels[stage]) for _ in range(count)]) for stage, count in enumerate(blocks)]
        )
        self.norm = nn.LayerNorm(channels[-1], eps=1e-6)

    def forward(self, x):
        for step, stage in zip(self.downsample_layers, self.stages):
            x = stage(step(x))
        return self.norm(x.mean((2, 3)))


# --- MobileNetV4, names of timm ---


class ConvNorm(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride=1, groups=1, active=True):
        super().__init__()
        self.active = active
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
        self.bn = nn.BatchNorm2d(outputs)

    def forward(self, x):
        x = self.bn(self.conv(x))
        return F.relu(x) if self.active else x


class PlainConv(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return F.relu(self.bn1(self.conv(x)))


class InvertedBottleneck(nn.Module):
    """start, middle: kernels of the depthwise convolutions; 0: there is none."""

    def __init__(self, inputs, outputs, start, middle, stride, expansion):
        super().__init__()
        hidden = inputs * expansion
        self.skips = stride == 1 and inputs == outputs
        self.dw_start = self.dw_mid = nn.Identity()
        if start:
            self.dw_start = ConvNorm(inputs, inputs, start, 1 if middle else stride, inputs, False)
        self.pw_exp = ConvNorm(inputs, hidden, 1)
        if middle:
            self.dw_mid = ConvNorm(hidden, hidden, middle, stride, hidden)
        self.pw_proj = ConvNorm(hidden, outputs, 1, active=False)

    def forward(self, x):
        y = self.pw_proj(self.dw_mid(self.pw_exp(self.dw_start(x))))
        return x + y if self.skips else y


class MobilenetV4(nn.Module):
    """The small convolutional network; `share` divides its channels."""

    def __init__(self, share=1):
        super().__init__()
        c = lambda channels: channels // share  # noqa: E731
        self.conv_stem, self.bn1 = convolution(3, c(32), 3, 2), nn.BatchNorm2d(c(32))
        three = [InvertedBottleneck(c(64), c(96), 5, 5, 2, 3)]
        three += [InvertedBottleneck(c(96), c(96), 0, 3, 1, 2) for _ in range(4)]
        three += [InvertedBottleneck(c(96), c(96), 3, 0, 1, 4)]
        four = [InvertedBottleneck(c(96), c(128), 3, 3, 2, 6)]
        for start, middle, expansion in ((5, 5, 4), (0, 5, 4), (0, 5, 3), (0, 3, 4), (0, 3, 4)):
            four.append(InvertedBottleneck(c(128), c(128), start, middle, 1, expansion))
        self.blocks = nn.Sequential(
            nn.Sequential(PlainConv(c(32), c(32), 3, 2), PlainConv(c(32), c(32), 1, 1)),
            nn.Sequential(PlainConv(c(32), c(96), 3, 2), PlainConv(c(96), c(64), 1, 1)),
            nn.Sequential(*three),
            nn.Sequential(*four),
            nn.Sequential(PlainConv(c(128), c(960), 1, 1)),
        )
        self.conv_head, self.norm_head = convolution(c(960), c(1280), 1), nn.BatchNorm2d(c(1280))

    def forward(self, x):
        x = self.blocks(F.relu(self.bn1(self.conv_stem(x))))
        return F.relu(self.norm_head(self.conv_head(x.mean((2, 3), keepdim=True)))).flatten(1)
