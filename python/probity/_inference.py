"""What is inferred from the user's data and model: a schema, and the columns and classes of the model."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from typing import Any, Collection, Mapping, Sequence

from ._errors import OptionError
from ._files import is_text_file
from ._frames import Data, Frames, is_missing, to_word
from ._memory import name_table
from ._models import Model, Predictor, spell_class
from ._resuming import Notes
from ._rust import DraftOptions, Layout, Schema, draft_schema, list_columns, read_schema, to_toml

_log = logging.getLogger("probity")


def infer_schema(
    data: Any,
    label: str | None = None,
    *,
    protected: Sequence[str] = (),
    ignore: Sequence[str] = (),
    classes: Sequence[str] = (),
    favourable: str | None = None,
    number: bool = False,
    label_threshold: float | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    missing: Mapping[str, Sequence[str]] | None = None,
    level: Mapping[str, Sequence[str]] | None = None,
    merge: Sequence[str] = (),
) -> str:
    """Drafts the schema of a table, as TOML: kinds and domains of its columns, and its classes.

    Without a label the data hold no decisions, and `classes` says which there are. With `number` the
    label holds numbers, as of a regressor, and with `label_threshold` numbers, such as shares of
    raters, that stand for two classes: those below it, and the others. `missing={"race": ["?"]}` says
    which marks of a column mean that a value is missing, `level={"race": ["NA"]}` which words that
    look like such marks are levels, and `merge=["race"]` that levels which differ only in how they are
    written are one. What was decided that may be wrong goes to the logger `probity`, with what to say
    instead.

    How a file of text is laid out, and how numbers are written in it or in columns of text, is found
    in the data; `separator`, `encoding`, `decimal` and `thousands` say otherwise, as on the command
    line.
    """
    ignored = list_names("ignore", ignore)
    expect_name("label", label)
    options = DraftOptions(
        label=label,
        classes=[to_word(name) for name in classes],
        protected=list_names("protected", protected),
        missing=_list_cells(missing),
        level=_list_cells(level),
        merge=list_names("merge", merge),
        favourable=None if favourable is None else to_word(favourable),
        number=number,
        label_threshold=label_threshold,
        layout=Layout(separator, decimal, thousands, encoding),
    )
    if is_text_file(data):
        # The schema says how the file itself is laid out.
        path = os.path.abspath(os.fspath(data))
        return _draft(path, replace(options, ignore=ignored))
    for name, given in (("separator", separator), ("encoding", encoding)):
        if given is not None:
            raise OptionError(f"{name} has no meaning where the data are no file of text")
    return _draft(data if isinstance(data, Data) else Data(data, ignored), options)


def _list_cells(given: Mapping[str, Sequence[str]] | None) -> dict[str, list[str]]:
    """Lists what is said of the cells of columns, where one word need not be a list."""
    listed = {name: [cells] if isinstance(cells, str) else cells for name, cells in (given or {}).items()}
    return {str(name): [to_word(cell) for cell in cells] for name, cells in listed.items()}


def _draft(data: Data | str, options: DraftOptions) -> str:
    """Drafts the schema of data, or of the file of text at a path, and logs what may be wrong."""
    if isinstance(data, Data) and options.favourable is not None:
        spelt = data.spell_label(options.label, options.favourable)
        options = replace(options, favourable=spell_class(spelt, options.classes) if options.classes else spelt)
    with name_table("draft", data if isinstance(data, str) else data.table) as path:
        text, notes = draft_schema(path, options)
    listed = {} if isinstance(data, str) else data.list_categories()
    listed.pop(options.label or "", None)
    for note in notes:
        if note.partition(":")[0] not in listed:
            _log.info("%s", note)
    return _set_categories(text, listed)


def _set_categories(schema: str, listed: Mapping[str, tuple[list[str], bool]]) -> str:
    """Sets the levels of the columns whose type lists its values."""
    head, *parts = schema.split("[[attribute]]")
    attributes = read_schema(schema)["attribute"]
    for place, attribute in enumerate(attributes):
        levels, ordered = listed.get(attribute["name"], ([], False))
        missing = attribute.get("missing", [])
        marks = [missing] if isinstance(missing, str) else missing
        levels = [level for level in levels if level not in marks]
        if len(levels) < 2 or "merge" in attribute:
            continue
        lines = [
            f"name = {to_toml(attribute['name'])}",
            'kind = "categorical"',
            f"levels = {to_toml(levels)}",
            f"ordered = {'true' if ordered else 'false'}",
        ]
        if attribute.get("protected"):
            lines.append("protected = true")
        if marks:
            lines.append(f"missing = {to_toml(missing)}")
        lines.append(f"outside = {to_toml(attribute['outside'])}")
        parts[place] = "\n" + "\n".join(lines) + "\n\n"
    return "[[attribute]]".join([head, *parts]).rstrip() + "\n"


def list_names(option: str, names: Any) -> list[str]:
    """Lists the names of columns that an option holds, of which a single one need not be in a list."""
    if names is None or not hasattr(names, "__iter__"):
        raise OptionError(f"{option} is {names!r}, but must be a name, or a list of names")
    if isinstance(names, str):
        return [names]
    listed = [str(name) for name in names]
    if not isinstance(names, (list, tuple)) and len({*listed}) < len(listed):
        # Other libraries take the column itself.
        raise OptionError(
            f"{option} is a {type(names).__name__} of values, such as '{listed[0]}', but must be names of "
            f"columns{_suggest_name(names, '[{!r}]')}"
        )
    return listed


def expect_name(option: str, name: Any) -> None:
    """Refuses what is no name of a column, such as the column itself."""
    if not isinstance(name, str) and hasattr(name, "__iter__"):
        raise OptionError(
            f"{option} is a {type(name).__name__}, but must be the name of a column"
            f"{_suggest_name(name, '{!r}')}"
        )


def _suggest_name(column: Any, form: str) -> str:
    """Suggests the name of a column that was given in its place, if it has one."""
    name = getattr(column, "name", None)
    return f", such as {form.format(name)}" if isinstance(name, str) and name else ""


def list_attributes(protected: Any, columns: Collection[str]) -> list[str]:
    """Lists the attributes that `protected` names, each of which may stand there with a value, as in
    `sex=female`; what has the very name of one of `columns` is that column."""

    def drop_value(name: str) -> str:
        attribute, sign, _ = name.partition("=")
        return attribute.strip() if sign and name not in columns else name

    return list(dict.fromkeys(drop_value(name) for name in list_names("protected", protected)))


class Signature:
    """What a model takes and gives: its columns, and its classes in the order of its outputs.

    They are those that the model names, or else follow from the data and their schema.
    """

    def __init__(self, model: Model, data: Data, schema: Schema, notes: Notes):
        self.model, self.data, self.schema = model, data, schema
        self.of_schema = schema["label"]["classes"]
        if model.gives_numbers != (schema["label"].get("kind") == "number"):
            kinds = ("numbers", "classes") if model.gives_numbers else ("classes", "numbers")
            raise OptionError(f"the model gives {kinds[0]}, but the label of the schema holds {kinds[1]}")
        self.attributes = [attribute["name"] for attribute in schema["attribute"]]
        self._given = list_columns(schema)
        # Whether nobody but the data says what the classes are.
        self._is_by_order = False
        self.classes = self._order_classes(notes["classes"], notes["label"])
        # What the model is said not to take.
        unseen = set(notes.get("unseen") or ())
        if model.features is not None and (taken := unseen & set(model.features)):
            raise OptionError(
                f"ignore names '{min(taken)}', which the model takes; leave it out of ignore"
            )
        hidden = {schema["label"]["name"], notes["label"], *unseen}
        self.columns = model.features or [
            name for name in data.table.column_names if name not in hidden and self._is_shown(name)
        ]

    def _is_shown(self, name: str) -> bool:
        """Whether a column of the data is one of the model's, where it names none."""
        if name in self._given or len(self.data.table.column(name).unique()) == 1:
            return True
        _log.warning("the model is not asked with the column '%s', which the schema leaves out", name)
        return False

    def _order_classes(self, given: Sequence[str] | None, label: str | None) -> list[str]:
        """Orders the classes as the model's outputs."""
        if self.model.gives_numbers:
            return []
        if (named := self.model.order_classes(given)) is not None:
            return named
        self._is_by_order = True
        is_known = label is not None and label in self.data.table.column_names
        values = self.data.list_values(str(label)) if is_known else [""]
        is_text = any(isinstance(value, str) for value in values)
        return sorted(self.of_schema, key=None if is_text else to_sort_key)

    def make_predictor(self, given: tuple[Any, Any] | None = None) -> Predictor:
        """Makes the function by which Probity asks the model."""
        frames = Frames(self.data, self.schema, self.columns, self._given)
        named = (self.classes, self.of_schema, self.columns)
        return Predictor(self.model, frames, *named, given, self._is_by_order)


