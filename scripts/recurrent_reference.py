#!/usr/bin/env python3
"""Writes the recorded PyTorch text classifiers that tests/texts/import_recurrent.rs compares with.

Four small networks of random weights: LSTM and GRU of two layers, in one and in both directions,
each followed by a linear layer on the last layer's last hidden states (h_n). Between them they have
an embedding table with a padding and an unknown row, one without, and none; two, three and one
output; with and without biases; and the names that DataParallel and a checkpoint give.

Texts of ragged lengths go through them as packed sequences. The words, the weight files and the
logits that PyTorch computes go to tests/data/recurrent; the same seed writes the same numbers.

Needs torch (CPU), numpy and safetensors.

Usage: python scripts/recurrent_reference.py [--out tests/data/recurrent]
"""

import argparse
import json
import pathlib
import random

import numpy
import safetensors.torch
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

WORDS = "the a this that page edit source is was not good bad very he she i you they and but".split()
FOREIGN = "zebra quark".split()  # in texts, not in the vocabulary
SPECIAL = ["<pad>", "<unk>"]
DIMENSION, UNITS, LAYERS, TEXTS, LONGEST = 6, 5, 2, 16, 17
SCALE = 3.5  # of PyTorch's first weights: so large that no gate is near a constant


class Classifier(torch.nn.Module):
    """An embedding table (or none), a recurrent network, a linear layer."""

    def __init__(self, cell, rows, outputs, bidirectional, bias, padding=None):
        super().__init__()
        if rows:
            self.embedding = torch.nn.Embedding(rows, DIMENSION, padding_idx=padding)
        self.recurrent = cell(
            DIMENSION, UNITS, LAYERS, bias=bias, bidirectional=bidirectional, batch_first=True
        )
        self.linear = torch.nn.Linear(UNITS * (1 + bidirectional), outputs, bias=bias)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter *= SCALE

    def forward(self, vectors):
        """Logits of texts, each given as `[tokens, DIMENSION]`."""
        lengths = [len(text) for text in vectors]
        padded = pad_sequence(vectors, batch_first=True)
        packed = pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
        _, state = self.recurrent(packed)
        hidden = state[0] if isinstance(state, tuple) else state
        last = torch.cat(list(hidden[-self.directions() :]), dim=1)
        return self.linear(last)

    def directions(self):
        return 1 + self.recurrent.bidirectional


def texts(draws):
    """Texts of 1 to LONGEST words, one of each extreme; every seventh word or so is unknown."""
    lengths = [1, LONGEST] + [draws.randint(1, LONGEST) for _ in range(TEXTS - 2)]
    word = lambda: draws.choice(FOREIGN if draws.random() < 0.15 else WORDS)
    return [[word() for _ in range(length)] for length in lengths]


def vectors(table, words, text, unknown):
    """The vectors of a text; `unknown` stands for words that are not among `words`."""
    return torch.stack([table[words.index(w)] if w in words else unknown for w in text])


def save(folder, name, state, checkpoint):
    """Writes the state dictionary as `.pt`, safetensors and, the GRU's, `.npz`; returns the names."""
    pt, st, npz = (f"{name}.{kind}" for kind in ("pt", "safetensors", "npz"))
    torch.save({"epoch": 3, "model_state_dict": state} if checkpoint else state, folder / pt)
    (folder / st).write_bytes(safetensors.torch.save(state))
    if name != "gru":
        return [pt, st]
    numpy.savez_compressed(folder / npz, **{key: tensor.numpy() for key, tensor in state.items()})
    return [pt, st, npz]


def record(folder, name, model, samples, *, table, words, specials, prefix="", checkpoint=False):
    """Saves one model and returns its recorded logits with all that is needed to import it."""
    padding, unknown = specials
    stands_in = table[unknown] if unknown is not None else table.mean(dim=0)
    with torch.no_grad():
        logits = model([vectors(table, words, text, stands_in) for text in samples])
    state = {prefix + key: tensor.clone() for key, tensor in model.state_dict().items()}
    return {
        "name": name,
        "files": save(folder, name, state, checkpoint),
        "padding_row": padding,
        "unknown_row": unknown,
        "logits": logits.tolist(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default="tests/data/recurrent")
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(20)
    torch.set_num_threads(1)
    draws = random.Random(20)
    samples = texts(draws)

    # Rounded to what the text file says, so that both sides start from the same numbers.
    foreign = torch.round(torch.randn(len(WORDS), DIMENSION), decimals=3)
    lines = [" ".join([w] + [f"{v:.3f}" for v in row]) for w, row in zip(WORDS, foreign.tolist())]
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n")
    (folder / "words.txt").write_text("\n".join(WORDS) + "\n")
    (folder / "words-special.txt").write_text("\n".join(SPECIAL + WORDS) + "\n")

    lstm, gru = torch.nn.LSTM, torch.nn.GRU
    count, none = len(WORDS), (None, None)
    models = []

    model = Classifier(lstm, count + 2, 2, False, True, padding=0)
    own = dict(table=model.embedding.weight, words=SPECIAL + WORDS, specials=(0, 1))
    models.append(
        {"vocabulary": "words-special.txt"} | record(folder, "lstm", model, samples, **own)
    )

    model = Classifier(lstm, 0, 3, True, True)
    given = dict(table=foreign, words=WORDS, specials=none, checkpoint=True)
    models.append(
        {"embeddings": "vectors.txt"}
        | record(folder, "lstm-bidirectional", model, samples, **given)
    )

    model = Classifier(gru, count, 1, False, True)
    own = dict(table=model.embedding.weight, words=WORDS, specials=none, prefix="module.")
    models.append({"vocabulary": "words.txt"} | record(folder, "gru", model, samples, **own))

    model = Classifier(gru, count, 2, True, False)
    own = dict(table=model.embedding.weight, words=WORDS, specials=none)
    models.append(
        {"vocabulary": "words.txt"} | record(folder, "gru-bidirectional", model, samples, **own)
    )

    recorded = {
        "pytorch": torch.__version__.split("+")[0],
        "texts": [" ".join(text) for text in samples],
        "models": models,
    }
    (folder / "recorded.json").write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
