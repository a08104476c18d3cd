"""Networks of PyTorch, imported as model directories."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path
from typing import Any, Sequence

from ._errors import OptionError, ProbityError
from ._files import locate_schema
from ._frames import to_word
from ._inference import Signature, to_sort_key
from ._models import match_classes
from ._run import Run, Runner
from ._rust import read_schema

_log = logging.getLogger("probity")


def import_network(
    network: Any,
    schema: str | os.PathLike[str],
    *,
    classes: Sequence[str] | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Run:
    """Imports a `torch.nn.Module` of linear layers and activations as a model directory, with gradients.

    Its inputs are the values of the attributes of `schema` in their order, which must therefore be
    whole numbers, and its outputs the classes in the order of `classes`, by default sorted. The answers
    of the module and of the directory to random rows are compared, and must be the same.
    """
    from ._torch import Stack

    read = read_schema(schema)
    of_schema = read["label"]["classes"]
    known = [to_word(name) for name in classes] if classes is not None else sorted(of_schema, key=to_sort_key)
    stack = Stack.from_network(network)
    order = match_classes(known, of_schema)
    outputs = sorted(of_schema, key=lambda name: order[of_schema.index(name)])
    with tempfile.TemporaryDirectory(prefix="probity-") as folder:
        inputs = stack.write(Path(folder), outputs)
        inputs["modality"], inputs["schema"] = "table", locate_schema(schema)
        run = Runner(Run, "import", {}, out, progress=False).perform(inputs)
    stack.expect_same(run.directory, read, order)
    return run


def import_text_network(
    network: Any,
    words: Sequence[str],
    *,
    classes: Sequence[str] = (),
    unknown_row: int | None = None,
    padding_row: int | None = None,
    max_length: int | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Run:
    """Imports a `torch.nn.Module` of `nn.Embedding`, `nn.LSTM` or `nn.GRU` and `nn.Linear` as a model
    directory of texts, with gradients.

    `words[i]` is the word of row i of the embedding; `unknown_row` and `padding_row` are rows that
    stand for unknown words and that pad texts. Called with the token numbers of one text, of shape
    (1, tokens), the module must give what its linear layer makes of the last hidden states. The answers
    of the module and of the directory to random texts are compared, and must be the same.
    """
    from ._torch import expect_same_of_texts, write_text_network

    fields = {
        "classes": list(classes),
        "unknown_row": unknown_row,
        "padding_row": padding_row,
        "max_length": max_length,
    }
    given = {name: value for name, value in fields.items() if value not in (None, [])}
    with tempfile.TemporaryDirectory(prefix="probity-") as folder:
        inputs = write_text_network(network, words, Path(folder), given)
        run = Runner(Run, "import", {}, out, progress=False).perform(inputs)
    apart = {row for row in (unknown_row, padding_row) if row is not None}
    expect_same_of_texts(network, words, run.directory, apart)
    return run


def take_over(network: Any, schema: Any, signature: Signature) -> Run | None:
    """Imports a network of PyTorch, so that it is searched with gradients, if it can be imported."""
    if signature.columns != signature.attributes:
        _log.info("the network is asked for its outputs alone: its columns are not the schema's")
        return None
    try:
        return import_network(network, schema, classes=signature.classes)
    except ProbityError as error:
        _log.info("the network is asked for its outputs alone: %s", error)
        return None


def take_over_again(runner: Runner[Any], network: Any) -> Run | None:
    """Imports the `network` again, if it was imported for the run that goes on: to the same place, which
    went with the process that began the run."""
    began, notes = runner.began, runner.notes
    if not began or began.get("predictor", {}).get("source"):
        return None
    if "schema" not in notes:
        raise OptionError("the run in out is one on a model directory: give that directory")
    place = Path(began["model"])
    if not place.parent.exists():
        runner.remove_at_end(place.parent)
    return import_network(network, notes["schema"], classes=notes["classes"], out=place)
