"""Runs: how one is performed, and the directory that it leaves."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Generic, Mapping, TypeVar

from . import _parts, _probity, _process
from ._errors import OptionError, ProbityError, spell_for_python
from ._files import expect_local, fetch, is_path
from ._frames import to_arrow, to_word
from ._memory import name_table
from ._models import Predictor
from ._parts import Part, PartDone, expect_whole
from ._progress import Progress, show_progress
from ._resuming import Notes, read_notes, write_notes
from ._rust import Inputs, Specification, read_specification, to_json
from ._rust import options as list_options

_T = TypeVar("_T")
_R = TypeVar("_R", bound="Run")
_log = logging.getLogger("probity")


class Run:
    """A run: its directory, with what was asked for and what was found.

    Where no `out` was given, the directory is a temporary one, which goes with the last reference to
    the run; `save` keeps it.
    """

    _kinds: tuple[str, ...] = ()

    def __init__(
        self,
        directory: Path,
        keep: Any = None,
        asked: tuple[Any, Any] | None = None,
        speed: tuple[int, float, float] | None = None,
    ):
        self.directory = directory
        self._keep = keep
        #: The model of Python and its data; the rows that it was asked about, and the seconds that it
        #: and the run took.
        self._asked, self._speed = asked, speed

    @classmethod
    def load(cls: type[_R], directory: str | os.PathLike[str]) -> _R:
        """Loads the run in `directory`."""
        kind, _ = read_specification(directory)
        if cls._kinds and kind not in cls._kinds:
            raise OptionError(f"{os.fspath(directory)} holds a run of the kind '{kind}'")
        return cls(Path(directory))

    def __fspath__(self) -> str:
        return str(self.directory)

    @property
    def specification(self) -> dict[str, Any]:
        """What was asked for: every field that differs from its default, and a record of what was
        opened."""
        return {**read_specification(self.directory)[1]}

    @property
    def summary(self) -> dict[str, Any]:
        """What was found: the content of `summary.json`, which docs/file-formats.md describes."""
        try:
            text = (self.directory / "summary.json").read_text(encoding="utf-8")
        except FileNotFoundError:
            raise ProbityError(
                f"{self.directory} has no summary.json: the run is unfinished; resume=True goes on"
            ) from None
        summary: dict[str, Any] = json.loads(text)
        return summary

    def report(self, file: str | os.PathLike[str] | None = None, *, format: str | None = None) -> str:
        """Writes a report on the run, to `file` where one is given, and gives its text.

        `format` is one of those of `probity report`, by default that of the file's name, or `html`.
        """
        named = {".md": "markdown", ".json": "json"}
        if format is None:
            format = named.get(Path(file).suffix, "html") if file is not None else "html"
        report = _probity.report([str(self.directory)], format, None if file is None else str(file))
        if file is not None:
            Path(file).write_bytes(report)
        return report.decode(errors="replace")

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Copies the run to `directory`, which must be empty or absent."""
        place = Path(directory)
        if place.exists() and any(place.iterdir()):
            raise OptionError(f"{place} is not empty; choose another directory")
        shutil.copytree(self.directory, place, dirs_exist_ok=True)

    def __repr__(self) -> str:
        return f"<probity.{type(self).__name__} in {self.directory}>"


