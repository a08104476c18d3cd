"""The values that pass between Python and Rust as JSON, each with its type.

Fields of a specification are those that `options` lists. Here are those of them that the package
itself sets (`Inputs`) or reads (`Specification`).
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Callable, Mapping, TypedDict

import numpy as np

from . import _probity
from ._errors import OptionError
from ._memory import name_table
from ._program import program

#: A span of time: a number of seconds, a `timedelta`, or a text such as `20s`, `5m` and `1h 30m`.
Time = float | str | timedelta

#: What a run is performed on, by the names of its fields.
Inputs = TypedDict(
    "Inputs",
    {
        "modality": str,
        "model": str,
        "data": str,
        "label": bool,
        "text_column": str,
        "predictor.source": str,
        "predictor.schema": str,
        "predictor.classes": list[str],
        "runs": list[str],
        "train": str,
        "test": str,
        "marginals": str,
        "population": str,
        "ledger": str,
        "schema": str,
        "weights": str,
        "config": str,
        "text": dict[str, Any],
    },
    total=False,
)


class PredictorFields(TypedDict, total=False):
    """The model of a run, if it is one that is asked for its outputs alone."""

    source: str
    schema: str


class Specification(TypedDict, total=False):
    """The specification of a run, as far as it is read here."""

    modality: str
    model: str
    data: str
    predictor: PredictorFields


class PartReport(TypedDict, total=False):
    """What was done of a part of a run: the stage of a shard and its items, unless it was there already;
    or, after a merge, the starts of the stage that follows."""

    stage: str
    items: int
    stopped: bool
    starts: int


class FoundShare(TypedDict):
    """A share of an audit with its 95 % interval, and what it is of."""

    protected: list[str]
    value: float
    low: float
    high: float
    inputs: int
    of: str


class FoundShares(TypedDict):
    """The shares of an audit: of its rows or texts, where these were asked about, and of random inputs,
    which there are none of for texts."""

    data: list[FoundShare] | None
    uniform: list[FoundShare] | None


class Label(TypedDict, total=False):
    """The label of a schema."""

    name: str
    classes: list[str]
    kind: str


class Attribute(TypedDict, total=False):
    """An attribute of a schema."""

    name: str
    kind: str
    min: int
    max: int
    levels: list[str]
    missing: str | list[str]
    merge: dict[str, str]
    outside: str
    protected: bool


class Schema(TypedDict):
    """A schema, as far as it is read here."""

    format: dict[str, Any]
    label: Label
    attribute: list[Attribute]


def list_columns(schema: Schema) -> list[str]:
    """Lists the columns with which a model is asked: attributes, or those that one is spread over."""
    spread = schema["format"].get("spread", {})
    own = [attribute["name"] for attribute in schema["attribute"]]
    return [column for name in own for column in (spread[name]["columns"] if name in spread else [name])]


@dataclass(frozen=True)
class Layout:
    """The layout of a file of text; what is `None` is found in the file."""

    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None


@dataclass(frozen=True)
class DraftOptions:
    """The options by which a schema is inferred (`Wanted` in python/src/reading.rs)."""

    label: str | None = None
    classes: list[str] = field(default_factory=list)
    protected: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)
    level: dict[str, list[str]] = field(default_factory=dict)
    merge: list[str] = field(default_factory=list)
    favourable: str | None = None
    number: bool = False
    label_threshold: float | None = None
    name: str = "table"
    layout: Layout = Layout()


@dataclass(frozen=True)
class Budget:
    """The budget that the owner of data declares (`Declared` in python/src/runs.rs)."""

    data: str
    epsilon: float
    delta: float
    slack: float | None
    columns: list[str]
    schema: str | None
    names: list[str]
    separator: str


def options(kind: str) -> list[dict[str, Any]]:
    """Lists the options of a kind of run, such as `audit`, with `path`, short `name`, `help`, `default`
    and whether it is `required`."""
    fields: list[dict[str, Any]] = json.loads(_probity.fields(kind))
    return fields


def schema_of(schema: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads the schema in a file, of a built-in name, or in TOML, as a dictionary."""
    return {**read_schema(schema)}


def read_schema(schema: str | os.PathLike[str]) -> Schema:
    """Reads the schema in a file, of a built-in name, or in TOML."""
    read: Schema = json.loads(_probity.schema(os.fspath(schema)))
    return read


