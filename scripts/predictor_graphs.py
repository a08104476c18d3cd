#!/usr/bin/env python3
"""Writes the small ONNX classifiers that the tests read, and what onnxruntime makes of them.

    pip install onnx onnxruntime numpy
    python3 scripts/predictor_graphs.py

Every file goes to tests/data/predictors/ (or the folder named as the first argument). They classify rows of the
built-in schema synthetic-census; the weights are drawn from a fixed seed.

    matrix.onnx      one matrix of codes; two outputs, the labels and the probabilities [rows, 2]
    indicators.onnx  one matrix with unordered words as indicators, for exactly 10 rows; logits [10, 2]
    columns.onnx     one input for each attribute, integers for words; one probability a row [rows, 1]
    trees.onnx       one matrix; trees of ai.onnx.ml with every comparison, on numbers that rows have
    words.onnx       one input for some of the attributes, words as they are; a dictionary a row, classes the other way
    mapper.onnx      an operator of ai.onnx.ml that must be refused
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


def trees(generator, count=6, depth=3):
    """Full trees whose thresholds are numbers that rows have; of the bins' attribute there is none."""
    modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    features = [at for at, (name, *_) in enumerate(ATTRIBUTES) if name != "hours_per_week"]
    found = {f"nodes_{name}": [] for name in "treeids nodeids featureids modes values truenodeids falsenodeids".split()}
    found.update({f"class_{name}": [] for name in "treeids nodeids ids weights".split()})
    found["nodes_missing_value_tracks_true"] = []
    for tree in range(count):
        for node in range(2 ** (depth + 1) - 1):
            is_leaf = node >= 2**depth - 1
            feature = int(generator.choice(features))
            _, low, levels, _, _ = ATTRIBUTES[feature]
            weight = abs(round(generator.random()) - 0.1 * generator.random()) / count
            for name, value in {
                "treeids": tree,
                "nodeids": node,
                "featureids": feature,
                "modes": "LEAF" if is_leaf else str(generator.choice(modes)),
                "values": 0.0 if is_leaf else float(generator.integers(0, levels) + low),
                "truenodeids": 0 if is_leaf else 2 * node + 1,
                "falsenodeids": 0 if is_leaf else 2 * node + 2,
                "missing_value_tracks_true": int(generator.integers(0, 2)),
            }.items():
                found[f"nodes_{name}"].append(value)
            for kind, part in enumerate([weight, 1 / count - weight]) if is_leaf else ():
                for name, value in {"treeids": tree, "nodeids": node, "ids": kind, "weights": part}.items():
                    found[f"class_{name}"].append(value)
    return found


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

    labels = helper.make_tensor_value_info("label", integers, ["rows"])
    probabilities = helper.make_tensor_value_info("probabilities", floats, ["rows", 2])
    learned = [helper.make_opsetid("ai.onnx.ml", 3)]
    tree = helper.make_node(
        "TreeEnsembleClassifier",
        ["x"],
        ["label", "probabilities"],
        domain="ai.onnx.ml",
        classlabels_int64s=[0, 1],
        post_transform="NONE",
        **trees(generator),
    )
    session = save(
        folder,
        "trees",
        [tree],
        [helper.make_tensor_value_info("x", floats, ["rows", len(ATTRIBUTES)])],
        [labels, probabilities],
        [],
        learned,
    )
    recorded["trees"] = session.run(["probabilities"], {"x": matrix(codes, False)})[0][:, 1].tolist()

    words = {"sex": ["female", "male"], "origin": ["north", "east", "south", "west"]}
    weights = [0.04 * generator.standard_normal(), *generator.standard_normal(6).tolist()]
    nodes = [
        helper.make_node("Scaler", ["age"], ["age_scaled"], domain="ai.onnx.ml", offset=[40.0], scale=[0.5]),
        *(
            helper.make_node("OneHotEncoder", [name], [f"{name}_is"], domain="ai.onnx.ml", cats_strings=levels, zeros=0)
            for name, levels in words.items()
        ),
        helper.make_node("Concat", ["sex_is", "origin_is"], ["is"], axis=-1),
        helper.make_node("Reshape", ["is", "flat"], ["indicators"]),
        helper.make_node("Concat", ["age_scaled", "indicators"], ["x"], axis=1),
        helper.make_node(
            "LinearClassifier",
            ["x"],
            ["label", "scores"],
            domain="ai.onnx.ml",
            coefficients=[-weight for weight in weights] + weights,
            intercepts=[0.2, -0.2],
            classlabels_strings=["high", "low"],
            post_transform="LOGISTIC",
        ),
        helper.make_node("ZipMap", ["scores"], ["dictionary"], domain="ai.onnx.ml", classlabels_strings=["high", "low"]),
    ]
    strings = TensorProto.STRING
    dictionary = helper.make_sequence_type_proto(
        helper.make_map_type_proto(strings, helper.make_tensor_type_proto(floats, None))
    )
    session = save(
        folder,
        "words",
        nodes,
        [
            helper.make_tensor_value_info("origin", strings, ["rows", 1]),
            helper.make_tensor_value_info("age", integers, ["rows", 1]),
            helper.make_tensor_value_info("sex", strings, ["rows", 1]),
        ],
        [
            helper.make_tensor_value_info("label", strings, ["rows"]),
            helper.make_value_info("dictionary", dictionary),
        ],
        [numpy_helper.from_array(np.array([-1, 6], dtype=np.int64), "flat")],
        learned,
    )
    fed = {"age": codes[:, [0]].astype(np.int64)}
    for name, column in (("sex", 6), ("origin", 7)):
        fed[name] = np.array(words[name], dtype=object)[codes[:, [column]]]
    recorded["words"] = [row["high"] for row in session.run(["dictionary"], fed)[0]]

    mapper = helper.make_node(
        "CategoryMapper",
        ["x"],
        ["label"],
        name="the_mapper",
        domain="ai.onnx.ml",
        cats_strings=["a", "b"],
        cats_int64s=[0, 1],
    )
    save(
        folder,
        "mapper",
        [mapper, helper.make_node("Cast", ["label"], ["score"], to=floats)],
        [helper.make_tensor_value_info("x", strings, ["rows", len(ATTRIBUTES)])],
        [helper.make_tensor_value_info("score", floats, ["rows", len(ATTRIBUTES)])],
        [],
        learned,
    )
    (folder / "recorded.json").write_text(json.dumps(recorded) + "\n")


if __name__ == "__main__":
    main()
