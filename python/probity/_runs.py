"""Runs: what is asked for, performed; and what they leave, read."""

from __future__ import annotations

import contextlib
import html
import json
import logging
import os
import shutil
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from . import _parts, _probity, _process
from ._errors import DataError, ModelError, NameTaken, OptionError, ProbityError
from ._fetch import fetched
from ._frames import Data, Frames, _word, is_path, is_text_file, to_arrow
from ._models import Asked, Model, in_order
from ._parts import Call, Failure, Part, PartDone
from ._texts import TEXT, TextModel, Texts, classes_of, is_list_of_texts

if TYPE_CHECKING:
    from .engines import Engine

_T = TypeVar("_T")
_R = TypeVar("_R", bound="Run")
_log = logging.getLogger("probity")

#: A cell of text in CSV that began with what formulas begin with.
_SAFE = "^'('*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20])"

#: Told phase, steps done, steps in all, and a word.
Progress = Callable[[str, int, int, str], object]


@dataclass(frozen=True)
class Share:
    """A share with its 95 % interval, from 0 to 1."""

    protected: tuple[str, ...]
    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        low, high = 100 * self.low, 100 * self.high
        return f"{100 * self.value:.1f} % ({low:.1f} – {high:.1f})"


def _shares(found: list[dict[str, Any]]) -> list[Share]:
    return [Share(tuple(one["protected"]), one["rate"], *one["ci95"]) for one in found]


