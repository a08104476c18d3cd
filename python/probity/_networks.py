"""Networks of PyTorch as model directories."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path
from typing import Any, Sequence

from ._errors import OptionError, ProbityError
from ._files import _text_of
from ._frames import _word
from ._inference import _Question, _sorting
from ._models import in_order
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
    """A `torch.nn.Module` of linear layers and activations as a model directory, with its gradients.

    Its inputs are the values of the attributes of `schema` in their order, which must therefore be
    whole numbers; its outputs the classes in the order of `classes`, by default sorted. What the
    module says and what was taken over say is compared before it is believed.
    """
    from ._torch import Stack

    read = read_schema(schema)
    of_schema = read["label"]["classes"]
    known = [_word(name) for name in classes] if classes is not None else sorted(of_schema, key=_sorting)
    stack = Stack.of(network)
    with tempfile.TemporaryDirectory(prefix="probity-") as folder:
        inputs = stack.written(Path(folder), in_order(known, of_schema))
        inputs["modality"], inputs["schema"] = "table", _text_of(schema)
        run = Runner(Run, "import", {}, out, progress=False).perform(inputs)
    stack.expect_same(run.directory, read, in_order(known, of_schema))
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
    """A `torch.nn.Module` of `nn.Embedding`, `nn.LSTM` or `nn.GRU` and `nn.Linear` as a model
    directory of texts, with its gradients.

    `words[i]` is the word of row i of the embedding; `unknown_row` and `padding_row` are rows that
    stand for unknown words and that pad texts. Called with the token numbers of one text, of shape
    (1, tokens), the module must give what its linear layer makes of the last hidden states. What the
    module and what was taken over say of random texts is compared before it is believed.
    """
    from ._torch import expect_same_of_texts, import_text

    fields = {
        "classes": list(classes),
        "unknown_row": unknown_row,
        "padding_row": padding_row,
        "max_length": max_length,
    }
    given = {name: value for name, value in fields.items() if value not in (None, [])}
    with tempfile.TemporaryDirectory(prefix="probity-") as folder:
        inputs = import_text(network, words, Path(folder), given)
        run = Runner(Run, "import", {}, out, progress=False).perform(inputs)
    apart = {row for row in (unknown_row, padding_row) if row is not None}
    expect_same_of_texts(network, words, run.directory, apart)
    return run


def _taken_over(network: Any, schema: Any, question: _Question) -> Run | None:
    """The network of PyTorch as one of Probity's, with gradients, where it is one that can be."""
    if question.columns != question.attributes:
        _log.info("the network is asked for its outputs alone: its columns are not the schema's")
        return None
    try:
        return import_network(network, schema, classes=question.classes)
    except ProbityError as error:
        _log.info("the network is asked for its outputs alone: %s", error)
        return None


def _taken_again(runner: Runner[Any], network: Any) -> Run | None:
    """The `network` that was taken over for the run that goes on, where one was: at its place
    again, which went with the process that began the run."""
    began, notes = runner.began, runner.notes
    if not began or began.get("predictor", {}).get("source"):
        return None
    if "schema" not in notes:
        raise OptionError("the run that goes on is one on a model directory: give that")
    place = Path(began["model"])
    if not place.parent.exists():
        runner.remove_at_end(place.parent)
    return import_network(network, notes["schema"], classes=notes["classes"], out=place)
