"""Runs on any model: a model directory, a model of Python that takes tables or texts, or none at all."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Sequence, TypeVar

from . import _probity
from ._errors import OptionError
from ._files import is_path, locate_schema
from ._frames import Data, to_word
from ._inference import (
    Signature,
    expect_name,
    infer_model_schema,
    infer_schema,
    list_attributes,
    list_names,
)
from ._models import Model, Predictor, spell_class
from ._networks import take_over, take_over_again
from ._resuming import Notes
from ._run import Runner
from ._rust import Inputs, Schema, read_schema, read_schema_of_run
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

    def __post_init__(self) -> None:
        list_names("ignore", self.ignore)
        expect_name("label", self.label)
        if self.schema is not None and not is_path(self.schema):
            raise OptionError(
                f"schema is {self.schema!r}, but must be a path, the name of a built-in schema, or TOML"
            )

    def expect_without(self, names: str, model: str) -> None:
        """Refuses the options of these names, which have no meaning for such a model."""
        for name in names.split():
            value = getattr(self, name)
            if value is not None and (name != "ignore" or len(value)):
                raise OptionError(f"{name} has no meaning for {model}")


def perform_on_model(runner: Runner[_T], model: Any, data: Any, description: Description) -> _T:
    """Performs a run on a model directory, or on a model of Python, of tables or of texts."""
    if is_path(model):
        description.expect_without("schema classes gives", "a model directory")
        if description.favourable is not None:
            runner.options["favourable"] = to_word(description.favourable)
        try:
            return perform_on_directory(runner, model, data)
        finally:
            if runner.urls:
                runner.write_notes({"urls": runner.urls})
    if concerns_texts(runner, data):
        description.expect_without("label schema ignore", "texts")
        return _perform_on_texts(runner, model, data, description)
    return _perform_on_rows(runner, model, data, description)


def _perform_on_rows(runner: Runner[_T], model: Any, data: Any, description: Description) -> _T:
    """Performs a run on a model of Python that takes tables."""
    began, kept, protected = runner.began, runner.notes, runner.options.get("protected", ())
    label = None if description.label is None else str(description.label)
    classes, gives, ignore = description.classes, description.gives, description.ignore
    if "classes" in kept:
        classes, gives = classes or kept["classes"], gives or kept["gives"]
        ignore = ignore or kept["ignore"]
    ignored = list_names("ignore", ignore)
    unseen = kept.get("unseen") or sorted({*ignored} & {*list_attributes(protected, ignored)})
    # What the model does not take, and is protected, is a column of the data all the same.
    ignore = [name for name in ignored if name not in unseen]
    schema = description.schema
    if began:
        schema = kept.get("schema") or began["predictor"]["schema"]
    read, wrapped = Data(data, ignore, schema), Model(model, gives)
    wrapped.match_features(read.table.column_names)
    words = None if classes is None else [to_word(name) for name in classes]
    if schema is None:
        schema = infer_model_schema(wrapped, read, label, protected, words, description.favourable)
    elif description.favourable is not None and not wrapped.gives_numbers and not began:
        raise OptionError("favourable has no meaning where there is a schema")
    if wrapped.gives_numbers and description.favourable is not None:
        # Of numbers it is no class of the schema, but which ones are good to get.
        runner.options.setdefault("favourable", to_word(description.favourable))
    of_run = read_schema_of_run(schema, {**began, **runner.options})
    _spell_favourable(runner, of_run)
    notes: Notes = {
        "label": label, "classes": words, "gives": gives, "ignore": ignore, "unseen": unseen
    }
    signature = Signature(wrapped, read, of_run, notes)
    notes["classes"] = signature.classes
    network = take_over_again(runner, model)
    if wrapped.is_torch and not wrapped.gives_numbers and not began:
        network = take_over(model, schema, signature)
    named = locate_schema(schema)
    if network is not None:
        path = runner.name_data("data", read.table)
        try:
            return runner.perform({"model": str(network.directory), "data": path}, keep=network)
        finally:
            runner.write_notes({**notes, "schema": named}, network)
    predictor = signature.make_predictor((model, data))
    inputs: Inputs = {"data": runner.name_data("data", read.table), "predictor.schema": named}
    return _perform_on_predictor(runner, predictor, inputs, notes)


def concerns_texts(runner: Runner[Any], data: Any) -> bool:
    """Whether a run is on texts: a list of them, or a column that is named."""
    modality = runner.began.get("modality") or runner.options.get("modality")
    return modality == "text" or "text_column" in runner.options or is_list_of_texts(data)


def _perform_on_texts(runner: Runner[_T], model: Any, data: Any, description: Description) -> _T:
    """Performs a run on a model of Python that takes texts."""
    kept, classes = runner.notes, description.classes
    texts = Texts(data, runner.options.pop("text_column", None) or kept.get("column"))
    gives = description.gives or kept.get("gives")
    wrapped = TextModel(model, gives)
    words = [to_word(name) for name in classes] if classes is not None else kept.get("classes")
    named = wrapped.order_classes(words)
    if named is None:
        raise OptionError("classes is needed: those of the model, in the order of its outputs")
    if description.favourable is not None:
        runner.options["favourable"] = spell_class(to_word(description.favourable), named)
    predictor = Predictor(wrapped, texts, named, named, given=(model, data))
    runner.options.pop("modality", None)
    inputs: Inputs = {
        "modality": "text",
        "text_column": texts.column,
        "data": runner.name_data("data", texts.given),
        "predictor.classes": named,
    }
    notes: Notes = {"classes": named, "gives": gives, "column": texts.column}
    return _perform_on_predictor(runner, predictor, inputs, notes)


def _perform_on_predictor(
    runner: Runner[_T], predictor: Predictor, inputs: Inputs, notes: Notes
) -> _T:
    """Performs a run that asks a model of Python, and keeps what only Python knows of it."""
    with runner.name_model(predictor) as named:
        inputs["predictor.source"] = named.source
        try:
            return runner.perform(inputs, predictor)
        finally:
            runner.write_notes(notes)


def perform_on_directory(
    runner: Runner[_T], model: Any, data: Any, inputs: Inputs | None = None
) -> _T:
    """Performs a run on a model directory, whose texts may be a list."""
    inputs = {**(inputs or {}), "model": runner.locate(model)}
    if _probity.is_text_model(inputs["model"]):
        inputs["modality"] = "text"
        if is_list_of_texts(data):
            runner.options["text_column"] = TEXT
            data = Texts(data, None).given
    inputs["data"] = runner.name_data("data", data)
    return runner.perform(inputs)


def perform_on_outcomes(
    runner: Runner[_T], data: Any, description: Description, *, are_decisions: bool
) -> _T:
    """Performs a run on data without a model; `are_decisions` says that the outcomes in them stand in
    place of a model's decisions."""
    description.expect_without("classes gives", "recorded outcomes")
    label = None if description.label is None else str(description.label)
    schema, ignored = description.schema, list_names("ignore", description.ignore)
    given = data if is_path(data) else Data(data, ignored)
    if schema is None:
        if label is None:
            raise OptionError(
                "label is needed: the column of the outcomes, where there is neither a model nor a schema"
            )
        read = Data(data, ignored) if is_path(data) else given
        protected = list_attributes(runner.options.get("protected", ()), read.table.column_names)
        # Of recorded outcomes numbers alone have a gap.
        is_number = runner.options.get("gap") is not None and read.holds_numbers(label)
        schema = infer_schema(
            given,
            label,
            protected=protected,
            ignore=ignored,
            favourable=None if is_number else description.favourable,
            number=is_number,
        )
    elif label is not None and label != (name := read_schema(schema)["label"]["name"]):
        raise OptionError(f"label is '{label}', but the schema has the outcomes in '{name}'")
    inputs: Inputs = {
        "schema": locate_schema(schema),
        "data": runner.name_data("data", given if is_path(given) else given.table),
    }
    if are_decisions:
        # The field says that outcomes are looked at; which column holds them, the schema does.
        inputs["label"] = True
    _spell_favourable(runner, read_schema(schema))
    return runner.perform(inputs)


def _spell_favourable(runner: Runner[_T], schema: Schema) -> None:
    """Spells the class that is good to get, where a run is told it, as the schema does."""
    given = runner.options.get("favourable")
    if given is not None:
        runner.options["favourable"] = spell_class(given, schema["label"]["classes"])


def expect_directory(model: Any) -> None:
    """Refuses what is no path of a model directory."""
    if not is_path(model):
        raise OptionError(
            f"model is a {type(model).__name__}, but must be a model directory, or a run that made one"
        )