class Run:
    """The directory of a run, with what was asked for and what was found.

    Where no `out` was given to the run, its directory is a temporary one, which goes with the last
    reference to this; `save` keeps it.
    """

    _kinds: tuple[str, ...] = ()

    def __init__(self, directory: Path, keep: Any = None):
        self.directory = directory
        self._keep = keep

    @classmethod
    def load(cls: type[_R], directory: str | os.PathLike[str]) -> _R:
        """The run in `directory`."""
        kind, _ = _probity.specification(os.fspath(directory))
        if cls._kinds and kind not in cls._kinds:
            raise OptionError(f"{os.fspath(directory)} holds a run of the kind '{kind}'")
        return cls(Path(directory))

    def __fspath__(self) -> str:
        return str(self.directory)

    @property
    def specification(self) -> dict[str, Any]:
        """What was asked for: every field that is not as its default, and a record of what was
        opened."""
        fields: dict[str, Any] = json.loads(_probity.specification(str(self.directory))[1])
        return fields

    @property
    def summary(self) -> dict[str, Any]:
        """What was found: `summary.json`, whose keys docs/file-formats.md describes."""
        try:
            text = (self.directory / "summary.json").read_text(encoding="utf-8")
        except FileNotFoundError:
            raise ProbityError(
                f"{self.directory} has no summary.json: the run is unfinished; resume=True goes on"
            ) from None
        summary: dict[str, Any] = json.loads(text)
        return summary

    def report(self, file: str | os.PathLike[str] | None = None, *, format: str | None = None) -> str:
        """A report on the run, written to `file` where one is given.

        `format` is one of those of `probity report`; by default what the file's name says, else
        `html`.
        """
        named = {".md": "markdown", ".json": "json"}
        if format is None:
            format = named.get(Path(file).suffix, "html") if file is not None else "html"
        made = _probity.report([str(self.directory)], format, None if file is None else str(file))
        if file is not None:
            Path(file).write_bytes(made)
        return made.decode(errors="replace")

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Copies the run to `directory`, which must be empty or absent."""
        place = Path(directory)
        if place.exists() and any(place.iterdir()):
            raise OptionError(f"{place} is not empty; choose another directory")
        shutil.copytree(self.directory, place, dirs_exist_ok=True)

    def __repr__(self) -> str:
        return f"<probity.{type(self).__name__} in {self.directory}>"


class Audit(Run):
    """What an audit found."""

    _kinds = ("audit",)

    def __init__(self, directory: Path, keep: Any = None, speed: tuple[int, float, float] | None = None):
        super().__init__(directory, keep)
        self._speed = speed

    @property
    def people(self) -> list[Share]:
        """The share of the rows whose decision changes, by each protected attribute, and the joint
        one last; empty where the audit was stopped before it was known.

        Of a model of tables: of the rows of the data, or those that were named; of a model of
        texts, these are `shares`. `summary["population"]` says whom it meets, in which direction,
        and how far their scores move.
        """
        found = self.summary.get("population")
        if found is None:
            return self.shares if self.summary["modality"] == "text" else []
        return _shares(found["shares"])

    @property
    def shares(self) -> list[Share]:
        """The discriminatory share by each protected attribute, and the joint one last.

        Of a model of tables: the share of uniform random inputs whose decision changes with
        protected attributes alone; of a model of texts: the share of the texts with a protected
        term.
        """
        return _shares(self.summary["fairness"])

    @property
    def share(self) -> Share:
        """The discriminatory share by all protected attributes jointly."""
        return self.shares[-1]

    @property
    def model_rows_per_second(self) -> float | None:
        """Rows that a model of Python answered in a second of its own time; `None` for others."""
        return self._speed[0] / self._speed[1] if self._speed and self._speed[1] else None

    @property
    def rows_per_second(self) -> float | None:
        """Rows that a model of Python was asked for in a second of the whole audit."""
        return self._speed[0] / self._speed[2] if self._speed and self._speed[2] else None

    def pairs(self) -> pa.Table:
        """The pairs that were found, both sides in the schema's words.

        Columns: `seed`, `phase`, `step` of the search; `x_…` and `other_…`, the values of both
        sides; `label_x`, `label_other`, their decisions; `changed`, what differs.
        """
        file = _probity.samples_file(str(self.directory))
        if str(file).endswith(".csv"):
            from pyarrow import csv

            # Words that look like numbers are words.
            with open(file, encoding="utf-8") as opened:
                header = opened.readline().rstrip("\n").split(",")
            words = {
                name.strip('"'): pa.string()
                for name in header
                if not name.strip('"').startswith(("seed", "step", "logit_", "number_"))
            }
            table = csv.read_csv(file, convert_options=csv.ConvertOptions(column_types=words))
            # What would be a formula to a spreadsheet stands behind an apostrophe.
            for place, name in enumerate(table.column_names):
                if name in words:
                    column = pc.replace_substring_regex(table.column(place), _SAFE, r"\1")
                    table = table.set_column(place, name, column)
            return table
        from pyarrow import parquet

        return parquet.read_table(file)

    def verify(self, model: Any = None, data: Any = None) -> dict[str, Any]:
        """Asks the model anew about every pair: how many are `confirmed`, and what is wrong with the
        `rejected`.

        An audit of a model of Python that was loaded from its directory needs that `model`, and the
        `data`, by whose types it is asked. A model directory may have moved to `model`.
        """
        _process.begin()
        specification, held = self.specification, _held(self.directory)
        source = specification.get("predictor", {}).get("source", "")
        if not source.startswith("memory:"):
            own = self.directory / _MODEL
            if model is not None and not is_path(model):
                model = import_network(model, held["schema"], classes=held["classes"])
            elif model is None and own.is_dir():
                model = own
            elif model is None:
                model = held.get("urls", {}).get("model")
            with contextlib.ExitStack() as copies:
                place = os.fspath(model) if model is not None else None
                if place is not None and "://" in place:
                    folder = copies.enter_context(tempfile.TemporaryDirectory(prefix="probity-"))
                    place = fetched(place, Path(folder))
                result: dict[str, Any] = json.loads(
                    _probity.verify_audit(str(self.directory), place)
                )
            return result
        if model is None and isinstance(self._keep, _Kept):
            model, data = self._keep.model, self._keep.data
        if model is None or data is None:
            raise OptionError(
                "the model was one of Python: give it, and the data that it was audited with"
            )
        if specification.get("modality") == "text":
            of_texts = TextModel(model, held["gives"])
            asked = Asked(of_texts, Texts(data, held["column"]), held["classes"], held["classes"])
        else:
            schema = specification["predictor"]["schema"]
            read, described = Data(data, held["ignore"], schema), Model(model, held["gives"])
            described.knows(read.table.column_names)
            asked = _Question(described, read, schema_of(schema), held).asked(schema)
        with contextlib.ExitStack() as names:
            named = _named_model(names, source.removeprefix("memory:"), True, asked)
            with _explained(named):
                result = json.loads(_probity.verify_audit(str(self.directory), None))
            return result

    @property
    def passed(self) -> bool | None:
        """Whether the joint share, of the rows or by `bound="uniform"` of random inputs, is shown to
        be at most `fail_above`; `None` where that was not given. It is not shown of a model that does
        not take the protected attributes, unless `blind_ok=True` was given."""
        bound = self.summary.get("fail_above")
        return None if bound is None else bool(bound["verdict"] == "within")

    @property
    def not_taken(self) -> list[str]:
        """The protected attributes that the model does not take: it was fitted without them, or its
        answers are the same, bit for bit, for all of their values in everything that was asked. That
        nothing flips by them says nothing about columns that stand for them."""
        return list(self.summary.get("not_taken", ()))

    @property
    def is_complete(self) -> bool:
        """Whether the search and the estimates came to their end; if not, `resume=True` goes on."""
        return self.summary["ending"] not in ("interrupted", "time")

    def _warn(self) -> None:
        if not self.is_complete:
            _log.warning("the audit was stopped: its figures are of what was done by then")
        if said := _probity.not_taken(self.not_taken, self.summary["protected"]):
            _log.warning("%s", said)
        if self.summary.get("decides_alike") is not None:
            _log.warning(
                "the model decides everything alike (%s): nothing can be found in it",
                self.summary["decides_alike"].get("class", "one class"),
            )

    def _repr_html_(self) -> str:
        of_rows = self.people if "population" in self.summary else []
        kinds = [("rows", of_rows), ("random inputs" if of_rows else "", self.shares)]
        rows = "".join(
            f"<tr><td>{html.escape(' + '.join(share.protected))}</td><td>{kind}</td>"
            f"<td>{html.escape(str(share))}</td></tr>"
            for kind, shares in kinds
            for share in shares
        )
        found = self.summary["total"]["discriminatory_rows"]
        some = self.pairs().slice(0, 5).select(["changed", "label_x", "label_other"]).to_pylist()
        pairs = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row.values()) + "</tr>"
            for row in some
        )
        blind = ""
        if said := _probity.not_taken(self.not_taken, self.summary["protected"]):
            blind = f"<p>{html.escape(said[0].upper() + said[1:])}.</p>"
        return (
            f"{blind}<table><caption>Discriminatory share</caption><tr><th>protected</th><th>of</th><th>share (95 %)</th></tr>{rows}</table>"
            f"<table><caption>{found} pairs were found, for instance</caption>"
            f"<tr><th>changed</th><th>decision</th><th>other decision</th></tr>{pairs}</table>"
        )

    def __repr__(self) -> str:
        joint = (self.people or self.shares)[-1]
        stopped = "" if self.is_complete else ", stopped before its end"
        not_taken = f", does not take {' + '.join(self.not_taken)}" if self.not_taken else ""
        of = " + ".join(joint.protected)
        return f"<probity.Audit of {of}: {joint}{not_taken}{stopped}, in {self.directory}>"


@dataclass
class _Kept:
    """What lasts as long as a run is referred to."""

    folder: Any = None
    model: Any = None
    data: Any = None


def options(kind: str) -> list[dict[str, Any]]:
    """The options of a kind of run, such as `audit`: `path`, short `name`, `help`, `default`."""
    fields: list[dict[str, Any]] = json.loads(_probity.fields(kind))
    return fields


#: What is said of layout, cells and outcomes where nobody says anything.
_SAID: Mapping[str, Any] = {
    "layout": dict.fromkeys(("separator", "decimal", "thousands", "encoding")),
    "missing": {},
    "level": {},
    "merge": [],
    "label_threshold": None,
}


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
    of_label = list(classes), favourable, number
    layout = {"separator": separator, "decimal": decimal, "thousands": thousands, "encoding": encoding}
    said = {"layout": layout, "missing": _cells(missing), "level": _cells(level), "merge": _names(merge)}
    said["label_threshold"] = label_threshold
    if is_text_file(data):
        # The schema says how the file itself is laid out.
        path = os.path.abspath(os.fspath(data))
        return _drafted(path, label, _names(protected), _names(ignore), of_label, said)
    for name in ("separator", "encoding"):
        if layout[name] is not None:
            raise OptionError(f"{name} has no meaning where the data are no file of text")
    return _drafted(Data(data, ignore), label, _names(protected), (), of_label, said)


def _cells(said: Mapping[str, Sequence[str]] | None) -> dict[str, list[str]]:
    """What is said of the cells of columns; one word is a list of itself."""
    listed = {name: [cells] if isinstance(cells, str) else cells for name, cells in (said or {}).items()}
    return {str(name): [_word(cell) for cell in cells] for name, cells in listed.items()}


def _drafted(
    data: Data | str,
    label: str | None,
    protected: Sequence[str],
    ignore: Sequence[str],
    of_label: tuple[Sequence[Any], Any, bool],
    said: Mapping[str, Any] = _SAID,
) -> str:
    """The schema of data, or of the file of text at a path."""
    classes, favourable, number = of_label
    wanted = {
        **said,
        "number": number,
        "label": label if label is not None else "decision",
        "classes": [_word(name) for name in classes],
        "protected": list(protected),
        "ignore": list(ignore),
        "favourable": None if favourable is None else _word(favourable),
        "name": "table",
    }
    with contextlib.ExitStack() as names:
        path = data if isinstance(data, str) else _named(names, "draft", False, data.table)
        text, notes = _probity.infer_schema(path, _json(wanted))
    listed = {} if isinstance(data, str) else data.categories()
    listed.pop(label or "", None)
    for note in notes:
        if note.partition(":")[0] not in listed:
            _log.info("%s", note)
    return _with_categories(text, listed)


def _with_categories(schema: str, listed: Mapping[str, tuple[list[str], bool]]) -> str:
    """The schema, in which columns whose type lists their values have these."""
    head, *parts = schema.split("[[attribute]]")
    attributes = schema_of(schema)["attribute"]
    for place, attribute in enumerate(attributes):
        levels, ordered = listed.get(attribute["name"], ([], False))
        missing = attribute.get("missing", [])
        marks = [missing] if isinstance(missing, str) else missing
        levels = [level for level in levels if level not in marks]
        if len(levels) < 2 or "merge" in attribute:
            continue
        lines = [
            f"name = {_toml(attribute['name'])}",
            'kind = "categorical"',
            f"levels = {_toml(levels)}",
            f"ordered = {'true' if ordered else 'false'}",
        ]
        if attribute.get("protected"):
            lines.append("protected = true")
        if marks:
            lines.append(f"missing = {_toml(missing)}")
        lines.append(f"outside = {_toml(attribute['outside'])}")
        parts[place] = "\n" + "\n".join(lines) + "\n\n"
    return "[[attribute]]".join([head, *parts]).rstrip() + "\n"


def _toml(value: str | list[str]) -> str:
    """A text, or a list of them, in TOML, which has no pairs of surrogates as JSON has."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def audit(
    model: Any,
    data: Any,
    protected: Sequence[Any] = (),
    label: Any = None,
    *,
    schema: str | os.PathLike[str] | None = None,
    classes: Sequence[Any] | None = None,
    favourable: Any = None,
    ignore: Sequence[Any] = (),
    gives: str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    device: str = "auto",
    progress: bool | Progress | None = None,
    threads: int | None = None,
    engine: str | Engine | None = None,
    shards: int | None = None,
    **options: Any,
) -> Audit:
    """Searches `model` for individual discrimination, beginning at the rows of `data`.

    `model` is a model directory (or a run that made one), a fitted estimator with `predict_proba` or
    `decision_function`, a booster, a `torch.nn.Module`, or a function from a data frame to
    probabilities; frames are like `data`. `data` is a path, or a table with `__arrow_c_stream__`.

    `data` that are a list of texts, or have a `text_column`, are texts. `model` is then a model
    directory, a fitted pipeline of scikit-learn, a pipeline of `transformers` for text
    classification, a pair of a `torch.nn.Module` and its tokenizer, or a function from a list of
    texts to probabilities. `classes` are needed where the model does not say them itself.

    For a model that is no directory, `schema` says what its columns may hold (a file, a built-in name
    or TOML); by default it is inferred from the data, where `label` is the column of the classes and
    no input, and `ignore` names other columns that are none. `classes` are the model's, in the order
    of its outputs, where it does not say them itself; without them, and with a label, they are taken
    to be sorted. `gives` says whether its outputs are `probabilities`, `logits` or, of a
    regressor, `numbers`, which an estimator without classes gives by itself; `gap` is then needed.

    `out` is the run's directory, by default a temporary one. With `resume` the unfinished run there
    goes on, and all options come from it. Other options are those of the specification:
    `probity.options("audit")`.

    With an `engine`, such as `"ray"` (see `probity.engines`), the run is cut into `shards`, which its
    workers do; the result is the same. The shards are kept beside `out` until all are done, and
    `resume`, with all arguments as they were, does those that are missing.
    """
    if engine is not None:
        for_python = {
            "protected": protected, "label": label, "schema": schema, "classes": classes,
            "favourable": favourable, "ignore": ignore, "gives": gives, "device": device,
        }
        if threads is not None:
            options["threads"] = threads
        given = {**for_python, **options}
        cut = _Cut(engine, shards, out, resume, progress)
        found: Audit = cut.perform("audit", (model, data), given)
        return found
    if shards is not None:
        raise OptionError("shards has no meaning without an engine")
    told = {
        "label": label, "schema": schema, "classes": classes, "favourable": favourable,
        "ignore": ignore, "gives": gives,
    }
    if len(names := _names(protected)):
        options["protected"] = names
    with _Setting(out, resume, device, progress, threads) as setting:
        audit: Audit
        audit, kept = _of_any_model(Audit, "audit", setting, (model, data), told, options)
        if kept is not None:
            kept.folder = (audit._keep, kept.folder)
            audit._keep = kept
        audit._warn()
        return audit


