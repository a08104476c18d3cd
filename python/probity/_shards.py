"""Runs that an engine does in shards, and how one is resumed."""

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
from ._files import expect_local, is_path
from ._parts import Call, Failure, Part, expect_whole
from ._progress import Progress, show_progress

_log = logging.getLogger("probity")


class ShardedRun:
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
        self._out = expect_local(out, "out")
        self._folder = self._out.with_name(self._out.name + ".shards")
        self._expect_free(resume)

    def _expect_free(self, resume: bool) -> None:
        """Refuses a run, before any work is done, whose result could not be written."""
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
    def split_from(cls, options: dict[str, Any]) -> ShardedRun | None:
        """Makes a sharded run of the engine among `options`, if there is one, and removes it."""
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
        """Has all shards of all stages done, and merges them."""
        if "threads" in options:
            raise OptionError(
                f"threads is the engine's: probity.engines.{type(self._engine).__name__}(threads=…)"
            )
        sent = {name: _make_option_sendable(name, value) for name, value in options.items()}
        call = Call(function, tuple(_make_sendable(argument) for argument in arguments), sent)
        of = self._shards if self._shards is not None else 4 * self._engine.workers()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ProbityError(f"cannot write {self._folder}: {error}") from error
        try:
            call.pickle()
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
        """Has the shards of a stage done that are not there."""
        shards = [f"{number}/{of}" for number in range(1, of + 1)]
        left = [
            shard for shard in shards
            if not _parts.get_shard_file(self._folder, call.kind, shard).is_file()
        ]
        stage = _parts.get_stage(self._folder, call.kind)
        there = of - len(left)
        with show_progress(self._progress) as show:
            def tell(done: int) -> None:
                if show is not None:
                    show(stage, there + done, of, "shards")

            failed = self._engine.work(call, self._folder, left, tell) if left else {}
        if failed:
            raise self._describe_failures(stage, of, failed)

    def _describe_failures(self, stage: str, of: int, failed: dict[str, Failure]) -> ProbityError:
        """Makes the exception that names the shards that failed, and each reason once."""
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
        return failure.to_exception(text) if len(kinds) == 1 else ProbityError(text)


def _make_sendable(argument: Any) -> Any:
    """Makes of an argument what can be sent to workers: of paths and runs an absolute path, and of what
    can be read only once, or is bound to a connection, a table."""
    if is_path(argument):
        named = os.fspath(argument)
        return named if "://" in named else os.path.abspath(named)
    kind = type(argument)
    if kind.__module__.partition(".")[0] in ("duckdb", "_duckdb") or kind.__name__ == "RecordBatchReader":
        return pa.table(argument)
    return argument


def _make_option_sendable(name: str, value: Any) -> Any:
    """Makes of an option what can be sent to workers: of a schema its text, of other files an absolute
    path, of anything else what `_make_sendable` makes of an argument."""
    if not is_path(value):
        return _make_sendable(value)
    named = os.fspath(value)
    if "\n" in named or not os.path.isfile(named):
        return value
    if name == "schema":
        return Path(named).read_text(encoding="utf-8")
    return os.path.abspath(named)
