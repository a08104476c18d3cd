"""Parts of a run: a call of this package, done as one of its shards or as their merge.

A worker makes the very call that the user made, with the same model and data, so that whatever is
inferred from them is inferred again to the same; where the call comes to its run, only the part is
performed. As a program, `python -m probity._parts CALL FOLDER SHARD THREADS` does a shard of the call
that is pickled in a file.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import pickle
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterator

from ._errors import ModelError

#: What a merge writes where another stage follows.
STARTS = "starts.merged"
#: How the line begins by which a shard says why it failed.
FAILED = "probity: "


@dataclass(frozen=True)
class Part:
    """A shard of a run, done into `folder`; or the merge of the shards there, into `out`."""

    kind: str
    folder: Path
    shard: str | None = None
    out: Path | None = None
    threads: int | None = None


@dataclass
class Call:
    """What the user asked for: a function of this package, by its name, and its arguments."""

    kind: str
    arguments: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)

    def perform(self, part: Part) -> Any:
        """Performs a part of it: a run that is complete, else what is said of the part."""
        import probity

        function: Callable[..., Any] = getattr(probity, self.kind)
        with _doing(part):
            try:
                return function(*self.arguments, **self.options)
            except PartDone as done:
                return done.said


class PartDone(BaseException):
    """A part is performed, and its run is not complete by it. No failure: it leaves the call that
    the part is of."""

    def __init__(self, said: dict[str, Any]):
        super().__init__(said)
        self.said = said


_part: contextvars.ContextVar[Part | None] = contextvars.ContextVar("part", default=None)


def current(kind: str) -> Part | None:
    """The part of a run of this kind that is to be performed, if not all of it."""
    part = _part.get()
    return part if part is not None and part.kind == kind else None


@contextlib.contextmanager
def _doing(part: Part) -> Iterator[None]:
    token = _part.set(part)
    try:
        yield
    finally:
        _part.reset(token)


def file_of(folder: Path, kind: str, shard: str) -> Path:
    """The file of a shard of the stage that `folder` waits for."""
    number, _, of = shard.partition("/")
    return folder / f"{stage_of(folder, kind)}-{number}-of-{of}.shard"


def stage_of(folder: Path, kind: str) -> str:
    """The stage that `folder` waits for."""
    if kind != "audit":
        return "items"
    return "local" if (folder / STARTS).exists() else "global"


def work_remotely(shared: tuple[Call, bytes | None], shard: str, threads: int) -> tuple[str, bytes]:
    """Does a shard where there is no shared file system: the name and the content of its file."""
    call, starts = shared
    with tempfile.TemporaryDirectory(prefix="probity-") as own:
        folder = Path(own)
        if starts is not None:
            (folder / STARTS).write_bytes(starts)
        call.perform(Part(call.kind, folder, shard, threads=threads))
        file = file_of(folder, call.kind, shard)
        return file.name, file.read_bytes()


def _main(asked: str, folder: str, shard: str, threads: str) -> int:
    try:
        with open(asked, "rb") as opened:
            call: Call = pickle.load(opened)
        call.perform(Part(call.kind, Path(folder), shard, threads=int(threads)))
    except Exception as error:
        reason = error.__cause__ if isinstance(error, ModelError) and error.__cause__ else error
        import traceback

        traceback.print_exception(error)
        first = " ".join(f"{type(reason).__name__}: {reason}".split())
        print(f"{FAILED}{first:.1000}", file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    # The classes of a pickled call are those of the module by its name.
    from probity import _parts

    sys.exit(_parts._main(*sys.argv[1:]))