def explain(
    model: Any,
    data: Any,
    row: int,
    protected: Sequence[Any] = (),
    label: Any = None,
    *,
    schema: str | os.PathLike[str] | None = None,
    classes: Sequence[Any] | None = None,
    ignore: Sequence[Any] = (),
    gives: str | None = None,
    threads: int | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Explains what `model` decides of one row, or one text, of `data`: what it would decide with all
    other protected values, and the smallest change of anything else after which these no longer matter.

    `row` is its number from 1, also where others are left out: that of `frame.iloc[0]` is 1. `model`,
    `data`, `protected`, `label`, `schema`, `classes`, `ignore` and `gives` are as in `probity.audit`.
    Other options, such as `favourable`, `fixed`, `alternatives`, `max_calls` and `gap`, are listed by
    `probity.options("explain")`.

    What comes back is what `probity explain --json` prints: `class` and `probabilities` of the row,
    `variants`, of which `flips` are decided otherwise, and, where there are any, `undoing`, whose
    `changes` are the smallest ones.
    """
    told = {
        "label": label, "schema": schema, "classes": classes, "favourable": None,
        "ignore": ignore, "gives": gives,
    }
    options["row"] = row
    if len(names := _names(protected)):
        options["protected"] = names
    with _Answering(progress=False, threads=threads) as setting:
        explanation: dict[str, Any]
        explanation, _ = _of_any_model(dict, "explain", setting, (model, data), told, options)
        return explanation


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
    taken = setting.taken_again(model)
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


#: What only Python knows of a run, beside what the run says of itself.
_HELD = "python.json"
#: The model that was made for a run.
_MODEL = "model"


def _hold(directory: Path, said: Mapping[str, Any]) -> None:
    (directory / _HELD).write_text(_json(said), encoding="utf-8")


def _held(directory: Path) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads((directory / _HELD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return said


def _names(names: Any) -> list[str]:
    """Names of columns: one, or several."""
    return [names] if isinstance(names, str) else [str(name) for name in names]


class _Question:
    """A model, the data, and the schema in whose words it is asked."""

    def __init__(self, model: Model, data: Data, schema: dict[str, Any], said: Mapping[str, Any]):
        self.model, self.data, self.schema = model, data, schema
        self.of_schema: list[str] = schema["label"]["classes"]
        if model.gives_numbers != (schema["label"].get("kind") == "number"):
            kinds = ("numbers", "classes") if model.gives_numbers else ("classes", "numbers")
            raise OptionError(f"the model gives {kinds[0]}, but the label of the schema holds {kinds[1]}")
        self.attributes = [attribute["name"] for attribute in schema["attribute"]]
        self.classes = self._classes(said["classes"], said["label"])
        columns = data.table.column_names
        hidden = {schema["label"]["name"], said["label"]}
        # What the model is said not to take.
        unseen = set(said.get("unseen") or ())
        if model.features is not None and (taken := unseen & set(model.features)):
            raise OptionError(
                f"ignore names '{min(taken)}', which the model takes; leave it out of ignore"
            )
        hidden |= unseen
        self.columns = model.features or [
            name for name in columns if name not in hidden and self._is_shown(name)
        ]

    def _is_shown(self, name: str) -> bool:
        if name in self.attributes:
            return True
        if len(self.data.table.column(name).unique()) == 1:
            return True
        _log.warning("the model is not asked with the column '%s', which the schema leaves out", name)
        return False

    def _classes(self, given: Sequence[Any] | None, label: str | None) -> list[str]:
        """The classes in the order of the model's outputs."""
        if self.model.gives_numbers:
            return []
        own = self.model.classes
        if given is not None:
            named = [_word(name) for name in given]
            if own is not None and own != named and sorted(own) == sorted(named):
                raise OptionError(
                    f"classes are {', '.join(named)}, but the model has them in another order: "
                    f"{', '.join(own)}; leave classes out, or name them in that order"
                )
            return named
        if own is not None:
            return own
        column = self.data.table.column(label) if label in self.data.table.column_names else None
        if column is not None and not pa.types.is_string(column.type) and not _is_text(column.type):
            return sorted(self.of_schema, key=_sorting)
        return sorted(self.of_schema)

    def asked(self, schema: str) -> Asked:
        """The model as Probity asks it."""
        frames = Frames(self.data, schema, self.columns, self.attributes)
        return Asked(self.model, frames, self.classes, self.of_schema, self.columns)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_large_string(kind)) or "string" in str(kind)


