"""Texts, and models of Python that classify them."""

from __future__ import annotations

import os
from typing import Any, Callable, Mapping

import numpy as np
import pyarrow as pa

from ._errors import DataError, OptionError
from ._files import is_path
from ._frames import Data, _is_missing, _read, drawn
from ._models import Model, _ends_in_probabilities, _is_torch

#: Texts of the data by whose decisions a model is known again.
_SAMPLE = 64
#: Texts that a network of PyTorch reads at a time.
_BATCH = 64
#: A tokenizer that knows no limit says a larger one.
_NO_LIMIT = 1_000_000

#: The column of texts that had none.
TEXT = "text"


def is_list_of_texts(data: Any) -> bool:
    """Whether `data` is a list of texts, or an array or a series of them, and no table. Some of them
    may be missing: that is said, or they are left out, where they are read."""
    listed = _listed(data)
    return listed is not None and (not listed or any(isinstance(text, str) for text in listed))


def _listed(data: Any) -> list[Any] | None:
    """The values of a list, an array or a series; `None` of anything else."""
    if is_path(data) or hasattr(data, "columns") or hasattr(data, "column_names"):
        return None
    if isinstance(data, (list, tuple)):
        return list(data)
    if isinstance(data, (pa.Array, pa.ChunkedArray)):
        return list(data.to_pylist())
    values = getattr(data, "tolist", None) or getattr(data, "to_list", None)
    if getattr(data, "ndim", 1) != 1 or values is None:
        return None
    listed = values()
    return listed if isinstance(listed, list) else None


def _text(place: int, value: Any) -> str | None:
    """The text at `place`, from 1; `None` where there is none."""
    if _is_missing(value):
        return None
    if not isinstance(value, str):
        raise DataError(
            f"text {place} of the list is {value!r}, a {type(value).__name__}; texts are of the type str"
        )
    return value


class Texts:
    """The user's texts, and the same as a model is asked about them: lists of `str`.

    `given` is what a run reads: a path, or a table in whose column `column` they are.
    """

    def __init__(self, data: Any, column: str | None):
        self.given: Any
        if is_list_of_texts(data):
            if column not in (None, TEXT):
                raise OptionError("text_column has no meaning for a list of texts")
            column = TEXT
            texts = [_text(place, text) for place, text in enumerate(_listed(data) or [], 1)]
            self.given = table = pa.table({TEXT: pa.array(texts, pa.string())})
        else:
            # A path is read again by the run, by its own rules.
            table = _read(os.fspath(data)) if is_path(data) else Data(data).table
            self.given = data if is_path(data) else table
        if column is None:
            if len(table.column_names) != 1:
                raise OptionError("text_column is needed: the column of the texts")
            column = table.column_names[0]
        if column not in table.column_names:
            raise DataError(f"the data have no column '{column}'")
        self.column: str = column
        texts = table.column(column).drop_null().cast(pa.string())
        some = texts.take(pa.array(drawn(len(texts), _SAMPLE))).to_pylist()
        self._sample = [str(text) for text in some]

    def sample(self) -> tuple[list[str], int]:
        """Texts drawn from all of them, and how many they are."""
        return self._sample, len(self._sample)

    def __call__(self, batch: pa.RecordBatch) -> list[str]:
        texts: list[str] = batch.column(0).to_pylist()
        return texts


