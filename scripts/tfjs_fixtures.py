"""Small TensorFlow.js models with the features and logits PyTorch computes for the same weights."""
import base64
import json
import os

import numpy as np
import torch
import torch.nn.functional as F


class Weights:
    """Collects weights in manifest order and writes them as shards of uneven size."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.entries, self.blobs = [], []

    def add(self, name, values, quantise=None):
        values = np.asarray(values)
        entry = {"name": name, "shape": list(values.shape), "dtype": str(values.dtype)}
        if quantise:
            levels = {"uint8": 255, "uint16": 65535}[quantise]
            low = float(values.min())
            scale = float(values.max() - values.min()) / levels
            codes = np.round((values - low) / scale).astype(quantise)
            entry["quantization"] = {"dtype": quantise, "scale": scale, "min": low}
            values = codes.astype(np.float32) * np.float32(scale) + np.float32(low)
            self.blobs.append(codes.tobytes())
        else:
            self.blobs.append(values.tobytes())
        self.entries.append(entry)
        return torch.from_numpy(np.array(values))

    def normal(self, name, shape, scale, quantise=None, offset=0.0):
        return self.add(name, (self.random.normal(size=shape) * scale + offset).astype(np.float32), quantise)

    def positive(self, name, shape):
        return self.add(name, (self.random.random(shape) + 0.5).astype(np.float32))

    def write(self, folder, shards):
        data = b"".join(self.blobs)
        names = [f"group1-shard{i + 1}of{shards}.bin" for i in range(shards)]
        step = len(data) // shards + 1
        for i, name in enumerate(names):
            with open(os.path.join(folder, name), "wb") as out:
                out.write(data[i * step : (i + 1) * step])
        return [{"paths": names, "weights": self.entries}]


def kernel(values):
    """height x width x in x out as PyTorch wants it."""
    return values.permute(3, 2, 0, 1)


def same_pad(x, size, stride):
    total = max((-(-x.shape[-1] // stride) - 1) * stride + size - x.shape[-1], 0)
    return F.pad(x, (total // 2, total - total // 2, total // 2, total - total // 2))


def layers_model(images):
    weights = Weights(5)
    layers = []

    def layer(kind, name, inputs, **config):
        layers.append(
            {
                "class_name": kind,
                "name": name,
                "config": {"name": name, **config},
                "inbound_nodes": [[[source, 0, 0, {}] for source in inputs]] if inputs else [],
            }
        )

    def convolution(name, source, inputs, outputs, size, stride, padding):
        layer("Conv2D", name, [source], kernel_size=[size, size], strides=[stride, stride], padding=padding,
              data_format="channels_last", dilation_rate=[1, 1], activation="linear", use_bias=True)
        return (kernel(weights.normal(f"{name}/kernel", (size, size, inputs, outputs), 0.3)),
                weights.normal(f"{name}/bias", (outputs,), 0.2))

    def norm(name, source, channels):
        layer("BatchNormalization", name, [source], axis=[3], epsilon=0.001, center=True, scale=True)
        scale = weights.normal(f"{name}/gamma", (channels,), 0.2, offset=1.0)
        shift = weights.normal(f"{name}/beta", (channels,), 0.2)
        mean = weights.normal(f"{name}/moving_mean", (channels,), 0.2)
        variance = weights.positive(f"{name}/moving_variance", (channels,))
        return lambda x: F.batch_norm(x, mean, variance, scale, shift, eps=0.001)

    layer("InputLayer", "input_1", [], batch_input_shape=[None, 32, 32, 3], dtype="float32")
    layer("ZeroPadding2D", "pad_1", ["input_1"], padding=[[3, 2], [1, 3]], data_format="channels_last")
    w, b = convolution("conv_1", "pad_1", 3, 6, 5, 2, "valid")
    x = F.conv2d(F.pad(images, (1, 3, 3, 2)), w, b, 2)
    x = norm("norm_1", "conv_1", 6)(x)
    layer("Activation", "active_1", ["norm_1"], activation="relu")
    x = F.relu(x)
    layer("ZeroPadding2D", "pad_2", ["active_1"], padding=[[1, 1], [1, 1]], data_format="channels_last")
    layer("MaxPooling2D", "pool_1", ["pad_2"], pool_size=[3, 3], strides=[2, 2], padding="valid", data_format="channels_last")
    x = F.max_pool2d(F.pad(x, (1, 1, 1, 1)), 3, 2)
    w, b = convolution("conv_2", "pool_1", 6, 6, 3, 1, "same")
    y = norm("norm_2", "conv_2", 6)(F.conv2d(x, w, b, padding=1))
    layer("Add", "add_1", ["norm_2", "pool_1"])
    layer("ReLU", "active_2", ["add_1"], max_value=6.0, negative_slope=0.0, threshold=0.0)
    x = F.relu6(y + x)
    layer("GlobalAveragePooling2D", "avg_pool", ["active_2"], data_format="channels_last")
    features = x.mean((2, 3))
    layer("Dense", "classes", ["avg_pool"], units=4, activation="softmax", use_bias=True)
    logits = features @ weights.normal("classes/kernel", (6, 4), 0.5) + weights.normal("classes/bias", (4,), 0.5)
    config = {"name": "resnet50", "layers": layers, "input_layers": [["input_1", 0, 0]], "output_layers": [["classes", 0, 0]]}
    topology = {"keras_version": "2.2.4", "backend": "tensorflow", "model_config": {"class_name": "Model", "config": config}}
    return {"format": "layers-model", "modelTopology": topology}, weights, features, logits


def graph_model(images):
    weights = Weights(6)
    nodes = []

    def text(value):
        return {"s": base64.b64encode(value.encode()).decode()}

    def node(operation, name, inputs=(), **attributes):
        nodes.append({"op": operation, "name": name, "input": list(inputs), "attr": attributes})
        return name

    def constant(name, values):
        node("Const", name)
        return values

    def window(stride, padding):
        return {"strides": {"list": {"i": ["1", str(stride), str(stride), "1"]}}, "padding": text(padding),
                "dilations": {"list": {"i": ["1", "1", "1", "1"]}}, "data_format": text("NHWC")}

    node("Placeholder", "images", (), dtype={"type": "DT_FLOAT"})
    constant("two", weights.add("two", np.float32(2)))
    constant("one", weights.add("one", np.float32(1)))
    node("Mul", "scaled", ["images", "two"])
    node("Sub", "centred", ["scaled", "one"])
    w = constant("w1", weights.normal("w1", (3, 3, 3, 4), 0.4, "uint8"))
    b = constant("b1", weights.normal("b1", (4,), 0.2))
    node("_FusedConv2D", "first", ["centred", "w1", "b1"], **window(2, "SAME"),
         fused_ops={"list": {"s": [text("BiasAdd")["s"], text("Relu6")["s"]]}})
    x = F.relu6(F.conv2d(same_pad(images * 2 - 1, 3, 2), kernel(w), b, 2))
    w = constant("w2", weights.normal("w2", (3, 3, 4, 2), 0.4, "uint16"))
    b = constant("b2", weights.normal("b2", (8,), 0.2))
    node("DepthwiseConv2dNative", "second", ["first", "w2"], **window(2, "SAME"))
    node("BiasAdd", "second_bias", ["second", "b2"], data_format=text("NHWC"))
    node("Relu6", "second_relu", ["second_bias"])
    x = F.relu6(F.conv2d(same_pad(x, 3, 2), w.permute(2, 3, 0, 1).reshape(8, 1, 3, 3), b, 2, groups=4))
    constant("axes", weights.add("axes", np.array([1, 2], np.int32)))
    node("Mean", "pooled", ["second_relu", "axes"], keep_dims={"b": True})
    features = x.mean((2, 3))
    w = constant("w3", weights.normal("w3", (1, 1, 8, 5), 0.5))
    b = constant("b3", weights.normal("b3", (5,), 0.5))
    node("_FusedConv2D", "classes", ["pooled", "w3", "b3"], **window(1, "VALID"), fused_ops={"list": {"s": [text("BiasAdd")["s"]]}})
    node("Squeeze", "logits", ["classes"], squeeze_dims={"list": {"i": ["1", "2"]}})
    logits = features @ w[0, 0] + b
    nodes.reverse()  # a graph need not be listed in the order it is computed
    return {"format": "graph-model", "modelTopology": {"node": nodes, "versions": {}}}, weights, features, logits


def write_tfjs_cases(folder, test_images):
    cases = []
    for name, make, image, shards, word in (
        ("tfjs_layers", layers_model, 32, 3, "layers-model"),
        ("tfjs_graph", graph_model, 30, 1, "graph-model"),
    ):
        target = os.path.join(folder, name)
        os.makedirs(target, exist_ok=True)
        with torch.no_grad():
            model, weights, features, logits = make(test_images(image))
        model["weightsManifest"] = weights.write(target, shards)
        with open(os.path.join(target, "model.json"), "w") as out:
            json.dump(model, out)
        rows = lambda values: [[float(f"{x:.8g}") for x in row] for row in values.tolist()]  # noqa: E731
        cases.append({"name": name, "file": name, "arch": "", "image": image, "options": {"image_size": image},
                      "layout": word, "features": rows(features), "logits": rows(logits)})
    return cases