def infer_model_schema(
    model: Model,
    data: Data,
    label: str | None,
    protected: Sequence[str],
    classes: list[str] | None,
    favourable: Any,
) -> str:
    """Infers the schema of the columns that `model` takes."""
    if label is not None and label not in data.table.column_names:
        raise OptionError(f"the data have no column '{label}'")
    known = classes if classes is not None else model.classes
    if model.gives_numbers and label is None:
        raise OptionError("the model gives numbers: give label, the column of the data that holds them")
    if label is None and known is None:
        raise OptionError(
            "nothing says which classes there are: give label (a column of the data) or classes "
            "(those of the model, in the order of its outputs)"
        )
    others: list[str] = []
    attributes = list_attributes(protected, data.table.column_names)
    if model.features is not None:
        # What is protected is asked about even where the model does not take it.
        taken = {*model.features, *attributes, label, *_list_spread(attributes, model.features, data)}
        others = [name for name in data.table.column_names if name not in taken]
    completed = [] if label is None or model.gives_numbers else _complete_classes(data, label, known)
    options = DraftOptions(
        label=label,
        classes=completed or (known if label is None and known else []),
        protected=attributes,
        ignore=others,
        # Of numbers it is no class of the schema.
        favourable=None if favourable is None or model.gives_numbers else to_word(favourable),
        number=model.gives_numbers,
    )
    return _draft(data, options)