def _inferred(
    model: Model,
    data: Data,
    label: str | None,
    protected: Sequence[str],
    classes: Sequence[Any] | None,
    favourable: Any,
) -> str:
    """The schema of the columns that `model` takes."""
    if label is not None and label not in data.table.column_names:
        raise OptionError(f"the data have no column '{label}'")
    known = [_word(name) for name in classes] if classes is not None else model.classes
    if model.gives_numbers and label is None:
        raise OptionError("the model gives numbers: give label, the column of the data that holds them")
    if label is None and known is None:
        raise OptionError(
            "nothing says which classes there are: give label (a column of the data) or classes "
            "(those of the model, in the order of its outputs)"
        )
    others: list[str] = []
    if model.features is not None:
        # What is protected is asked about even where the model does not take it.
        taken = {*model.features, *protected, label}
        others = [name for name in data.table.column_names if name not in taken]
    named = () if label is not None else known or ()
    return _drafted(data, label, protected, others, (named, favourable, model.gives_numbers))


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


def schema_of(schema: str | os.PathLike[str]) -> dict[str, Any]:
    """The schema in a file, of a built-in name, or in TOML, as a dictionary."""
    read: dict[str, Any] = json.loads(_probity.schema(os.fspath(schema)))
    return read


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

    read = schema_of(schema)
    of_schema = read["label"]["classes"]
    known = [_word(name) for name in classes] if classes is not None else sorted(of_schema, key=_sorting)
    stack = Stack.of(network)
    with tempfile.TemporaryDirectory(prefix="probity-") as folder:
        fields = stack.written(Path(folder), in_order(known, of_schema))
        fields.update(modality="table", schema=_text_of(schema))
        run: Run = _Setting(out, progress=False).perform(Run, "import", {}, fields)
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
        told = import_text(network, words, Path(folder), given)
        run: Run = _Setting(out, progress=False).perform(Run, "import", {}, told)
    apart = {row for row in (unknown_row, padding_row) if row is not None}
    expect_same_of_texts(network, words, run.directory, apart)
    return run


