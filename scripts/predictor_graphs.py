#!/usr/bin/env python3
"""Writes the small ONNX classifiers that the tests read, and what onnxruntime makes of them.

    pip install onnx onnxruntime numpy
    python3 scripts/predictor_graphs.py

Every file goes to tests/data/predictors/ (or the folder named as the first argument). They classify rows of the
built-in schema synthetic-census; the weights are drawn from a fixed seed.

    matrix.onnx      one matrix of codes; two outputs, the labels and the probabilities [rows, 2]
    indicators.onnx  one matrix with unordered words as indicators, for exactly 10 rows; logits [10, 2]
    columns.onnx     one input for each attribute, integers for words; one probability a row [rows, 1]
    trees.onnx       a tree ensemble of ai.onnx.ml, which must be refused
    recorded.json    rows as codes, and for each file the probability of the second class
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

# Name, lowest code, codes, whether words, whether ordered, value of the code.
ATTRIBUTES = [
    ("age", 18, 50, False, lambda code: code),
    ("education", 1, 16, False, lambda code: code),
    ("hours_per_week", 0, 10, False, lambda code: 6.0 * code),
    ("occupation", 0, 10, False, lambda code: code),
    ("household", 0, 5, True, lambda code: code),
    ("region", 1, 12, False, lambda code: code),
    ("sex", 0, 2, True, lambda code: code),
    ("origin", 0, 4, True, lambda code: code),
]
HIDDEN, ROWS, FIXED = 6, 64, 10


def matrix(codes, onehot):
    parts = []
    for column, (_, _, levels, is_unordered, value) in zip(codes.T, ATTRIBUTES):
        if onehot and is_unordered:
            parts.append(np.eye(levels)[column])
        else:
            parts.append(np.array([[value(code)] for code in column], dtype=float))
    return np.hstack(parts).astype(np.float32)


def layers(generator, inputs, outputs):
    """Scaled inputs `x` to `z`: one hidden layer. The first layer's weights suit inputs of about 10."""
    shapes = {"w1": (inputs, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, outputs), "b2": (outputs,)}
    scales = {"w1": 0.06, "b1": 0.5, "w2": 1.5, "b2": 0.3}
    weights = [
        numpy_helper.from_array((generator.standard_normal(shape) * scales[name]).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"]),
        helper.make_node("Tanh", ["h"], ["a"]),
        helper.make_node("Gemm", ["a", "w2", "b2"], ["z"]),
    ]
    return nodes, weights


def save(folder, name, nodes, inputs, outputs, weights, opsets=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, weights)
    opset_imports = [helper.make_opsetid("", 17), *opsets]
    model = helper.make_model(graph, opset_imports=opset_imports, ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, folder / f"{name}.onnx")
    return onnxruntime.InferenceSession(model.SerializeToString())


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent / "tests/data/predictors")
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(13)
    codes = np.stack([generator.integers(0, levels, ROWS) + low for _, low, levels, _, _ in ATTRIBUTES], axis=1)
    floats, integers = TensorProto.FLOAT, TensorProto.INT64
    recorded = {"rows": codes.tolist()}

    nodes, weights = layers(generator, len(ATTRIBUTES), 2)
    nodes += [
        helper.make_node("Softmax", ["z"], ["probabilities"], axis=1),
        helper.make_node("ArgMax", ["z"], ["label"], axis=1, keepdims=0),
    ]
    session = save(
        folder,
        "matrix",
        nodes,
        [helper.make_tensor_value_info("x", floats, ["rows", len(ATTRIBUTES)])],
        [
            helper.make_tensor_value_info("label", integers, ["rows"]),
            helper.make_tensor_value_info("probabilities", floats, ["rows", 2]),
        ],
        weights,
    )
    recorded["matrix"] = session.run(["probabilities"], {"x": matrix(codes, False)})[0][:, 1].tolist()

    width = matrix(codes, True).shape[1]
    nodes, weights = layers(generator, width, 2)
    session = save(
        folder,
        "indicators",
        nodes,
        [helper.make_tensor_value_info("x", floats, [FIXED, width])],
        [helper.make_tensor_value_info("z", floats, [FIXED, 2])],
        weights,
    )
    found = []
    for start in range(0, ROWS, FIXED):
        part = matrix(codes[start : start + FIXED], True)
        filled = np.vstack([part, np.repeat(part[-1:], FIXED - len(part), axis=0)])
        logits = session.run(None, {"x": filled})[0][: len(part)]
        found += (1 / (1 + np.exp(logits[:, 0] - logits[:, 1]))).tolist()
    recorded["indicators"] = found

    nodes, weights = layers(generator, len(ATTRIBUTES), 1)
    kinds = {name: integers if is_unordered else floats for name, _, _, is_unordered, _ in ATTRIBUTES}
    casts = [helper.make_node("Cast", [name], [f"{name}_number"], to=floats) for name in kinds]
    concat = helper.make_node("Concat", [f"{name}_number" for name in kinds], ["x"], axis=1)
    sigmoid = helper.make_node("Sigmoid", ["z"], ["score"])
    session = save(
        folder,
        "columns",
        [*casts, concat, *nodes, sigmoid],
        # In another order than the schema's.
        [helper.make_tensor_value_info(name, kind, ["rows", 1]) for name, kind in reversed(kinds.items())],
        [helper.make_tensor_value_info("score", floats, ["rows", 1])],
        weights,
    )
    values = matrix(codes, False)
    fed = {
        name: values[:, [at]].astype(np.int64 if kind == integers else np.float32)
        for at, (name, kind) in enumerate(kinds.items())
    }
    recorded["columns"] = session.run(None, fed)[0][:, 0].tolist()

    tree = helper.make_node(
        "TreeEnsembleClassifier",
        ["x"],
        ["label", "probabilities"],
        domain="ai.onnx.ml",
        nodes_treeids=[0, 0, 0],
        nodes_nodeids=[0, 1, 2],
        nodes_featureids=[0, 0, 0],
        nodes_values=[40.0, 0.0, 0.0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_truenodeids=[1, 0, 0],
        nodes_falsenodeids=[2, 0, 0],
        class_treeids=[0, 0],
        class_nodeids=[1, 2],
        class_ids=[0, 1],
        class_weights=[1.0, 1.0],
        classlabels_int64s=[0, 1],
        post_transform="NONE",
    )
    save(
        folder,
        "trees",
        [tree],
        [helper.make_tensor_value_info("x", floats, ["rows", len(ATTRIBUTES)])],
        [
            helper.make_tensor_value_info("label", integers, ["rows"]),
            helper.make_tensor_value_info("probabilities", floats, ["rows", 2]),
        ],
        [],
        [helper.make_opsetid("ai.onnx.ml", 3)],
    )
    (folder / "recorded.json").write_text(json.dumps(recorded) + "\n")


if __name__ == "__main__":
    main()