def read_schema_of_run(schema: str | os.PathLike[str], fields: Mapping[str, Any]) -> Schema:
    """Reads a schema with what the `fields` of a run say of missing, outside and bad values, and of
    other columns."""
    read = read_schema(schema)
    outside = fields.get("outside", fields.get("out_of_domain"))
    for attribute in read["attribute"]:
        takes = {
            "level": "missing" in attribute or attribute["outside"] != "reject",
            "clip": attribute["kind"] != "categorical",
        }
        if outside in ("skip", "reject") or takes.get(str(outside), False):
            attribute["outside"] = outside
    if fields.get("skip_bad_rows"):
        read["format"]["skip_bad_rows"] = True
    if fields.get("ignore_other_columns"):
        read["format"]["ignore_other_columns"] = True
    return read


def draft_schema(path: str, options: DraftOptions) -> tuple[str, list[str]]:
    """Drafts the schema of the table at `path`, as TOML, and notes what was decided that may be wrong."""
    label = "decision" if options.label is None else options.label
    return _probity.infer_schema(path, to_json({**asdict(options), "label": label}))


def read_specification(directory: str | os.PathLike[str]) -> tuple[str, Specification]:
    """Reads the kind of the run in `directory`, and its specification."""
    kind, fields = _probity.specification(os.fspath(directory))
    return kind, json.loads(fields)


def read_shares(summary: dict[str, Any]) -> FoundShares:
    """Reads the shares of an audit in its `summary`."""
    shares: FoundShares = json.loads(_probity.shares(json.dumps(summary)))
    return shares


def read_disadvantaged(summary: dict[str, Any]) -> list[str]:
    """Reads who is disadvantaged in the `summary` of an audit, a sentence for each attribute."""
    return _probity.disadvantaged(json.dumps(summary))


def verify_audit(directory: Path, model: str | None = None) -> dict[str, Any]:
    """Asks the model again about the pairs of the audit in `directory`."""
    verdict: dict[str, Any] = json.loads(_probity.verify_audit(directory, model))
    return verdict


def ask_network(directory: str | os.PathLike[str], name: str, table: Any) -> np.ndarray:
    """Asks the network in `directory` for the probabilities of the rows of `table`, row by row."""
    with name_table(name, table) as path:
        answer: np.ndarray = _probity.probabilities(directory, path).to_numpy()
    return answer


def to_json(value: Any) -> str:
    """Writes options as JSON: paths and spans of time as text, numbers of numpy as numbers."""

    def other(value: Any) -> Any:
        if isinstance(value, os.PathLike):
            return os.path.abspath(os.fspath(value))
        if isinstance(value, timedelta):
            return _write_time(value)
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray):
            return value.tolist()
        if isinstance(value, (set, frozenset, tuple)):
            return sorted(value) if isinstance(value, (set, frozenset)) else list(value)
        raise TypeError

    try:
        return json.dumps(value, default=other, allow_nan=False)
    except ValueError as error:
        name, number = _find("an option", value, _is_infinite) or ("an option", "NaN or infinite")
        raise OptionError(f"{name} is {number}, but must be a finite number") from error
    except TypeError as error:
        name, found = _find("an option", value, _is_foreign) or ("an option", value)
        raise OptionError(
            f"{name} is a {type(found).__name__}, but must be a text, a number, a list of them, or a "
            "dictionary of options"
        ) from error


def to_toml(value: Any) -> str:
    """Writes a value in TOML, which has no pairs of surrogates as JSON has."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{to_toml(key)} = {to_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(to_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _is_infinite(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and not math.isfinite(value)


def _is_foreign(value: Any) -> bool:
    """Whether options hold no such value."""
    known = (str, int, float, np.generic, os.PathLike, timedelta)
    return value is not None and not isinstance(value, known)


def _find(name: str, value: Any, is_wrong: Callable[[Any], bool]) -> tuple[str, Any] | None:
    """Finds what is wrong in the `value` of an option, and the name of its option."""
    if isinstance(value, dict):
        found = (_find(str(key), inner, is_wrong) for key, inner in value.items())
    elif isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        found = (_find(name, inner, is_wrong) for inner in value)
    else:
        return (name, value) if is_wrong(value) else None
    return next((one for one in found if one is not None), None)


def _write_time(time: timedelta) -> str:
    """Writes a span of time as options have it, in the largest unit that gives a whole number."""
    units = {"s": timedelta(seconds=1), "ms": timedelta(milliseconds=1), "us": timedelta(microseconds=1)}
    return next(f"{time // unit}{name}" for name, unit in units.items() if not time % unit)


# Graphs of ONNX files are computed by the command, in processes that are bounded.
_probity.compute_graphs_in(program())
