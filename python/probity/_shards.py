"""Runs that an engine does in shards, and their resuming."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Callable

import pyarrow as pa

from . import _parts, engines
from ._errors import OptionError, ProbityError
from ._files import _local, is_path
from ._parts import Call, Failure, Part, expect_whole
from ._progress import Progress, _shown

_log = logging.getLogger("probity")


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
        self._engine = engines.named(engine)
        self._shards = None if shards is None else expect_whole("shards", shards, 1)
        self._progress = progress
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

    def perform(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Does all shards of all stages, and merges them."""
        if "threads" in options:
            raise OptionError(
                f"threads is the engine's: probity.engines.{type(self._engine).__name__}(threads=…)"
            )
        sent = {name: _sent_option(name, value) for name, value in options.items()}
        call = Call(function, tuple(_sent(argument) for argument in arguments), sent)
        of = self._shards if self._shards is not None else 4 * self._engine.workers()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ProbityError(f"cannot write {self._folder}: {error}") from error
        try:
            call.pickled()
            # What can be refused is refused here, once, and not by every shard; and what is resumed
            # is what was begun.
            call.perform(Part(call.kind, self._folder, "1/1", check=True), self._progress)
        except BaseException:
            if not any(self._folder.glob("*.shard")):
                shutil.rmtree(self._folder, ignore_errors=True)
            raise
        _log.info("%s begins in %d shards in %s", call.kind, of, self._folder)
        while True:
            self._do_stage(call, of)
            run = call.perform(Part(call.kind, self._folder, out=self._out), self._progress)
            if not isinstance(run, dict):
                break
            _log.info("%s", run)
        shutil.rmtree(self._folder, ignore_errors=True)
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
