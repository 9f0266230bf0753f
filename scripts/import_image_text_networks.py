"""Plain PyTorch definitions of the image towers of CLIP (tensor names of OpenAI) and SigLIP (tensor names of transformers).

Written from the papers' formulas.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

from import_networks import convolution


def attend(q, k, v, heads):
    """Multi-head attention on batch x tokens x width."""

    def split(x):
        return x.reshape(len(x), x.shape[1], heads, -1).transpose(1, 2)

    q, k, v = split(q), split(k), split(v)
    shares = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(-1)
    return (shares @ v).transpose(1, 2).flatten(2)


def pick(tokens, pooled, front, feature):
    """The feature from normed tokens (batch x tokens x width) and the vector of the class token or of the head."""
    parts = {"cls": [pooled], "mean": [tokens[:, front:].mean(1)], "cls+mean": [pooled, tokens[:, front:].mean(1)]}
    return parts[feature]


# --- CLIP, names of OpenAI ---


class JointAttention(nn.Module):
    """torch.nn.MultiheadAttention's tensors."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.empty(3 * width))
        self.out_proj = nn.Linear(width, width)

    def forward(self, query, tokens):
        wq, wk, wv = self.in_proj_weight.chunk(3)
        bq, bk, bv = self.in_proj_bias.chunk(3)
        mixed = attend(F.linear(query, wq, bq), F.linear(tokens, wk, bk), F.linear(tokens, wv, bv), self.heads)
        return self.out_proj(mixed)


class ClipBlock(nn.Module):
    def __init__(self, width, heads, quick):
        super().__init__()
        self.quick = quick
        self.ln_1 = nn.LayerNorm(width)
        self.attn = JointAttention(width, heads)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(width, 4 * width), "c_proj": nn.Linear(4 * width, width)})

    def forward(self, x):
        y = self.ln_1(x)
        x = x + self.attn(y, y)
        hidden = self.mlp["c_fc"](self.ln_2(x))
        hidden = hidden * torch.sigmoid(1.702 * hidden) if self.quick else F.gelu(hidden)
        return x + self.mlp["c_proj"](hidden)


