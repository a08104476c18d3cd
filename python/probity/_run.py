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
from typing import Any, Callable, Generic, TypeVar

from . import _parts, _probity, _process
from ._errors import OptionError, ProbityError
from ._files import _local, fetched, is_path
from ._memory import _named, _named_model
from ._models import Asked
from ._parts import Part, PartDone, expect_whole
from ._progress import Progress, _shown
from ._resuming import Notes, read_notes, write_notes
from ._rust import Inputs, Specification, read_specification, to_json

_T = TypeVar("_T")
_R = TypeVar("_R", bound="Run")
_log = logging.getLogger("probity")


class Run:
    """The directory of a run, with what was asked for and what was found.

    Where no `out` was given to the run, its directory is a temporary one, which goes with the last
    reference to this; `save` keeps it.
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
        #: The model and the data of Python that were asked; rows, seconds of the model, and seconds.
        self._asked, self._speed = asked, speed

    @classmethod
    def load(cls: type[_R], directory: str | os.PathLike[str]) -> _R:
        """The run in `directory`."""
        kind, _ = read_specification(directory)
        if cls._kinds and kind not in cls._kinds:
            raise OptionError(f"{os.fspath(directory)} holds a run of the kind '{kind}'")
        return cls(Path(directory))

    def __fspath__(self) -> str:
        return str(self.directory)

    @property
    def specification(self) -> dict[str, Any]:
        """What was asked for: every field that is not as its default, and a record of what was
        opened."""
        return {**read_specification(self.directory)[1]}

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


class Runner(Generic[_T]):
    """Performs a run of a kind; while it lasts, what is in Python has a name."""

    def __init__(
        self,
        made: Callable[..., _T],
        kind: str,
        options: dict[str, Any],
        out: str | os.PathLike[str] | None = None,
        resume: bool = False,
        device: str = "auto",
        progress: bool | Progress | None = None,
        threads: int | None = None,
    ):
        self._made, self._kind, self.options = made, kind, options
        self._resume, self._device, self._progress = resume, device, progress
        self._threads = None if threads is None else expect_whole("threads", threads, 1)
        self._names = contextlib.ExitStack()
        self._folder: Any = None
        self._out = _local(out, "out") if out is not None else None
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
        cls, made: Callable[..., _T], kind: str, options: dict[str, Any]
    ) -> Runner[_T]:
        """What is among `options` that is no field of a specification, taken from them."""
        names = ("out", "resume", "device", "progress", "threads")
        given = {name: options.pop(name) for name in names if name in options}
        return cls(made, kind, options, **given)

    def __enter__(self) -> Runner[_T]:
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
        began = str(self.began.get(field, ""))
        folder = Path(began).parent if began else Path(tempfile.mkdtemp(prefix="probity-"))
        if folder.exists() and began:
            raise OptionError(f"{named} is not where the run read its {field}: give {began}")
        folder.mkdir(parents=True, exist_ok=True)
        self.remove_at_end(folder)
        self.urls[field] = named
        return fetched(named, folder)

    def remove_at_end(self, folder: Path) -> None:
        """Removes `folder` when this ends."""
        self._names.callback(shutil.rmtree, folder, True)

    def model(self, asked: Asked) -> _probity.NamedModel:
        """The model of Python under a name."""
        source = self.began.get("predictor", {}).get("source", "memory:model")
        name = source.removeprefix("memory:")
        return _named_model(self._names, name, self._resume, asked)

    def write_notes(self, notes: Notes, model: Run | None = None) -> None:
        """Keeps what only Python knows beside the run, if that has begun, with the model that was made
        for it."""
        if self._out is not None and (self._out / "run.toml").is_file():
            write_notes(self._out, notes, None if model is None else model.directory)

    def perform(self, inputs: Inputs, asked: Asked | None = None, keep: Any = None) -> _T:
        """Performs the run. What is asked of one that goes on must be what it began with. `keep`
        lasts as long as what is made of it."""
        _process.begin()
        part = _parts.current(self._kind) or Part(self._kind, out=self._out, threads=self._threads)
        directory = part.out if part.shard is None else part.folder
        if directory is None:
            self._folder = tempfile.TemporaryDirectory(prefix="probity-")
            directory = Path(self._folder.name) / self._kind
        if part.shard is None:
            self._out = directory
        merge = None if part.shard or part.folder is None else str(part.folder)
        _log.info("%s begins in %s", self._kind, directory)
        started = time.monotonic()
        with _shown(self._progress) as tell:
            report = json.loads(
                _probity.perform(
                    self._kind,
                    to_json({**self.options, **inputs}),
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
        is_timed = asked is not None and part.folder is None
        speed = (asked.rows, asked.seconds, seconds) if asked is not None and is_timed else None
        return self._made(directory, (self._folder, keep), asked and asked.given, speed)


class Explainer(Runner[dict[str, Any]]):
    """Asks for an explanation, which leaves no run."""

    def __init__(self, options: dict[str, Any], threads: int | None):
        super().__init__(dict, "explain", options, progress=False, threads=threads)

    def perform(
        self, inputs: Inputs, asked: Asked | None = None, keep: Any = None
    ) -> dict[str, Any]:
        _process.begin()
        fields = to_json({**self.options, **inputs})
        answer = _probity.perform(self._kind, fields, "", threads=self._threads)
        return self._made(json.loads(answer))
