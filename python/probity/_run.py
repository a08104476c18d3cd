"""Runs: how one is performed, and the directory that it leaves."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, TypeVar

from . import _parts, _probity, _process
from ._errors import OptionError, ProbityError
from ._files import _local, fetched, is_path
from ._memory import _named, _named_model
from ._models import Asked
from ._parts import PartDone
from ._progress import Progress, _shown
from ._resuming import _MODEL, _held, _hold
from ._rust import _json

_R = TypeVar("_R", bound="Run")
_log = logging.getLogger("probity")


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
        self.remove_at_end(folder)
        self.urls[field] = named
        return fetched(named, folder)

    def remove_at_end(self, folder: Path) -> None:
        """Removes `folder` when this ends."""
        self._names.callback(shutil.rmtree, folder, True)

    def model(self, asked: Asked) -> Any:
        """The model of Python under a name."""
        source = self.began.get("predictor", {}).get("source", "memory:model")
        name = source.removeprefix("memory:")
        return _named_model(self._names, name, self._resume, asked)

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
