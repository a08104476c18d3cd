"""Runs on any model: a model directory, a model of tables or one of texts."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence, TypeVar

from . import _probity
from ._audit import Audit
from ._errors import OptionError
from ._files import _text_of, is_path
from ._frames import Data, _word
from ._inference import _inferred, _names, _Question, schema_of
from ._memory import _explained
from ._models import Asked, Model
from ._networks import _taken_again, _taken_over
from ._run import Run, _Kept, _Setting
from ._texts import TEXT, TextModel, Texts, classes_of, is_list_of_texts

_T = TypeVar("_T")


def _of_any_model(
    made: type[Any],
    kind: str,
    setting: _Setting,
    asked_of: tuple[Any, Any],
    told: dict[str, Any],
    options: dict[str, Any],
) -> tuple[Any, _Kept | None]:
    """Performs a run of `kind` on a model directory or on what is asked, of tables or of texts; `told`
    is what only Python is told. With what was `made`, what must last as long as that."""
    model, data = asked_of
    if is_path(model):
        for name in ("schema", "classes", "favourable", "gives"):
            if told[name] is not None:
                raise OptionError(f"{name} has no meaning for a model directory")
        inputs: dict[str, Any] = {"model": setting.located(model)}
        if _probity.is_text_model(inputs["model"]):
            data = _texts(data, inputs, options)
        inputs["data"] = setting.path("data", data)
        try:
            return setting.perform(made, kind, options, inputs), None
        finally:
            if setting.urls:
                setting.hold({"urls": setting.urls})
    if _is_of_texts(setting, data, options):
        for name in ("label", "schema", "favourable", "ignore"):
            if told[name] is not None and (name != "ignore" or len(told[name])):
                raise OptionError(f"{name} has no meaning for texts")
        of_model = told["classes"], told["gives"]
        run = _asked_about_texts(made, kind, setting, asked_of, of_model, options)
        return run, _Kept(None, model, data)
    return _asked_about_rows(made, kind, setting, asked_of, told, options)


def _asked_about_rows(
    made: type[Any],
    kind: str,
    setting: _Setting,
    asked_of: tuple[Any, Any],
    told: dict[str, Any],
    options: dict[str, Any],
) -> tuple[Any, _Kept]:
    """Performs a run on a model of Python that takes tables."""
    (model, data), held = asked_of, setting.held
    label, classes, gives, ignore = (told[name] for name in ("label", "classes", "gives", "ignore"))
    label = None if label is None else str(label)
    schema, favourable = told["schema"], told["favourable"]
    if "classes" in held:
        classes, gives = classes or held["classes"], gives or held["gives"]
        ignore = ignore or held["ignore"]
    unseen = held.get("unseen") or sorted({*_names(ignore)} & {*options.get("protected", ())})
    # What the model does not take, and is protected, is a column of the data all the same.
    ignore = [name for name in _names(ignore) if name not in unseen]
    if setting.began:
        schema = held.get("schema") or setting.began["predictor"]["schema"]
    read = Data(data, ignore, schema)
    described = Model(model, gives)
    described.knows(read.table.column_names)
    if schema is None:
        schema = _inferred(described, read, label, options.get("protected", ()), classes, favourable)
    elif favourable is not None and not setting.began:
        raise OptionError("favourable has no meaning where there is a schema")
    said = {
        "label": label, "classes": classes, "gives": gives, "ignore": ignore, "unseen": unseen
    }
    question = _Question(described, read, schema_of(schema), said)
    said["classes"] = question.classes
    taken = _taken_again(setting, model)
    if described.is_torch and not described.gives_numbers and not setting.began:
        taken = _taken_over(model, schema, question)
    if taken is not None:
        inputs = {"model": str(taken.directory), "data": setting.path("data", read.table)}
        try:
            return setting.perform(made, kind, options, inputs), _Kept(taken)
        finally:
            setting.hold({**said, "schema": _text_of(schema)}, taken)
    asked = question.asked(_text_of(schema))
    inputs = {"data": setting.path("data", read.table)}
    named = setting.model(asked)
    inputs["predictor.source"] = named.source
    inputs["predictor.schema"] = _text_of(schema)
    try:
        with _explained(named):
            run = setting.perform(made, kind, options, inputs, asked if made is Audit else None)
            return run, _Kept(None, model, data)
    finally:
        setting.hold(said)


def _is_of_texts(setting: _Setting, data: Any, options: Mapping[str, Any]) -> bool:
    """Whether a model of Python is asked about texts: a list of them, or a named column."""
    said = setting.began.get("modality") or options.get("modality")
    return said == "text" or "text_column" in options or is_list_of_texts(data)


def _asked_about_texts(
    made: type[_T],
    kind: str,
    setting: _Setting,
    asked_of: tuple[Any, Any],
    told: tuple[Sequence[Any] | None, str | None],
    options: dict[str, Any],
) -> _T:
    """Performs a run that asks a model of Python about texts; `told` are its classes and what it gives."""
    (model, data), (classes, gives), held = asked_of, told, setting.held
    column = options.pop("text_column", None) or held.get("column")
    texts = Texts(data, column)
    described = TextModel(model, gives or held.get("gives"))
    names = [_word(name) for name in classes] if classes is not None else held.get("classes")
    named = classes_of(described, names)
    asked = Asked(described, texts, named, named)
    said = {"classes": named, "gives": gives or held.get("gives"), "column": texts.column}
    options.pop("modality", None)
    inputs: dict[str, Any] = {
        "modality": "text", "text_column": texts.column, "data": setting.path("data", texts.given)
    }
    model_name = setting.model(asked)
    inputs["predictor.source"], inputs["predictor.classes"] = model_name.source, named
    try:
        with _explained(model_name):
            run: _T = setting.perform(made, kind, options, inputs, asked if made is Audit else None)
    finally:
        setting.hold(said)
    return run


def _of_model(
    kind: str, model: Any, data: Any, options: dict[str, Any], more: Mapping[str, Any] = {}
) -> Run:
    _expect_directory(model)
    setting = _Setting.split_from(options)
    with setting:
        inputs = {"model": setting.located(model), **more}
        if _probity.is_text_model(inputs["model"]):
            data = _texts(data, inputs, options)
        inputs["data"] = setting.path("data", data)
        run: Run = setting.perform(Run, kind, options, inputs)
        return run


def _expect_directory(model: Any) -> None:
    if not isinstance(model, (str, os.PathLike)):
        raise OptionError(
            f"model is a {type(model).__name__}, but must be a model directory, or a run that made one"
        )


def _texts(data: Any, inputs: dict[str, Any], options: dict[str, Any]) -> Any:
    """Texts in a list as a table."""
    inputs["modality"] = "text"
    if not is_list_of_texts(data):
        return data
    options["text_column"] = TEXT
    return Texts(data, None).given