def _text_of(schema: str | os.PathLike[str]) -> str:
    """A file by its absolute path; a built-in name and TOML as they are."""
    name = os.fspath(schema)
    return os.path.abspath(name) if "\n" not in name and os.path.isfile(name) else name


def _sorting(name: str) -> Any:
    """As scikit-learn sorts classes: numbers by value, words by the alphabet."""
    try:
        return (0, float(name), "")
    except ValueError:
        return (1, 0.0, name)


def train(data: Any, label: str | None = None, protected: Sequence[str] = (), **options: Any) -> Run:
    """Trains a network on the rows, or the texts, of `data`; the run is a model directory.

    Where no `schema` is among the options, it is inferred, with `label` as the column to learn.
    `probity.options("train")` lists the options.
    """
    setting = _Setting.split_from(options)
    with setting:
        is_text = options.get("modality") == "text"
        if not setting.began and "schema" not in options and not is_text:
            if label is None:
                raise OptionError("label is needed: the column to learn, where there is no schema")
            options["schema"] = infer_schema(data, label, protected=protected)
        elif protected:
            raise OptionError("protected has no meaning where there is a schema, which marks them")
        inputs = {"data": setting.path("data", data)}
        run: Run = setting.perform(Run, "train", options, inputs)
        return run


def repair(model: Any, data: Any, audits: Sequence[Any] = (), **options: Any) -> Run:
    """Retrains `model` on `data` with what `audits` found, and saves it if it became fairer and is not
    worse; the run is then a model directory. `probity.options("repair")` lists the options."""
    runs = [os.path.abspath(os.fspath(audit)) for audit in audits]
    return _of_model("repair", model, data, options, {"runs": runs} if runs else {})


def groups(
    model: Any,
    data: Any,
    protected: Sequence[Any] = (),
    label: Any = None,
    *,
    schema: str | os.PathLike[str] | None = None,
    classes: Sequence[Any] | None = None,
    ignore: Sequence[Any] = (),
    gives: str | None = None,
    **options: Any,
) -> Run:
    """Measures how differently `model` treats the groups of protected attributes in `data`, whether it
    takes these attributes or not.

    `model` is whatever `probity.audit` takes, with `label`, `schema`, `classes`, `ignore` and `gives` as
    there; texts are a table with a `text_column` and a `label_column`. `probity.options("groups")`
    lists the options."""
    if len(names := _names(protected)):
        options["protected"] = names
    told = {
        "label": label, "schema": schema, "classes": classes, "ignore": ignore, "gives": gives,
    }
    if is_path(model):
        for name, value in told.items():
            if value is not None and (name != "ignore" or len(value)):
                raise OptionError(f"{name} has no meaning for a model directory")
        return _of_model("groups", model, data, options)
    setting = _Setting.split_from(options)
    with setting:
        run: Run
        # The favourable class is the last one of a schema that is drafted.
        told["favourable"] = options.get("favourable") if schema is None else None
        if _is_of_texts(setting, data, options):
            told["favourable"] = None
        run, kept = _of_any_model(Run, "groups", setting, (model, data), told, options)
        if kept is not None:
            kept.folder = (run._keep, kept.folder)
            run._keep = kept
        return run


def certify(model: Any, data: Any, **options: Any) -> Run:
    """Proves of rows of `data` that no change of protected attributes changes the decision.
    `probity.options("certify")` lists the options."""
    return _of_model("certify", model, data, options)


def prove(
    model: Any, *, marginals: Any = None, population: str | None = None, **options: Any
) -> Run:
    """Proves for what share of the whole domain of `model` its decision depends on protected
    attributes, from both sides. With `marginals`, a table, or `population="spn:DIRECTORY"`, a saved
    `SPN`, shares are of people. `probity.options("prove")` lists the options.

    `summary["bounds"]` holds the share at least and at most; `summary["ending"]` says why it ended.
    """
    _expect_directory(model)
    setting = _Setting.split_from(options)
    with setting:
        inputs = {"model": setting.located(model)}
        if marginals is not None:
            inputs["marginals"] = setting.path("marginals", marginals)
        if population is not None:
            kind, separator, directory = population.partition(":")
            place = os.path.abspath(directory) if separator else ""
            inputs["population"] = f"{kind}{separator}{place}"
        run: Run = setting.perform(Run, "prove", options, inputs)
        return run


def compare(model: Any, data: Any, **options: Any) -> Run:
    """Searches `model` by several strategies, for the same number of calls.
    `probity.options("compare")` lists the options."""
    return _of_model("compare", model, data, options)


def _of_model(
    kind: str, model: Any, data: Any, options: dict[str, Any], more: Mapping[str, Any] = {}
) -> Run:
    _expect_directory(model)
    if kind == "compare" and (cut := _Cut.split_from(options)) is not None:
        compared: Run = cut.perform("compare", (model, data), options)
        return compared
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