class TextModel(Model):
    """A model that can only be asked, by lists of texts.

    It is an estimator of scikit-learn, a pipeline of `transformers`, a pair of a network of PyTorch and
    its tokenizer, or a function from a list of texts to probabilities.
    """

    def _take(self, model: Any) -> None:
        if isinstance(model, tuple) and len(model) == 2 and _is_torch(model[0]):
            self._take_network(*model)
        elif hasattr(model, "predict_proba"):
            self._describe(model, model.predict_proba)
        elif hasattr(model, "decision_function"):
            self._describe(model, model.decision_function)
            self._gives = "logits"
        elif _is_pipeline(model):
            self._take_pipeline(model)
        elif _is_torch(model):
            raise OptionError(
                "model is a network without a tokenizer; give both: probity.audit((network, tokenizer), …)"
            )
        elif callable(model):
            self._ask = model
        else:
            raise OptionError(
                f"model is a {type(model).__name__}, but must be a model directory, a fitted pipeline "
                "with predict_proba or decision_function, a pipeline of transformers, a pair of a "
                "torch.nn.Module and its tokenizer, or a function from a list of texts to probabilities"
            )
        self.features = None

    def _take_network(self, network: Any, tokenizer: Callable[..., Any]) -> None:
        import torch

        longest = _longest(network, tokenizer)

        def ask(texts: list[str]) -> Any:
            was_training = network.training
            network.eval()
            parameter = next(network.parameters(), None)
            try:
                with torch.no_grad():
                    encoded = tokenizer(
                        texts, padding=True, truncation=True, max_length=longest, return_tensors="pt"
                    )
                    if parameter is not None:
                        encoded = {name: ids.to(parameter.device) for name, ids in encoded.items()}
                    output = network(**encoded)
            finally:
                network.train(was_training)
            output = getattr(output, "logits", output)
            return (output[0] if isinstance(output, tuple) else output).float().cpu().numpy()

        self.classes = _labels(network)
        self._gives = "probabilities" if _ends_in_probabilities(network) else "logits"
        self._is_guess = self._gives == "logits"
        self._ask = _by_length(ask)

    def _take_pipeline(self, pipeline: Any) -> None:
        if getattr(pipeline, "task", "") != "text-classification":
            raise OptionError(
                f"the pipeline's task is '{getattr(pipeline, 'task', '')}', but must be text-classification"
            )
        longest = _longest(pipeline.model, pipeline.tokenizer)
        classes = self.classes = _labels(pipeline.model)

        def ask(texts: list[str]) -> Any:
            told = pipeline(
                texts, top_k=None, truncation=True, max_length=longest, batch_size=len(texts)
            )
            said = [{answer["label"]: answer["score"] for answer in answers} for answers in told]
            names = classes or sorted(said[0])
            return np.array([[scores[name] for name in names] for scores in said])

        self._ask = _by_length(ask)


def _by_length(ask: Callable[[list[str]], Any]) -> Callable[[list[str]], Any]:
    """Asks about texts of about the same length together, and gives answers in the texts' order."""

    def ask_all(texts: list[str]) -> Any:
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        parts = [order[start : start + _BATCH] for start in range(0, len(order), _BATCH)]
        answers = np.concatenate([ask([texts[place] for place in part]) for part in parts])
        if len(answers) != len(texts):
            return answers
        in_order = np.empty_like(answers)
        in_order[order] = answers
        return in_order

    return ask_all


def _labels(network: Any) -> list[str] | None:
    """The names of the classes, where a configuration of `transformers` says them."""
    named: Mapping[int, str] | None = getattr(getattr(network, "config", None), "id2label", None)
    return [str(named[number]) for number in sorted(named)] if named else None


def _longest(network: Any, tokenizer: Any) -> int | None:
    """Pieces of a text that are read: as many as the tokenizer says, or as there are positions."""
    said = getattr(tokenizer, "model_max_length", None)
    if isinstance(said, int) and said < _NO_LIMIT:
        return said
    config = getattr(network, "config", None)
    positions = getattr(config, "max_position_embeddings", None)
    if positions is None:
        return None
    # These count positions from behind the number of their padding.
    is_offset = "roberta" in str(getattr(config, "model_type", ""))
    return int(positions) - (int(config.pad_token_id) + 1 if config and is_offset else 0)


def _is_pipeline(model: Any) -> bool:
    return any(kind.__module__.startswith("transformers.pipelines") for kind in type(model).__mro__)
