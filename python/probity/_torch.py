"""Networks of PyTorch, written as files from which Probity makes networks of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

import numpy as np
import pyarrow as pa
import torch
from torch import nn

from ._errors import OptionError
from ._models import ends_in_probabilities, evaluate
from ._rust import Inputs, Schema, ask_network

#: How far the probabilities of the two may differ: both compute in 32 bits, in another order.
_TOLERANCE = 1e-4
#: Random rows that both are asked about.
_ROWS = 512

_ACTIVATIONS: dict[type[nn.Module], str] = {nn.ReLU: "relu", nn.Tanh: "tanh", nn.Sigmoid: "sigmoid"}
#: Layers that change nothing when a network is used.
_IDLE = (nn.Dropout, nn.Flatten, nn.Identity)


@dataclass
class Stack:
    """A network of linear layers with one kind of activation between them."""

    network: Any
    layers: list[nn.Linear]
    activation: str

    @classmethod
    def from_network(cls, network: Any) -> Stack:
        """Finds the layers of `network`, in the order in which it holds them."""
        if not isinstance(network, nn.Module):
            raise OptionError(f"a {type(network).__name__} is no torch.nn.Module")
        parts = [part for part in network.modules() if not list(part.children())]
        parts = [part for part in parts if not isinstance(part, _IDLE)]
        layers = [part for part in parts if isinstance(part, nn.Linear)]
        if not layers:
            raise OptionError("the network has no linear layers")
        after_last = parts[parts.index(layers[-1]) + 1 :]
        if any(not isinstance(part, (nn.Sigmoid, nn.Softmax, nn.LogSoftmax)) for part in after_last):
            raise OptionError(f"the network ends in {type(after_last[-1]).__name__}")
        between = [part for part in parts[: parts.index(layers[-1])] if part not in layers]
        kinds = {type(part) for part in between}
        unknown = [kind.__name__ for kind in kinds if kind not in _ACTIVATIONS]
        if unknown:
            raise OptionError(f"the network holds {unknown[0]}, which cannot be imported")
        if len(kinds) > 1:
            raise OptionError("the network has several kinds of activations")
        activation = _ACTIVATIONS[kinds.pop()] if kinds else "relu"
        return cls(network, layers, activation)

    def write(self, folder: Path, classes: list[str]) -> Inputs:
        """Writes the weights, whose outputs count `classes`, and gives inputs of `import`."""
        arrays: dict[str, Any] = {}
        for number, layer in enumerate(self.layers):
            weight = layer.weight.detach().cpu().float().numpy()
            zeros = np.zeros(len(weight), dtype=np.float32)
            bias = zeros if layer.bias is None else layer.bias.detach().cpu().float().numpy()
            arrays[f"{number}.weight"], arrays[f"{number}.bias"] = weight, bias
        np.savez(folder / "weights.npz", **arrays)
        outputs = self.layers[-1].out_features
        config = folder / "network.toml"
        config.write_text(
            f"hidden = {[layer.out_features for layer in self.layers[:-1]]}\n"
            f'activation = "{self.activation}"\n'
            f'output = "{"sigmoid" if outputs == 1 else "softmax"}"\n'
            f"classes = {json.dumps(classes, ensure_ascii=False)}\n"
            '[[layout]]\nweight = "{n}.weight"\nbias = "{n}.bias"\norientation = "out-in"\n'
        )
        return {"weights": str(folder / "weights.npz"), "config": str(config)}

    def expect_same(self, directory: Path, schema: Schema, order: list[int]) -> None:
        """Refuses a network whose answers to random rows are not those of the module."""
        columns, values = _draw_rows(schema)
        flat = ask_network(directory, "rows of import_network", pa.table(columns))
        ours = flat.reshape(-1, len(order))
        theirs = self._ask(values, len(order))[:, order]
        if theirs.shape != ours.shape or not np.allclose(ours, theirs, atol=_TOLERANCE):
            raise OptionError("the imported network computes something other than the module does")

    def _ask(self, values: Any, classes: int) -> Any:
        """Asks the module for the probabilities of rows."""
        like = self.layers[0].weight
        return _ask(self.network, torch.as_tensor(values).to(like.dtype), classes)


def _ask(network: Any, inputs: Any, classes: int) -> Any:
    """Asks a module for the probabilities of `inputs`, without training it."""
    with evaluate(network) as parameter:
        given = network(inputs.to(parameter.device)).double().cpu()
    given = given.reshape(len(inputs), -1)
    is_probability = ends_in_probabilities(network)
    if given.shape[1] == 1 and classes == 2:
        score = given if is_probability else torch.sigmoid(given)
        return torch.cat([1 - score, score], dim=1).numpy()
    return (given if is_probability else torch.softmax(given, dim=1)).numpy()


def _draw_rows(schema: Schema) -> tuple[dict[str, Any], Any]:
    """Draws random rows of the schema, as columns and as inputs of a network of PyTorch."""
    draw = np.random.default_rng(1)
    columns: dict[str, Any] = {}
    values = np.empty((_ROWS, len(schema["attribute"])), dtype=np.float32)
    for at, attribute in enumerate(schema["attribute"]):
        name = attribute["name"]
        if attribute["kind"] == "integer":
            drawn = draw.integers(attribute["min"], attribute["max"], _ROWS, endpoint=True)
            columns[name] = drawn
        elif attribute["kind"] == "categorical" and attribute["levels"] == [
            str(level) for level in range(len(attribute["levels"]))
        ]:
            drawn = draw.integers(0, len(attribute["levels"]), _ROWS)
            columns[name] = [str(level) for level in drawn]
        else:
            raise OptionError(
                f"the attribute '{name}' is {attribute['kind']}, but only networks that take whole "
                "numbers are imported"
            )
        values[:, at] = drawn
    return columns, values


def write_text_network(
    network: Any, words: Sequence[str], folder: Path, fields: dict[str, Any]
) -> Inputs:
    """Writes a recurrent network and its words, and gives inputs of `import`."""
    weights, vocabulary = folder / "weights.pt", folder / "words.txt"
    state = {name: value.detach().cpu().float() for name, value in network.state_dict().items()}
    torch.save(state, weights)
    lines = [str(word) for word in words]
    if any("\n" in word or "\r" in word for word in lines):
        raise OptionError("a word has a line break in it")
    vocabulary.write_text("".join(f"{word}\n" for word in lines), encoding="utf-8")
    text = {"vocabulary": str(vocabulary), **fields}
    return {"modality": "text", "weights": str(weights), "text": text}


def expect_same_of_texts(
    network: Any, words: Sequence[str], directory: Path, apart: set[int]
) -> None:
    """Refuses a network whose answers to random texts of its words are not those of the module."""
    usual = [
        row
        for row, word in enumerate(words)
        if row not in apart and str(word).isalpha() and str(word).islower() and str(word).isascii()
    ]
    if len(usual) < 2:
        raise OptionError("no two of the words are plain enough to compare the networks by")
    draw = np.random.default_rng(1)
    texts = [draw.choice(usual, size=draw.integers(1, 12)).tolist() for _ in range(64)]
    table = pa.table({"text": [" ".join(str(words[row]) for row in text) for text in texts]})
    ours = ask_network(directory, "texts of import_network", table).reshape(len(texts), -1)
    for text, answer in zip(texts, ours):
        # One by one: padding would change what most networks say.
        theirs = _ask(network, torch.tensor([text]), len(answer))[0]
        if theirs.shape != answer.shape or not np.allclose(answer, theirs, atol=_TOLERANCE):
            raise OptionError("the imported network computes something other than the module does")
