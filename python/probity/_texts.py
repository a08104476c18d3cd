"""Texts, and models of Python that classify them."""

from __future__ import annotations

import os
from typing import Any, Callable, Mapping

import numpy as np
import pyarrow as pa

from ._errors import DataError, OptionError
from ._files import is_path
from ._frames import Data, draw_places, is_missing, read_table
from ._models import Model, decides, ends_in_probabilities, evaluate, is_torch_module

#: Texts of the data by whose decisions a model is known again.
_SAMPLE = 64
#: Texts that a network of PyTorch reads at a time.
_BATCH = 64
#: A larger limit is that of a tokenizer that knows none.
_NO_LIMIT = 1_000_000

#: The column of texts that come in a list.
TEXT = "text"


def is_list_of_texts(data: Any) -> bool:
    """Whether `data` is a list of texts, or an array or a series of them, and no table. Some of them
    may be missing: where they are read, this is refused, or they are left out."""
    listed = _to_list(data)
    return listed is not None and (not listed or any(isinstance(text, str) for text in listed))


def _to_list(data: Any) -> list[Any] | None:
    """Lists the values of a list, an array or a series; of anything else it gives `None`."""
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


def _expect_text(place: int, value: Any) -> str | None:
    """Refuses a value at a place, from 1, that is neither a text nor missing."""
    if is_missing(value):
        return None
    if not isinstance(value, str):
        raise DataError(
            f"text {place} of the list is {value!r}, a {type(value).__name__}; texts are of the type str"
        )
    return value


class Texts:
    """The user's texts, and what makes lists of `str` of batches of them, for a model.

    `given` is what a run reads: a path, or a table, with the texts in its column `column`.
    """

    def __init__(self, data: Any, column: str | None):
        self.given: Any
        if is_list_of_texts(data):
            if column not in (None, TEXT):
                raise OptionError("text_column has no meaning for a list of texts")
            column = TEXT
            texts = [_expect_text(place, text) for place, text in enumerate(_to_list(data) or [], 1)]
            self.given = table = pa.table({TEXT: pa.array(texts, pa.string())})
        else:
            # A path is read again by the run, by its own rules.
            table = read_table(os.fspath(data)) if is_path(data) else Data(data).table
            self.given = data if is_path(data) else table
        if column is None:
            if len(table.column_names) != 1:
                raise OptionError("text_column is needed: the column of the texts")
            column = table.column_names[0]
        if column not in table.column_names:
            raise DataError(f"the data have no column '{column}'")
        self.column: str = column
        texts = table.column(column).drop_null().cast(pa.string())
        some = texts.take(pa.array(draw_places(len(texts), _SAMPLE))).to_pylist()
        self._sample = [str(text) for text in some]

    def sample(self) -> tuple[list[str], int]:
        """Draws texts from all of them, and counts them."""
        return self._sample, len(self._sample)

    def __call__(self, batch: pa.RecordBatch) -> list[str]:
        """Lists the texts of a batch."""
        texts: list[str] = batch.column(0).to_pylist()
        return texts


class TextModel(Model):
    """A model of texts that can only be asked for its outputs.

    It is an estimator of scikit-learn, a pipeline of `transformers`, a pair of a network of PyTorch and
    its tokenizer, or a function from a list of texts to probabilities.
    """

    def _take(self, model: Any) -> None:
        if isinstance(model, tuple) and len(model) == 2 and is_torch_module(model[0]):
            self._take_network(*model)
        elif hasattr(model, "predict_proba"):
            self._describe(model, model.predict_proba)
        elif hasattr(model, "decision_function"):
            self._describe(model, model.decision_function)
            self._gives = "logits"
        elif _is_pipeline(model):
            self._take_pipeline(model)
        elif is_torch_module(model):
            raise OptionError(
                "model is a network without a tokenizer; give both: probity.audit((network, tokenizer), …)"
            )
        elif decides(model):
            self._describe(model, model.predict)
            self.ask_for_decisions()
        elif callable(model):
            self._ask = model
        else:
            raise OptionError(
                f"model is a {type(model).__name__}, but must be a model directory, a fitted pipeline "
                "with predict_proba, decision_function or predict, a pipeline of transformers, a pair of a "
                "torch.nn.Module and its tokenizer, or a function from a list of texts to probabilities"
            )
        self.features = None

    def _take_network(self, network: Any, tokenizer: Callable[..., Any]) -> None:
        longest = _find_limit(network, tokenizer)

        def ask(texts: list[str]) -> Any:
            with evaluate(network) as parameter:
                encoded = tokenizer(
                    texts, padding=True, truncation=True, max_length=longest, return_tensors="pt"
                )
                if parameter is not None:
                    encoded = {name: ids.to(parameter.device) for name, ids in encoded.items()}
                output = network(**encoded)
            output = getattr(output, "logits", output)
            return (output[0] if isinstance(output, tuple) else output).float().cpu().numpy()

        self.classes = _read_labels(network)
        self._gives = "probabilities" if ends_in_probabilities(network) else "logits"
        self._is_guess = self._gives == "logits"
        self._ask = _batch_by_length(ask)

    def _take_pipeline(self, pipeline: Any) -> None:
        if getattr(pipeline, "task", "") != "text-classification":
            raise OptionError(
                f"the pipeline's task is '{getattr(pipeline, 'task', '')}', but must be text-classification"
            )
        longest = _find_limit(pipeline.model, pipeline.tokenizer)
        classes = self.classes = _read_labels(pipeline.model)

        def ask(texts: list[str]) -> Any:
            listed = pipeline(
                texts, top_k=None, truncation=True, max_length=longest, batch_size=len(texts)
            )
            rows = [{answer["label"]: answer["score"] for answer in answers} for answers in listed]
            names = classes or sorted(rows[0])
            return np.array([[scores[name] for name in names] for scores in rows])

        self._ask = _batch_by_length(ask)


def _batch_by_length(ask: Callable[[list[str]], Any]) -> Callable[[list[str]], Any]:
    """Has texts of about the same length asked about together, with answers in the texts' order."""

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


def _read_labels(network: Any) -> list[str] | None:
    """Reads the names of the classes in a configuration of `transformers`, if there is one."""
    named: Mapping[int, str] | None = getattr(getattr(network, "config", None), "id2label", None)
    return [str(named[number]) for number in sorted(named)] if named else None


def _find_limit(network: Any, tokenizer: Any) -> int | None:
    """Finds how many pieces of a text are read: the tokenizer's limit, or the network's positions."""
    limit = getattr(tokenizer, "model_max_length", None)
    if isinstance(limit, int) and limit < _NO_LIMIT:
        return limit
    config = getattr(network, "config", None)
    positions = getattr(config, "max_position_embeddings", None)
    if positions is None:
        return None
    # These count positions from behind the number of their padding.
    is_offset = "roberta" in str(getattr(config, "model_type", ""))
    return int(positions) - (int(config.pad_token_id) + 1 if config and is_offset else 0)


def _is_pipeline(model: Any) -> bool:
    return any(kind.__module__.startswith("transformers.pipelines") for kind in type(model).__mro__)