def knn(train: Any, test: Any = None, **options: Any) -> Run:
    """Decides of predictions of k-NN whether poisoned rows of `train` could have changed them.
    `probity.options("knn")` lists the options."""
    if (cut := _Cut.split_from(options)) is not None:
        decided: Run = cut.perform("knn", (train, test), options)
        return decided
    setting = _Setting.split_from(options)
    with setting:
        inputs = {"train": setting.path("train", train)}
        if test is not None:
            inputs["test"] = setting.path("test", test)
        run: Run = setting.perform(Run, "knn", options, inputs)
        return run


def outliers_budget(
    ledger: str | os.PathLike[str],
    data: str | os.PathLike[str] | None = None,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    slack: float | None = None,
    columns: Sequence[str] = (),
    schema: str | os.PathLike[str] | None = None,
    names: Sequence[str] = (),
    separator: str = ",",
) -> dict[str, float]:
    """Declares a privacy budget for the file `data` in the new file `ledger`, as the owner of the data
    does once; without `data`, nothing is declared. Gives the `epsilon` and `delta` that are left.

    What is said here of the table, and the number of its records, is public from then on. `names` and
    `separator` describe a file without a header, or with another separator, where there is no schema.
    """
    if data is not None:
        if epsilon is None:
            raise OptionError("epsilon is needed: how much may be given away in all")
        declared = {
            "data": str(_local(data, "data")),
            "epsilon": epsilon,
            "delta": delta,
            "slack": slack,
            "columns": _names(columns),
            "schema": None if schema is None else _text_of(schema),
            "names": _names(names),
            "separator": separator,
        }
        _probity.declare_budget(os.fspath(ledger), _json(declared))
    left = _probity.budget_left(os.fspath(ledger))
    return {"epsilon": left[0], "delta": left[1]}


def outliers(data: str | os.PathLike[str], ledger: str | os.PathLike[str], **options: Any) -> Run:
    """Counts the outliers in the file `data` under differential privacy; with `dims`, chooses the
    columns in which there are most of them.

    An outlier has fewer than `k` other records within `radius`. The price, `epsilon` and `delta`, is
    charged to `ledger` before the answer is computed. `probity.options("outliers count")` and
    `probity.options("outliers subspaces")` list the options.
    """
    _local(data, "data")
    if "device" in options:
        raise OptionError("device has no meaning for outliers")
    kind = "outliers subspaces" if "dims" in options or "top" in options else "outliers count"
    setting = _Setting.split_from(options)
    if setting.began:
        raise OptionError("a private answer cannot be resumed: it is asked, and paid for, again")
    with setting:
        inputs = {"data": setting.path("data", data), "ledger": os.path.abspath(os.fspath(ledger))}
        run: Run = setting.perform(Run, kind, options, inputs)
        return run


class _Setting:
    """Where and how a run is performed; while it lasts, what is in Python has a name."""

    def __init__(
        self,
        out: str | os.PathLike[str] | None = None,
        resume: bool = False,
        device: str = "auto",
        progress: bool | Progress | None = None,
        threads: int | None = None,
    ):
        self._resume, self._device, self._progress = resume, device, progress
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise OptionError(f"threads is {threads!r}, but must be a whole number, at least 1")
        self._threads = threads
        self._names = contextlib.ExitStack()
        self._keep: Any = None
        self._out = _local(out, "out") if out is not None else None
        #: What the run that goes on was asked for, and what only Python knows of it.
        self.began: dict[str, Any] = {}
        self.held: dict[str, Any] = {}
        #: The URLs that were read, by field.
        self.urls: dict[str, str] = {}
        if resume:
            if self._out is None:
                raise OptionError("resume goes on with the run in out, which is not given")
            self.began = json.loads(_probity.specification(str(self._out))[1])
            self.held = _held(self._out)

    @classmethod
    def split_from(cls, options: dict[str, Any]) -> _Setting:
        """What is among `options` that is no field of a specification, taken from them."""
        names = ("out", "resume", "device", "progress", "threads")
        return cls(**{name: options.pop(name) for name in names if name in options})

    def __enter__(self) -> _Setting:
        return self

    def __exit__(self, *_: object) -> None:
        self._names.close()

    def path(self, field: str, data: Any) -> str:
        """What the specification says of `data` in `field`: a path, or a name in this process."""
        if is_path(data):
            return self.located(data, field)
        name = str(self.began.get(field, "")).removeprefix("memory:") or field
        return _named(self._names, name, self._resume, data)

    def located(self, path: str | os.PathLike[str], field: str = "model") -> str:
        """A path from the root; what a URL names is copied here, for as long as this lasts: where a
        run goes on, to the place where it began with it."""
        named = os.fspath(path)
        if "://" not in named:
            return os.path.abspath(named)
        began = self.began.get(field)
        folder = Path(began).parent if began else Path(tempfile.mkdtemp(prefix="probity-"))
        if folder.exists() and began:
            raise OptionError(f"{named} is not where the run read its {field}: give {began}")
        folder.mkdir(parents=True, exist_ok=True)
        self._names.callback(shutil.rmtree, folder, True)
        self.urls[field] = named
        return fetched(named, folder)

    def model(self, asked: Asked) -> Any:
        """The model of Python under a name."""
        source = self.began.get("predictor", {}).get("source", "memory:model")
        name = source.removeprefix("memory:")
        return _named_model(self._names, name, self._resume, asked)

    def taken_again(self, network: Any) -> Run | None:
        """The `network` that was taken over for the run that goes on, where one was: at its place
        again, which went with the process that began the run."""
        if not self.began or self.began.get("predictor", {}).get("source"):
            return None
        if "schema" not in self.held:
            raise OptionError("the run that goes on is one on a model directory: give that")
        place = Path(self.began["model"])
        if not place.parent.exists():
            self._names.callback(shutil.rmtree, place.parent, True)
        return import_network(
            network, self.held["schema"], classes=self.held["classes"], out=place
        )

    def hold(self, said: Mapping[str, Any], taken: Run | None = None) -> None:
        """Keeps what only Python knows beside the run, if that has begun, with the model that was made
        for it."""
        if self._out is None or not (self._out / "run.toml").is_file():
            return
        _hold(self._out, said)
        if taken is not None:
            shutil.copytree(taken.directory, self._out / _MODEL, dirs_exist_ok=True)

    def perform(
        self,
        made: type[Any],
        kind: str,
        options: dict[str, Any],
        inputs: Mapping[str, Any],
        asked: Asked | None = None,
    ) -> Any:
        """Performs the run. What is asked of one that goes on must be what it began with."""
        _process.begin()
        part = _parts.current(kind)
        directory = self._out
        if part is not None:
            directory = part.folder
            if part.shard is None:
                directory = self._out = part.out
        if directory is None:
            self._keep = tempfile.TemporaryDirectory(prefix="probity-")
            directory = self._out = Path(self._keep.name) / kind
        fields = {**options, **inputs}
        _log.info("%s begins in %s", kind, directory)
        started = time.monotonic()
        with _shown(self._progress) as told:
            said = json.loads(
                _probity.perform(
                    kind,
                    _json(fields),
                    str(directory),
                    self._resume,
                    self._device,
                    told,
                    part.shard if part is not None else None,
                    str(part.folder) if part is not None and part.shard is None else None,
                    part.threads if part is not None else self._threads,
                    part is not None and part.check,
                )
            )
        if said is not None:
            raise PartDone(said)
        seconds = time.monotonic() - started
        _log.info("%s took %.1f s", kind, seconds)
        if asked is not None and part is None:
            return made(directory, self._keep, (asked.rows, asked.seconds, seconds))
        return made(directory, self._keep)


