"""The names that timm and transformers give the tensors of networks: each function renames a state dict."""
import collections

import torch


def renamed(state, pairs):
    """Replaces parts of names, in order."""
    out = collections.OrderedDict()
    for name, tensor in state.items():
        for old, new in pairs:
            name = name.replace(old, new)
        out[name] = tensor
    return out


def split_joint(state, joint, parts):
    """One weight or bias of queries, keys and values as three."""
    out = collections.OrderedDict()
    for name, tensor in state.items():
        if joint in name:
            stem, kind = name.split(joint)
            for part, piece in zip(parts, tensor.chunk(3)):
                out[f"{stem}{part}.{kind[1:]}"] = piece.clone()
        else:
            out[name] = tensor
    return out


def clip_transformers(state):
    """From the names of a whole OpenAI model."""
    visual = collections.OrderedDict((k[7:], v) for k, v in state.items() if k.startswith("visual."))
    visual = split_joint(visual, "attn.in_proj", ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"])
    projection = visual.pop("proj")
    out = renamed(
        visual,
        [
            ("conv1", "embeddings.patch_embedding"),
            ("class_embedding", "embeddings.class_embedding"),
            ("positional_embedding", "embeddings.position_embedding.weight"),
            ("ln_pre", "pre_layrnorm"),
            ("ln_post", "post_layernorm"),
            ("transformer.resblocks", "encoder.layers"),
            ("attn.out_proj", "self_attn.out_proj"),
            ("ln_", "layer_norm"),
            ("c_fc", "fc1"),
            ("c_proj", "fc2"),
        ],
    )
    out = collections.OrderedDict(("vision_model." + k, v) for k, v in out.items())
    out["visual_projection.weight"] = projection.t().contiguous()
    out["text_model.final_layer_norm.weight"] = state["ln_final.weight"]
    return out


def clip_timm(state):
    visual = collections.OrderedDict((k[7:], v) for k, v in state.items() if k.startswith("visual."))
    projection = visual.pop("proj")
    visual["class_embedding"] = visual["class_embedding"].reshape(1, 1, -1)
    visual["positional_embedding"] = visual["positional_embedding"][None]
    out = renamed(
        visual,
        [
            ("conv1", "patch_embed.proj"),
            ("class_embedding", "cls_token"),
            ("positional_embedding", "pos_embed"),
            ("ln_pre", "norm_pre"),
            ("ln_post", "norm"),
            ("transformer.resblocks", "blocks"),
            ("attn.in_proj_", "attn.qkv."),
            ("attn.out_proj", "attn.proj"),
            ("ln_", "norm"),
            ("c_fc", "fc1"),
            ("c_proj", "fc2"),
        ],
    )
    out["head.weight"], out["head.bias"] = projection.t().contiguous(), torch.zeros(projection.shape[1])
    return out


def clip_resnet_timm(state):
    """From the names of a whole OpenAI model, as timm names its residual networks of blocks."""
    pooling = {"positional_embedding": "pos_embed", "q_proj": "q", "k_proj": "k", "v_proj": "v", "c_proj": "proj"}
    out = collections.OrderedDict()
    for name, tensor in state.items():
        if not name.startswith("visual."):
            continue
        first, *rest = name[len("visual.") :].split(".")
        if first == "attnpool":
            parts = ["head", pooling[rest[0]], *rest[1:]]
        elif first.startswith("layer"):
            block, layer, *rest = rest
            parts = ["stages", str(int(first[-1]) - 1), block]
            if layer == "downsample":
                parts += ["shortcut", "conv", ("conv", "bn")[int(rest[0])], *rest[1:]]
            else:
                parts += [f"conv{layer[-1]}_{'kxk' if layer[-1] == '2' else '1x1'}", layer[:-1], *rest]
        else:
            parts = ["stem", f"conv{first[-1]}", first[:-1], *rest]
        out[".".join(parts)] = tensor
    return out


def resnet_transformers(state):
    """From torchvision's names."""
    kinds = {"conv": "convolution", "bn": "normalization"}
    out = collections.OrderedDict()
    for name, tensor in state.items():
        first, *rest = name.split(".")
        if first.startswith("layer"):
            block, layer, *rest = rest
            parts = ["encoder", "stages", str(int(first[-1]) - 1), "layers", block]
            if layer == "downsample":
                parts += ["shortcut", list(kinds.values())[int(rest[0])], *rest[1:]]
            else:
                parts += ["layer", str(int(layer[-1]) - 1), kinds[layer[:-1]], *rest]
        else:
            parts = ["embedder", "embedder", kinds[first[:-1]], *rest]
        out["resnet." + ".".join(parts)] = tensor
    return out


def siglip_timm(state):
    out = collections.OrderedDict()
    for name, tensor in state.items():
        if not name.startswith("vision_model."):
            continue
        name = name[len("vision_model.") :]
        if "self_attn.q_proj" in name:
            parts = [state["vision_model." + name.replace("q_proj", other)] for other in ("q_proj", "k_proj", "v_proj")]
            name, tensor = name.replace("self_attn.q_proj", "attn.qkv"), torch.cat(parts)
        elif "k_proj" in name or "v_proj" in name:
            continue
        elif name.startswith("head.attention.in_proj_"):
            kind = name.split("in_proj_")[1]
            third = len(tensor) // 3
            out["attn_pool.q." + kind], out["attn_pool.kv." + kind] = tensor[:third].clone(), tensor[third:].clone()
            continue
        elif name == "embeddings.position_embedding.weight":
            tensor = tensor[None]
        out[name] = tensor
    return renamed(
        out,
        [
            ("embeddings.patch_embedding", "patch_embed.proj"),
            ("embeddings.position_embedding.weight", "pos_embed"),
            ("encoder.layers", "blocks"),
            ("self_attn.out_proj", "attn.proj"),
            ("layer_norm", "norm"),
            ("post_layernorm", "norm"),
            ("head.probe", "attn_pool.latent"),
            ("head.attention.out_proj", "attn_pool.proj"),
            ("head.layernorm", "attn_pool.norm"),
            ("head.mlp", "attn_pool.mlp"),
        ],
    )


def dinov3_timm(state, biases=False):
    """biases: timm's networks whose names say qkvb; the others have none of queries, keys and values."""
    out = collections.OrderedDict()
    for name, tensor in state.items():
        if name.endswith("qkv.bias"):
            if biases:
                query, _, value = tensor.chunk(3)
                out[name.replace("qkv.bias", "q_bias")], out[name.replace("qkv.bias", "v_bias")] = query.clone(), value.clone()
        elif "bias_mask" not in name and "periods" not in name and name != "mask_token":
            out[name] = tensor
    pairs = [("storage_tokens", "reg_token"), ("ls1.gamma", "gamma_1"), ("ls2.gamma", "gamma_2")]
    return renamed(out, pairs + [("mlp.w1", "mlp.fc1_g"), ("mlp.w2", "mlp.fc1_x"), ("mlp.w3", "mlp.fc2")])


def dinov3_transformers(state):
    state = collections.OrderedDict((k, v) for k, v in state.items() if "bias_mask" not in k and "periods" not in k)
    state = split_joint(state, "attn.qkv", ["attention.q_proj", "attention.k_proj", "attention.v_proj"])
    state = collections.OrderedDict((k, v) for k, v in state.items() if not k.endswith("k_proj.bias"))
    return renamed(
        state,
        [
            ("cls_token", "embeddings.cls_token"),
            ("storage_tokens", "embeddings.register_tokens"),
            ("mask_token", "embeddings.mask_token"),
            ("patch_embed.proj", "embeddings.patch_embeddings"),
            ("blocks.", "layer."),
            (".attn.proj", ".attention.o_proj"),
            (".ls1.gamma", ".layer_scale1.lambda1"),
            (".ls2.gamma", ".layer_scale2.lambda1"),
            ("mlp.fc1", "mlp.up_proj"),
            ("mlp.fc2", "mlp.down_proj"),
            ("mlp.w1", "mlp.gate_proj"),
            ("mlp.w2", "mlp.up_proj"),
            ("mlp.w3", "mlp.down_proj"),
        ],
    )


def convnext_timm(state):
    pairs = [("downsample_layers.0.", "stem.")]
    pairs += [(f"downsample_layers.{stage}.", f"stages.{stage}.downsample.") for stage in (1, 2, 3)]
    pairs += [("dwconv", "conv_dw"), ("pwconv1", "mlp.fc1"), ("pwconv2", "mlp.fc2")]
    out = collections.OrderedDict()
    for name, tensor in renamed(state, pairs).items():
        parts = name.split(".")
        if parts[0] == "stages" and parts[2] != "downsample":
            parts.insert(2, "blocks")
        if parts[0] == "norm":
            parts.insert(0, "head")
        out[".".join(parts)] = tensor
    return out


def convnext_transformers(state, dinov3=False):
    out = collections.OrderedDict()
    for name, tensor in state.items():
        parts = name.split(".")
        if parts[0] == "downsample_layers":
            if dinov3:
                parts = ["stages", parts[1], "downsample_layers", *parts[2:]]
            elif parts[1] == "0":
                parts = ["embeddings", "patch_embeddings" if parts[2] == "0" else "layernorm", parts[3]]
            else:
                parts = ["encoder", "stages", parts[1], "downsampling_layer", *parts[2:]]
        elif parts[0] == "stages":
            words = {"dwconv": "depthwise_conv", "norm": "layer_norm", "pwconv1": "pointwise_conv1", "pwconv2": "pointwise_conv2"}
            if not dinov3:
                words = {"norm": "layernorm", "gamma": "layer_scale_parameter"}
            parts = ["stages", parts[1], "layers", parts[2], words.get(parts[3], parts[3]), *parts[4:]]
            parts = parts if dinov3 else ["encoder", *parts]
        elif parts[0] == "norm":
            parts[0] = "layer_norm" if dinov3 else "layernorm"
        out[".".join(parts)] = tensor
    return out


def convnext_dinov3(state):
    """DINOv3 lists its last norm twice."""
    return collections.OrderedDict([*state.items(), ("norms.3.weight", state["norm.weight"]), ("norms.3.bias", state["norm.bias"])])


def vit_transformers(state):
    """ViT and DINO; with layer scale DINOv2."""
    scaled = "blocks.0.ls1.gamma" in state
    parts = ["attention.attention.query", "attention.attention.key", "attention.attention.value"]
    pairs = [
        ("cls_token", "embeddings.cls_token"),
        ("pos_embed", "embeddings.position_embeddings"),
        ("register_tokens", "embeddings.register_tokens"),
        ("patch_embed.proj", "embeddings.patch_embeddings.projection"),
        ("blocks.", "encoder.layer."),
        ("attn.proj", "attention.output.dense"),
        ("ls1.gamma", "layer_scale1.lambda1"),
        ("ls2.gamma", "layer_scale2.lambda1"),
    ]
    if not scaled:
        pairs += [("norm1", "layernorm_before"), ("norm2", "layernorm_after")]
        pairs += [("mlp.fc1", "intermediate.dense"), ("mlp.fc2", "output.dense")]
    out = renamed(split_joint(state, "attn.qkv", parts), pairs)
    return collections.OrderedDict(("layer" + k if k.startswith("norm.") else k, v) for k, v in out.items())


def registers_timm(state):
    """timm adds the class token's position to the class token and keeps the positions of patches alone."""
    out = collections.OrderedDict(state)
    table = out["pos_embed"]
    out["cls_token"] = out["cls_token"] + table[:, :1]
    out["pos_embed"] = table[:, 1:].clone()
    return renamed(out, [("register_tokens", "reg_token")])
