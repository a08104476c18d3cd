#!/usr/bin/env python3
"""Exports the small transformers of the tests as ONNX graphs, and compares them with PyTorch.

    pip install torch transformers onnx onnxscript onnxruntime
    python scripts/make-text-graphs.py tests/transformers

Beside the config.json and tokenizer.json of each model in the directory (scripts/make-transformers.py)
is written:

    bert/model.onnx         by torch.onnx's exporter of TorchScript, with token_type_ids, output `logits`
    bert/quantized.onnx     the same, its products in whole numbers of 8 bits, scaled by what is in a run
    distilbert/model.onnx   by torch.onnx's exporter of today, whose inputs are input_ids and attention_mask
    roberta/model.onnx      with a Softmax at the end, output `shares`
"""

import argparse
import json
import pathlib

import numpy as np
import onnx
import onnxruntime
import torch
import transformers
from onnxruntime.quantization import QuantType, quantize_dynamic

#: How far a graph may be from PyTorch.
FURTHEST = 1e-5


class Shares(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids, attention_mask).logits.softmax(-1)


def export(model, file, inputs, output, of_today):
    ids = torch.full((2, 7), 5)
    given = {name: torch.zeros_like(ids) for name in inputs}
    given.update(input_ids=ids, attention_mask=torch.ones_like(ids))
    given = {name: given[name] for name in inputs}
    if of_today:
        batch, pieces = torch.export.Dim("batch"), torch.export.Dim("pieces")
        shapes = {name: {0: batch, 1: pieces} for name in inputs}
        torch.onnx.export(
            model, (), file, kwargs=given, input_names=inputs, output_names=[output],
            dynamic_shapes=shapes, dynamo=True, external_data=False, verbose=False,
        )
    else:
        axes = {name: {0: "batch", 1: "pieces"} for name in inputs} | {output: {0: "batch"}}
        torch.onnx.export(
            model, (), file, kwargs=given, input_names=inputs, output_names=[output],
            dynamic_axes=axes, dynamo=False, opset_version=17,
        )
    graph = onnx.load(file)
    for node in graph.graph.node:
        # Where in whose source it comes from.
        node.doc_string = ""
        del node.metadata_props[:]
    for value in graph.graph.value_info:
        del value.metadata_props[:]
    del graph.graph.value_info[:]
    onnx.save(graph, file)


def furthest(directory, file, is_share):
    """How far the graph's answers are from those that are written down, at most."""
    session = onnxruntime.InferenceSession(str(file))
    worst = 0.0
    for answer in json.loads((directory / "expected.json").read_text()):
        ids = np.array([answer["pieces"]], dtype=np.int64)
        given = dict(input_ids=ids, attention_mask=np.ones_like(ids), token_type_ids=0 * ids)
        given = {port.name: given[port.name] for port in session.get_inputs()}
        expected = torch.tensor(answer["values"])
        expected = (expected.softmax(-1) if is_share else expected).numpy()
        worst = max(worst, np.abs(session.run(None, given)[0][0] - expected).max())
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path)
    arguments = parser.parse_args()
    both = ["input_ids", "attention_mask"]
    for name, inputs, of_today in [
        ("bert", both + ["token_type_ids"], False),
        ("distilbert", both, True),
        ("roberta", both, False),
    ]:
        directory = arguments.directory / name
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            directory, attn_implementation="eager"
        ).eval()
        is_share = name == "roberta"
        file = directory / "model.onnx"
        export(Shares(model) if is_share else model, str(file), inputs,
               "shares" if is_share else "logits", of_today)
        worst = furthest(directory, file, is_share)
        print(name, file.stat().st_size, "bytes, at most", worst, "from PyTorch")
        assert worst < FURTHEST
    bert = arguments.directory / "bert"
    quantize_dynamic(bert / "model.onnx", bert / "quantized.onnx", weight_type=QuantType.QInt8)
    print("quantized", furthest(bert, bert / "quantized.onnx", False))


if __name__ == "__main__":
    main()