class Runner(Generic[_T]):
    """A runner, which performs a run of a kind; while it lasts, data and models of Python have names."""

    def __init__(
        self,
        make: Callable[..., _T],
        kind: str,
        options: dict[str, Any],
        out: str | os.PathLike[str] | None = None,
        resume: bool = False,
        device: str = "auto",
        progress: bool | Progress | None = None,
        threads: int | None = None,
    ):
        self._make, self._kind, self.options = make, kind, options
        if options.get("favourable") is not None:
            options["favourable"] = to_word(options["favourable"])
        if not isinstance(device, str):
            raise OptionError(f"device is {device!r}, but must be a text, such as auto")
        self._resume, self._device, self._progress = resume, device, progress
        self._threads = None if threads is None else expect_whole("threads", threads, 1)
        self._names = contextlib.ExitStack()
        self._folder: Any = None
        self._out = expect_local(out, "out") if out is not None else None
        #: What the run that goes on was asked for, and what only Python knows of it.
        self.began: Specification = {}
        self.notes: Notes = {}
        #: The URLs that were read, by field.
        self.urls: dict[str, str] = {}
        if resume:
            if self._out is None:
                raise OptionError("resume goes on with the run in out, which is not given")
            self.began = read_specification(self._out)[1]
            self.notes = read_notes(self._out)

    @classmethod
    def split_from(
        cls, make: Callable[..., _T], kind: str, options: dict[str, Any]
    ) -> Runner[_T]:
        """Makes a runner of those `options` that are no fields of a specification, and removes them."""
        names = ("out", "resume", "device", "progress", "threads")
        given = {name: options.pop(name) for name in names if name in options}
        return cls(make, kind, options, **given)

    def __enter__(self) -> Runner[_T]:
        return self

    def __exit__(self, *_: object) -> None:
        self._names.close()

    def name_data(self, field: str, data: Any) -> str:
        """Names `data` as the specification does in `field`: by a path, or by a name in this process."""
        if is_path(data):
            return self.locate(data, field)
        name = str(self.began.get(field, "")).removeprefix("memory:") or field
        return self._names.enter_context(name_table(name, to_arrow(data), self._resume))

    def locate(self, path: str | os.PathLike[str], field: str = "model") -> str:
        """Makes a path absolute. What a URL names is copied to this machine, for as long as this lasts;
        where a run goes on, to the place from which it was read before."""
        named = os.fspath(path)
        if "://" not in named:
            return os.path.abspath(named)
        began = str(self.began.get(field, ""))
        folder = Path(began).parent if began else Path(tempfile.mkdtemp(prefix="probity-"))
        if folder.exists() and began:
            raise OptionError(f"{named} is not where the run read its {field}: give {began}")
        folder.mkdir(parents=True, exist_ok=True)
        self.remove_at_end(folder)
        self.urls[field] = named
        return fetch(named, folder)

    def remove_at_end(self, folder: Path) -> None:
        """Has `folder` removed when this ends."""
        self._names.callback(shutil.rmtree, folder, True)

    def name_model(
        self, predictor: Predictor
    ) -> contextlib.AbstractContextManager[_probity.NamedModel]:
        """Gives a model of Python the name that the specification has for it."""
        source = self.began.get("predictor", {}).get("source", "memory:model")
        return predictor.name(source.removeprefix("memory:"), self._resume)

    def write_notes(self, notes: Notes, model: Run | None = None) -> None:
        """Writes what only Python knows into the run, if that has begun, and the model that was made
        for it."""
        if self._out is not None and (self._out / "run.toml").is_file():
            write_notes(self._out, notes, None if model is None else model.directory)

    def _write_fields(self, inputs: Inputs) -> str:
        """Writes the fields of the specification as JSON, of which none may be given twice."""
        fields = {**self.options, **inputs}
        listed = list_options(self._kind)
        paths = {field["name"]: field["path"] for field in listed}
        given: dict[str, str] = {}
        for key, value in fields.items():
            for inner in value if isinstance(value, dict) else ("",):
                name = f"{key}.{inner}".rstrip(".")
                if (other := given.setdefault(paths.get(name, name), name)) != name:
                    raise OptionError(f"{other} and {name} are one option, which is given twice")
        for section, field, sign in _LISTS:
            if not any(each["path"] == f"{section}.{field}" for each in listed):
                continue
            for key in (field, f"{section}.{field}"):
                if fields.get(key) is not None:
                    fields[key] = _list_settings(fields[key], sign)
            if isinstance(inner := fields.get(section), dict) and inner.get(field) is not None:
                fields[section] = {**inner, field: _list_settings(inner[field], sign)}
        return to_json(fields)

    def perform(self, inputs: Inputs, predictor: Predictor | None = None, keep: Any = None) -> _T:
        """Performs the run, which refuses other inputs than those that it began with. `keep` lasts as
        long as what is made of it."""
        _process.begin()
        part = _parts.get_part(self._kind) or Part(self._kind, out=self._out, threads=self._threads)
        directory = part.out if part.shard is None else part.folder
        if directory is None:
            self._folder = tempfile.TemporaryDirectory(prefix="probity-")
            directory = Path(self._folder.name) / self._kind
        if part.shard is None:
            self._out = directory
        merge = None if part.shard or part.folder is None else str(part.folder)
        _log.info("%s begins in %s", self._kind, directory)
        started = time.monotonic()
        with show_progress(self._progress) as tell, spell_for_python():
            report = json.loads(
                _probity.perform(
                    self._kind,
                    self._write_fields(inputs),
                    directory,
                    goes_on=self._resume,
                    device=self._device,
                    progress=tell,
                    shard=part.shard,
                    merge=merge,
                    threads=part.threads,
                    check=part.check,
                )
            )
        if report is not None:
            raise PartDone(report)
        seconds = time.monotonic() - started
        _log.info("%s took %.1f s", self._kind, seconds)
        if predictor is None:
            return self._make(directory, (self._folder, keep))
        speed = (predictor.rows, predictor.seconds, seconds) if part.folder is None else None
        return self._make(directory, (self._folder, keep), predictor.given, speed)


#: Options that are lists of texts, as the command has them, with the sign between a name and its numbers.
_LISTS = (("decision", "threshold", ":"), ("groups", "edges", "="))


def _list_settings(given: Any, sign: str) -> list[Any]:
    """Lists settings as texts: one of them, several, or those of a dictionary by name."""
    if isinstance(given, Mapping):
        return [f"{to_word(name)}{sign}{_write_numbers(value)}" for name, value in given.items()]
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        given = [given]
    return [one if isinstance(one, (str, bool)) else _write_numbers(one) for one in given]


def _write_numbers(value: Any) -> str:
    """Writes a number, or several with commas between them."""
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return to_word(value)
    return ",".join(to_word(one) for one in value)


class Explainer(Runner[dict[str, Any]]):
    """A runner that has a decision explained, which leaves no run."""

    def __init__(self, options: dict[str, Any], threads: int | None):
        super().__init__(dict, "explain", options, progress=False, threads=threads)

    def perform(
        self, inputs: Inputs, predictor: Predictor | None = None, keep: Any = None
    ) -> dict[str, Any]:
        _process.begin()
        fields = self._write_fields(inputs)
        with spell_for_python():
            answer = _probity.perform(self._kind, fields, "", threads=self._threads)
        return self._make(json.loads(answer))
