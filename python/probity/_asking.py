"""Runs on any model: a model directory, a model of tables or one of texts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Sequence, TypeVar

from . import _probity
from ._errors import OptionError
from ._files import _text_of, is_path
from ._frames import Data, _word
from ._inference import _inferred, _names, _Question
from ._memory import _explained
from ._models import Asked, Model
from ._networks import _taken_again, _taken_over
from ._resuming import Notes
from ._run import Runner
from ._rust import Inputs, read_schema
from ._texts import TEXT, TextModel, Texts, is_list_of_texts

_T = TypeVar("_T")


@dataclass(frozen=True)
class Description:
    """What a user says of a model of Python, and of its data."""

    label: Any = None
    schema: str | os.PathLike[str] | None = None
    classes: Sequence[Any] | None = None
    ignore: Sequence[Any] = ()
    gives: str | None = None
    favourable: Any = None

    def expect_without(self, names: str, model: str) -> None:
        """Refuses what has no meaning for such a model."""
        for name in names.split():
            value = getattr(self, name)
            if value is not None and (name != "ignore" or len(value)):
                raise OptionError(f"{name} has no meaning for {model}")


def _of_any_model(runner: Runner[_T], model: Any, data: Any, described: Description) -> _T:
    """Performs a run on a model directory, or on a model of Python, of tables or of texts."""
    if is_path(model):
        described.expect_without("schema classes favourable gives", "a model directory")
        try:
            return _of_model(runner, model, data)
        finally:
            if runner.urls:
                runner.write_notes({"urls": runner.urls})
    if _is_of_texts(runner, data):
        described.expect_without("label schema favourable ignore", "texts")
        return _of_texts(runner, model, data, described)
    return _of_rows(runner, model, data, described)


def _of_rows(runner: Runner[_T], model: Any, data: Any, described: Description) -> _T:
    """Performs a run on a model of Python that takes tables."""
    began, notes, protected = runner.began, runner.notes, runner.options.get("protected", ())
    label = None if described.label is None else str(described.label)
    classes, gives, ignore = described.classes, described.gives, described.ignore
    if "classes" in notes:
        classes, gives = classes or notes["classes"], gives or notes["gives"]
        ignore = ignore or notes["ignore"]
    unseen = notes.get("unseen") or sorted({*_names(ignore)} & {*protected})
    # What the model does not take, and is protected, is a column of the data all the same.
    ignore = [name for name in _names(ignore) if name not in unseen]
    schema = described.schema
    if began:
        schema = notes.get("schema") or began["predictor"]["schema"]
    read = Data(data, ignore, schema)
    asked_of = Model(model, gives)
    asked_of.knows(read.table.column_names)
    words = None if classes is None else [_word(name) for name in classes]
    if schema is None:
        schema = _inferred(asked_of, read, label, protected, words, described.favourable)
    elif described.favourable is not None and not began:
        raise OptionError("favourable has no meaning where there is a schema")
    said: Notes = {
        "label": label, "classes": words, "gives": gives, "ignore": ignore, "unseen": unseen
    }
    question = _Question(asked_of, read, read_schema(schema), said)
    said["classes"] = question.classes
    taken = _taken_again(runner, model)
    if asked_of.is_torch and not asked_of.gives_numbers and not began:
        taken = _taken_over(model, schema, question)
    named = _text_of(schema)
    if taken is not None:
        path = runner.path("data", read.table)
        try:
            return runner.perform({"model": str(taken.directory), "data": path}, keep=taken)
        finally:
            runner.write_notes({**said, "schema": named}, taken)
    asked = question.asked(named, (model, data))
    return _asking(
        runner, asked, {"data": runner.path("data", read.table), "predictor.schema": named}, said
    )


def _is_of_texts(runner: Runner[Any], data: Any) -> bool:
    """Whether a model of Python is asked about texts: a list of them, or a named column."""
    said = runner.began.get("modality") or runner.options.get("modality")
    return said == "text" or "text_column" in runner.options or is_list_of_texts(data)


def _of_texts(runner: Runner[_T], model: Any, data: Any, described: Description) -> _T:
    """Performs a run that asks a model of Python about texts."""
    notes, classes = runner.notes, described.classes
    texts = Texts(data, runner.options.pop("text_column", None) or notes.get("column"))
    gives = described.gives or notes.get("gives")
    asked_of = TextModel(model, gives)
    words = [_word(name) for name in classes] if classes is not None else notes.get("classes")
    named = asked_of.named_classes(words)
    if named is None:
        raise OptionError("classes is needed: those of the model, in the order of its outputs")
    asked = Asked(asked_of, texts, named, named, given=(model, data))
    runner.options.pop("modality", None)
    inputs: Inputs = {
        "modality": "text",
        "text_column": texts.column,
        "data": runner.path("data", texts.given),
        "predictor.classes": named,
    }
    return _asking(runner, asked, inputs, {"classes": named, "gives": gives, "column": texts.column})


def _asking(runner: Runner[_T], asked: Asked, inputs: Inputs, notes: Notes) -> _T:
    """Performs a run that asks a model of Python."""
    model = runner.model(asked)
    inputs["predictor.source"] = model.source
    try:
        with _explained(model):
            return runner.perform(inputs, asked)
    finally:
        runner.write_notes(notes)


def _of_model(runner: Runner[_T], model: Any, data: Any, inputs: Inputs | None = None) -> _T:
    """Performs a run on a model directory; texts may be a list."""
    inputs = {**(inputs or {}), "model": runner.located(model)}
    if _probity.is_text_model(inputs["model"]):
        inputs["modality"] = "text"
        if is_list_of_texts(data):
            runner.options["text_column"] = TEXT
            data = Texts(data, None).given
    inputs["data"] = runner.path("data", data)
    return runner.perform(inputs)


def _expect_directory(model: Any) -> None:
    if not is_path(model):
        raise OptionError(
            f"model is a {type(model).__name__}, but must be a model directory, or a run that made one"
        )