def _list_spread(attributes: Sequence[str], features: Sequence[str], data: Data) -> list[str]:
    """Lists the columns that may be those over which one of the `attributes` is spread, where neither it
    nor they are among the `features` of the model."""
    names = data.table.column_names

    def list_called(attribute: str, columns: Sequence[str]) -> list[str]:
        rest = [(name, name.removeprefix(attribute)) for name in columns if name.startswith(attribute)]
        return [name for name, value in rest if not value[:1].isalnum()]

    sought = [name for name in attributes if name not in names and not list_called(name, features)]
    return [column for name in sought for column in list_called(name, names)]


def _complete_classes(data: Data, label: str, known: list[str] | None) -> list[str]:
    """Completes the classes in the column `label` by the others that are `known`, those of the model, or
    else, where there is but one, by those that the type of the column lists; empty where nothing is to
    be completed."""
    values = data.table.column(label).unique().to_pylist()
    words = {to_word(value) for value in values if not is_missing(value)} - {""}
    if not words or (known is None and len(words) > 1):
        return []
    if known is None:
        listed = data.list_classes(label)
        if len(listed) < 2:
            raise OptionError(
                f"the label '{label}' holds one class alone, '{min(words)}'; name those of the model in "
                "classes=[…], in the order of its outputs"
            )
        return listed
    present = {spell_class(word, known) for word in words}
    if len(words) == 1 and not present <= {*known}:
        raise OptionError(
            f"the classes of the model are {', '.join(known)}, but the label '{label}' holds "
            f"'{min(words)}' alone; name the model's as the label does in classes=[…], in the order of "
            "its outputs"
        )
    return known if present < {*known} else []


def to_sort_key(name: str) -> Any:
    """Makes the key by which scikit-learn sorts classes: numbers by value, words by the alphabet."""
    try:
        return (0, float(name), "")
    except ValueError:
        return (1, 0.0, name)
