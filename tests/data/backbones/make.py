"""Writes the tiny ONNX models of this folder: one convolution of known weights behind every shape of input and output that a backbone may have.

Run by a Python that has numpy and onnx (Debian: /usr/bin/python3 with python3-onnx); the test recomputes the convolution itself.
"""
import pathlib

import numpy
from onnx import TensorProto, helper, numpy_helper, save

FOLDER = pathlib.Path(__file__).resolve().parent
FLOAT, HALF, BYTE = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.UINT8


def weights(dtype):
    o, c, y, x = numpy.indices((5, 3, 4, 4))
    return ((o * 7 + c * 5 + y * 3 + x) % 11 - 5).astype(dtype) / dtype(16)


def write(name, inputs, outputs, nodes, dtype=numpy.float32, constants=(), metadata=()):
    values = [numpy_helper.from_array(weights(dtype), "kernel")]
    values += [numpy_helper.from_array(value, key) for key, value in constants]
    graph = helper.make_graph(nodes, name, inputs, outputs, values)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="annulus tests")
    model.ir_version = 7
    for key, value in metadata:
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    save(model, FOLDER / f"{name}.onnx")


def tensor(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, **attributes)


CONVOLVE = node("Conv", ["image", "kernel"], ["map"], kernel_shape=[4, 4], strides=[4, 4])
POOL = [node("GlobalAveragePool", ["map"], ["mean"]), node("Flatten", ["mean"], ["features"])]
TO_FIRST = node("Transpose", ["pixels"], ["image"], perm=[0, 3, 1, 2])
FREE, ONE, FOUR = ["n", 3, 8, 8], [1, 3, 8, 8], [4, 3, 8, 8]

write("vector", [tensor("image", FREE)], [tensor("features", ["n", 5])], [CONVOLVE, *POOL],
      metadata=[("annulus.preprocess", "a recipe")])
write("any_size", [tensor("image", ["n", 3, "h", "w"])], [tensor("features", ["n", 5])], [CONVOLVE, *POOL])
write("fixed_one", [tensor("image", ONE)], [tensor("features", [1, 5])], [CONVOLVE, *POOL])
write("fixed_four", [tensor("image", FOUR)], [tensor("features", [4, 5])], [CONVOLVE, *POOL])
write("channels_last", [tensor("pixels", ["n", 8, 8, 3])], [tensor("features", ["n", 5])], [TO_FIRST, CONVOLVE, *POOL])
write("half", [tensor("image", FREE, HALF)], [tensor("features", ["n", 5], HALF)], [CONVOLVE, *POOL], dtype=numpy.float16)
write("map", [tensor("image", FREE)], [tensor("map", ["n", 5, 2, 2])], [CONVOLVE])
write("map_channels_last", [tensor("pixels", ["n", 8, 8, 3])], [tensor("last", ["n", 2, 2, 5])],
      [TO_FIRST, CONVOLVE, node("Transpose", ["map"], ["last"], perm=[0, 2, 3, 1])])
# Four patch tokens behind a class token that is twice their mean; a second output must not be taken for the features.
write("tokens", [tensor("image", FREE)], [tensor("logits", ["n", 5]), tensor("last_hidden_state", ["n", 5, 5])],
      [CONVOLVE, node("Reshape", ["map", "flat"], ["columns"]), node("Transpose", ["columns"], ["patches"], perm=[0, 2, 1]),
       node("ReduceMean", ["patches"], ["average"], axes=[1], keepdims=1), node("Add", ["average", "average"], ["class"]),
       node("Concat", ["class", "patches"], ["last_hidden_state"], axis=1), node("ReduceMax", ["columns"], ["logits"], axes=[2], keepdims=0)],
      constants=[("flat", numpy.array([0, 5, 4], dtype=numpy.int64))])
# What must be refused.
write("two_inputs", [tensor("image", FREE), tensor("text", ["n", 5])], [tensor("features", ["n", 5])],
      [CONVOLVE, node("GlobalAveragePool", ["map"], ["mean"]), node("Flatten", ["mean"], ["flat"]), node("Add", ["flat", "text"], ["features"])])
write("grey", [tensor("grey", ["n", 1, 8, 8])], [tensor("features", ["n", 5])],
      [node("Concat", ["grey", "grey", "grey"], ["image"], axis=1), CONVOLVE, *POOL])
write("bytes", [tensor("bytes", FREE, BYTE)], [tensor("features", ["n", 5])], [node("Cast", ["bytes"], ["image"], to=FLOAT), CONVOLVE, *POOL])
write("two_outputs", [tensor("image", FREE)], [tensor("left", ["n", 5]), tensor("right", ["n", 5])],
      [CONVOLVE, node("GlobalAveragePool", ["map"], ["mean"]), node("Flatten", ["mean"], ["left"]), node("Add", ["left", "left"], ["right"])])