class ClipTower(nn.Module):
    def __init__(self, width, depth, heads, patch, image, outputs, quick=True, feature="cls"):
        super().__init__()
        self.feature = feature
        self.conv1 = nn.Conv2d(3, width, patch, patch, bias=False)
        self.class_embedding = nn.Parameter(torch.empty(width))
        self.positional_embedding = nn.Parameter(torch.empty(1 + (image // patch) ** 2, width))
        self.ln_pre = nn.LayerNorm(width)
        self.transformer = nn.ModuleDict({"resblocks": nn.ModuleList([ClipBlock(width, heads, quick) for _ in range(depth)])})
        self.ln_post = nn.LayerNorm(width)
        self.proj = nn.Parameter(torch.empty(width, outputs))

    def positions(self, grid):
        n = math.isqrt(len(self.positional_embedding) - 1)
        if n == grid:
            return self.positional_embedding
        table = self.positional_embedding[1:].reshape(1, n, n, -1).permute(0, 3, 1, 2)
        table = F.interpolate(table, size=(grid, grid), mode="bicubic", antialias=True)
        return torch.cat([self.positional_embedding[:1], table[0].flatten(1).t()])

    def forward(self, x):
        patches = self.conv1(x)
        x = torch.cat([self.class_embedding.expand(len(x), 1, -1), patches.flatten(2).transpose(1, 2)], 1)
        x = self.ln_pre(x + self.positions(patches.shape[-1]))
        for block in self.transformer["resblocks"]:
            x = block(x)
        x = self.ln_post(x)
        return torch.cat([part @ self.proj for part in pick(x, x[:, 0], 1, self.feature)], 1)


class Clip(nn.Module):
    """The image tower as `visual`, and a text tower that importers pass over."""

    def __init__(self, tower, width=4):
        super().__init__()
        self.visual = tower
        self.token_embedding = nn.Embedding(3, width)
        self.transformer = nn.ModuleDict({"resblocks": nn.ModuleList([ClipBlock(width, 1, True)])})
        self.ln_final = nn.LayerNorm(width)
        self.text_projection = nn.Parameter(torch.empty(width, 2))
        self.logit_scale = nn.Parameter(torch.empty([]))

    def forward(self, x):
        return self.visual(x)


class ClipResidual(nn.Module):
    def __init__(self, inputs, channels, stride):
        super().__init__()
        self.stride = stride
        self.conv1, self.bn1 = convolution(inputs, channels, 1), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = convolution(channels, channels, 3), nn.BatchNorm2d(channels)
        self.conv3, self.bn3 = convolution(channels, 4 * channels, 1), nn.BatchNorm2d(4 * channels)
        self.downsample = None
        if stride > 1 or inputs != 4 * channels:
            self.downsample = nn.Sequential(convolution(inputs, 4 * channels, 1), nn.BatchNorm2d(4 * channels))

    def forward(self, x):
        y = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        y = self.bn3(self.conv3(F.avg_pool2d(y, self.stride)))
        return F.relu(y + (x if self.downsample is None else self.downsample(F.avg_pool2d(x, self.stride))))


class ClipPool(nn.Module):
    def __init__(self, side, width, heads, outputs):
        super().__init__()
        self.heads = heads
        self.positional_embedding = nn.Parameter(torch.empty(side * side + 1, width))
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(width, width) for _ in range(3))
        self.c_proj = nn.Linear(width, outputs)

    def forward(self, x):
        x = x.flatten(2).transpose(1, 2)
        x = torch.cat([x.mean(1, keepdim=True), x], 1) + self.positional_embedding
        return self.c_proj(attend(self.q_proj(x[:, :1]), self.k_proj(x), self.v_proj(x), self.heads))[:, 0]


class ClipResnetTower(nn.Module):
    def __init__(self, blocks, width, heads, image, outputs):
        super().__init__()
        self.conv1, self.bn1 = convolution(3, width // 2, 3, 2), nn.BatchNorm2d(width // 2)
        self.conv2, self.bn2 = convolution(width // 2, width // 2, 3), nn.BatchNorm2d(width // 2)
        self.conv3, self.bn3 = convolution(width // 2, width, 3), nn.BatchNorm2d(width)
        inputs = width
        for stage, count in enumerate(blocks):
            made = []
            for i in range(count):
                made.append(ClipResidual(inputs, width << stage, 2 if stage and not i else 1))
                inputs = 4 * (width << stage)
            setattr(self, f"layer{stage + 1}", nn.Sequential(*made))
        self.attnpool = ClipPool(image // 32, inputs, heads, outputs)

    def forward(self, x):
        for conv, norm in ((self.conv1, self.bn1), (self.conv2, self.bn2), (self.conv3, self.bn3)):
            x = F.relu(norm(conv(x)))
        return self.attnpool(self.layer4(self.layer3(self.layer2(self.layer1(F.avg_pool2d(x, 2))))))


# --- SigLIP, names of transformers ---


class SplitAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        return self.out_proj(attend(self.q_proj(x), self.k_proj(x), self.v_proj(x), self.heads))


class TanhMlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = self.fc1(x)
        return self.fc2(0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


class SiglipBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.layer_norm1 = nn.LayerNorm(width, eps=1e-6)
        self.self_attn = SplitAttention(width, heads)
        self.layer_norm2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = TanhMlp(width)

    def forward(self, x):
        x = x + self.self_attn(self.layer_norm1(x))
        return x + self.mlp(self.layer_norm2(x))


class SiglipHead(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.probe = nn.Parameter(torch.empty(1, 1, width))
        self.attention = JointAttention(width, heads)
        self.layernorm = nn.LayerNorm(width, eps=1e-6)
        self.mlp = TanhMlp(width)

    def forward(self, x):
        x = self.attention(self.probe.expand(len(x), -1, -1), x)
        return (x + self.mlp(self.layernorm(x)))[:, 0]


class SiglipVision(nn.Module):
    def __init__(self, width, depth, heads, patch, image, feature="cls"):
        super().__init__()
        self.feature = feature
        self.embeddings = nn.ModuleDict(
            {
                "patch_embedding": nn.Conv2d(3, width, patch, patch),
                "position_embedding": nn.Embedding((image // patch) ** 2, width),
            }
        )
        self.encoder = nn.ModuleDict({"layers": nn.ModuleList([SiglipBlock(width, heads) for _ in range(depth)])})
        self.post_layernorm = nn.LayerNorm(width, eps=1e-6)
        self.head = SiglipHead(width, heads)

    def forward(self, x):
        x = self.embeddings["patch_embedding"](x).flatten(2).transpose(1, 2) + self.embeddings["position_embedding"].weight
        for block in self.encoder["layers"]:
            x = block(x)
        x = self.post_layernorm(x)
        return torch.cat(pick(x, self.head(x), 0, self.feature), 1)


class Siglip(nn.Module):
    def __init__(self, *sizes, **settings):
        super().__init__()
        self.vision_model = SiglipVision(*sizes, **settings)
        self.text_model = nn.ModuleDict({"head": nn.Linear(4, 4)})
        self.logit_scale = nn.Parameter(torch.empty(1))

    def forward(self, x):
        return self.vision_model(x)