class _Answering(_Setting):
    """How a question is asked that leaves no run: its answer is what is made."""

    def perform(
        self,
        made: type[Any],
        kind: str,
        options: dict[str, Any],
        inputs: Mapping[str, Any],
        asked: Asked | None = None,
    ) -> Any:
        _process.begin()
        fields = _json({**options, **inputs})
        return made(json.loads(_probity.perform(kind, fields, "", threads=self._threads)))


class _Cut:
    """A run that an engine does in shards."""

    def __init__(
        self,
        engine: Any,
        shards: int | None = None,
        out: str | os.PathLike[str] | None = None,
        resume: bool = False,
        progress: bool | Progress | None = None,
    ):
        from .engines import named

        self._engine = named(engine)
        if shards is not None and (isinstance(shards, bool) or not isinstance(shards, int) or shards < 1):
            raise OptionError(f"shards is {shards!r}, but must be a whole number, at least 1")
        self._shards, self._progress = shards, progress
        self._keep: Any = None
        if out is None:
            if resume:
                raise OptionError("resume goes on with the run in out, which is not given")
            self._keep = tempfile.TemporaryDirectory(prefix="probity-")
            out = Path(self._keep.name) / "run"
        self._out = _local(out, "out")
        self._folder = self._out.with_name(self._out.name + ".shards")
        self._expect_free(resume)

    def _expect_free(self, resume: bool) -> None:
        """Before any work is done: that its result can be written."""
        out = self._out
        if (out / "summary.json").exists():
            nothing = "; there is nothing to resume" if resume else "; choose another out"
            raise OptionError(f"the run in {out} is complete{nothing}")
        # A merge that was stopped leaves its run without a summary.
        if out.exists() and not (resume and (out / "run.toml").exists()):
            if not out.is_dir() or any(out.iterdir()):
                raise OptionError(f"{out} is not empty; choose another out")
        cuts = {file.stem.rpartition("-")[2] for file in self._folder.glob("*.shard")}
        if self._folder.exists() and any(self._folder.iterdir()) and not resume:
            raise OptionError(
                f"{self._folder} holds shards already; resume=True does those that are missing"
            )
        if len(cuts) == 1:
            known = int(cuts.pop())
            if self._shards is None:
                self._shards = known
            elif self._shards != known:
                raise OptionError(
                    f"shards is {self._shards}, but the run in {self._folder} is cut into {known}"
                )

    @classmethod
    def split_from(cls, options: dict[str, Any]) -> _Cut | None:
        """That of the engine among `options`, where there is one; it is taken from them."""
        if options.get("engine") is None:
            options.pop("engine", None)
            if options.pop("shards", None) is not None:
                raise OptionError("shards has no meaning without an engine")
            return None
        names = ("engine", "shards", "out", "resume", "progress")
        return cls(**{name: options.pop(name) for name in names if name in options})

    def perform(self, kind: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Does all shards of all stages, and merges them."""
        if "threads" in options:
            raise OptionError(
                f"threads is the engine's: probity.engines.{type(self._engine).__name__}(threads=…)"
            )
        sent = {name: _sent_option(name, value) for name, value in options.items()}
        call = Call(kind, tuple(_sent(argument) for argument in arguments), sent)
        of = self._shards if self._shards is not None else 4 * self._engine.workers()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ProbityError(f"cannot write {self._folder}: {error}") from error
        try:
            call.pickled()
            # What can be refused is refused here, once, and not by every shard; and what is resumed
            # is what was begun.
            call.perform(Part(kind, self._folder, "1/1", check=True), self._progress)
        except BaseException:
            if not any(self._folder.glob("*.shard")):
                shutil.rmtree(self._folder, ignore_errors=True)
            raise
        _log.info("%s begins in %d shards in %s", kind, of, self._folder)
        while True:
            self._do_stage(call, of)
            run = call.perform(Part(kind, self._folder, out=self._out), self._progress)
            if not isinstance(run, dict):
                break
            _log.info("%s", run)
        shutil.rmtree(self._folder, ignore_errors=True)
        if isinstance(run._keep, _Kept):
            run._keep.folder = (self._keep, run._keep.folder)
        else:
            run._keep = (self._keep, run._keep)
        return run

    def _do_stage(self, call: Call, of: int) -> None:
        shards = [f"{number}/{of}" for number in range(1, of + 1)]
        left = [
            shard for shard in shards
            if not _parts.file_of(self._folder, call.kind, shard).is_file()
        ]
        stage = _parts.stage_of(self._folder, call.kind)
        there = of - len(left)
        with _shown(self._progress) as told:
            def tell(done: int) -> None:
                if told is not None:
                    told(stage, there + done, of, "shards")

            failed = self._engine.work(call, self._folder, left, tell) if left else {}
        if failed:
            raise self._failure(stage, of, failed)

    def _failure(self, stage: str, of: int, failed: dict[str, Failure]) -> ProbityError:
        """The exception that names the shards that failed, each reason once."""
        by_reason: dict[str, list[str]] = {}
        for shard, failure in failed.items():
            by_reason.setdefault(failure.reason, []).append(shard)
        named = "; ".join(
            f"{', '.join(of_reason[:5])}{' …' if len(of_reason) > 5 else ''}: {reason}"
            for reason, of_reason in list(by_reason.items())[:5]
        )
        kept = ""
        if self._keep is None and any(self._folder.glob("*.shard")):
            kept = (
                f"; the others are kept in {self._folder}, and resume=True does those that are missing"
            )
        kinds = {failure.kind for failure in failed.values()}
        failure = next(iter(failed.values()))
        text = f"{len(failed)} of {of} shards of the stage '{stage}' failed: {named}{kept}"
        return failure.exception(text) if len(kinds) == 1 else ProbityError(text)


def _local(path: Any, name: str) -> Path:
    if not is_path(path) or "://" in os.fspath(path):
        raise OptionError(f"{name} is {path!r}, but must be a path on this machine")
    return Path(path).absolute()


def _sent(argument: Any) -> Any:
    """An argument as it is sent to workers: paths and runs by their paths, and what can be read but
    once, or is bound to a connection, as a table."""
    if is_path(argument):
        named = os.fspath(argument)
        return named if "://" in named else os.path.abspath(named)
    kind = type(argument)
    if kind.__module__.partition(".")[0] in ("duckdb", "_duckdb") or kind.__name__ == "RecordBatchReader":
        return pa.table(argument)
    return argument


def _sent_option(name: str, value: Any) -> Any:
    """An option as it is sent to workers: a schema by its text, other files from the root."""
    if not is_path(value):
        return value
    named = os.fspath(value)
    if "\n" in named or not os.path.isfile(named):
        return value
    if name == "schema":
        return Path(named).read_text(encoding="utf-8")
    return os.path.abspath(named)


def _named(names: contextlib.ExitStack, name: str, exactly: bool, data: Any) -> str:
    """A path, or the name of a table while `names` lasts."""
    if is_path(data):
        return str(os.path.abspath(os.fspath(data)))
    arrow = data if isinstance(data, pa.Table) else to_arrow(data)
    table = _free(name, exactly, lambda free: _probity.NamedTable(free, arrow))
    names.callback(table.release)
    return str(table.path)


def _named_model(
    names: contextlib.ExitStack, name: str, exactly: bool, asked: Asked
) -> _probity.NamedModel:
    """The name of a model while `names` lasts."""
    sha256 = asked.sha256()
    model = _free(name, exactly, lambda free: _probity.NamedModel(free, asked, sha256, asked.columns))
    names.callback(model.release)
    return model


def _free(name: str, exactly: bool, register: Callable[[str], _T]) -> _T:
    """Registers something as `name`; where that is taken and it need not be `exactly` this one, as
    `name-2`, `name-3` …"""
    number = 1
    while True:
        try:
            return register(name if number == 1 else f"{name}-{number}")
        except NameTaken:
            if exactly:
                raise
            number += 1


@contextlib.contextmanager
def _explained(named: Any) -> Iterator[None]:
    """An exception of the model is the cause of the one that it leads to."""
    try:
        yield
    except ModelError as error:
        raised = named.raised()
        if raised is None:
            raise
        if not isinstance(raised, Exception):
            raise raised from None
        raise error from raised


@contextlib.contextmanager
def _shown(progress: bool | Progress | None) -> Iterator[Progress | None]:
    """What shows progress: a bar of tqdm where it is installed, unless `progress` says otherwise."""
    if progress is False:
        yield None
        return
    if progress is not None and progress is not True:
        yield progress
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    bar: Any = None
    shown = ""

    def tell(phase: str, done: int, total: int, message: str) -> None:
        nonlocal bar, shown
        if bar is None or shown != phase:
            if bar is not None:
                bar.close()
            # Without an opinion of the caller there is a bar on terminals alone.
            bar = tqdm(total=total or None, desc=phase, disable=None if progress is None else False)
            shown = phase
        bar.n = done
        bar.set_postfix_str(message, refresh=False)
        bar.refresh()

    try:
        yield tell
    finally:
        if bar is not None:
            bar.close()


def _json(value: Any) -> str:
    """A value of options as JSON: paths as text, numbers of numpy as numbers."""

    def other(value: Any) -> Any:
        if isinstance(value, os.PathLike):
            return os.path.abspath(os.fspath(value))
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray):
            return value.tolist()
        if isinstance(value, (set, frozenset, tuple)):
            return sorted(value) if isinstance(value, (set, frozenset)) else list(value)
        raise OptionError(f"{value!r} is no value of an option")

    try:
        return json.dumps(value, default=other, allow_nan=False)
    except ValueError as error:
        raise OptionError("an option is NaN or infinite, and must be a finite number") from error


def _command() -> Path | None:
    """The command `probity`, where it is installed beside this package."""
    name = "probity.exe" if os.name == "nt" else "probity"
    places = [Path(sysconfig.get_path("scripts")), Path(sys.executable).parent]
    return next((place / name for place in places if (place / name).is_file()), None)


# Graphs of ONNX files are computed by the command, in processes that are bounded.
if (_program := _command()) is not None:
    _probity.compute_graphs_in(str(_program))
