"""Parts of a run: a call of this package, done as one of its shards or as their merge.

A worker makes the very call that the user made, with the same model and data, so that whatever is
inferred from them is inferred again to the same; where the call comes to its run, only the part is
performed. As a program, `python -m probity._parts CALL FOLDER SHARD THREADS` does a shard of the call
that is pickled in a file, and writes beside that file why it failed, if it did.
"""

from __future__ import annotations

import contextlib
import contextvars
import json
import pickle
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterator

from . import _errors
from ._errors import ModelError, OptionError, ProbityError
from ._rust import PartReport

#: What a merge writes where another stage follows.
STARTS = "starts.merged"
#: What the run is asked for.
RUN = "run.toml"
#: Letters of a reason that are told.
_TOLD = 500


@dataclass(frozen=True)
class Part:
    """A shard of a run, done into `folder`, or only opened for a `check`; or the merge of the shards
    there, into `out`; without a folder the whole run, into `out`."""

    kind: str
    folder: Path | None = None
    shard: str | None = None
    out: Path | None = None
    threads: int | None = None
    check: bool = False


@dataclass
class Call:
    """What the user asked for: a function of this package, and its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)
    _pickled: bytes | None = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        """The kind of run, by which its function is called."""
        return self.function.__name__

    def perform(self, part: Part, progress: Any = False) -> Any:
        """Performs a part of it: a run that is complete, else what is said of the part."""
        with _doing(part):
            try:
                return self.function(*self.arguments, **{**self.options, "progress": progress})
            except PartDone as done:
                return done.report

    def pickled(self) -> bytes:
        """It as it was when it was first asked for this: what it is performed with here may change it.

        Functions that were defined in a notebook are pickled by value where cloudpickle is there.
        """
        if self._pickled is not None:
            return self._pickled
        try:
            import cloudpickle as by_value
        except ImportError:
            by_value = pickle
        try:
            pickled: bytes = by_value.dumps(self)
        except Exception as error:
            missing = "; functions of a notebook need cloudpickle" if by_value is pickle else ""
            raise ProbityError(
                f"model and data cannot be sent to another process: {_cut(str(error))}{missing}"
            ) from error
        self._pickled = pickled
        return pickled


class PartDone(BaseException):
    """A part is performed, and its run is not complete by it. No failure: it leaves the call that
    the part is of."""

    def __init__(self, report: PartReport):
        super().__init__(report)
        self.report = report


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


def expect_whole(name: str, value: Any, least: int) -> int:
    """Refuses what is no whole number from `least` on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise OptionError(f"{name} is {value!r}, but must be a whole number, at least {least}")
    return value


def file_of(folder: Path, kind: str, shard: str) -> Path:
    """The file of a shard of the stage that `folder` waits for."""
    number, _, of = shard.partition("/")
    return folder / f"{stage_of(folder, kind)}-{number}-of-{of}.shard"


def stage_of(folder: Path, kind: str) -> str:
    """The stage that `folder` waits for."""
    if kind != "audit":
        return "items"
    return "local" if (folder / STARTS).exists() else "global"


@dataclass(frozen=True)
class Failure:
    """Why a shard failed: the class of an exception of this package, and what it says."""

    kind: str
    reason: str

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        cause = error.__cause__ if isinstance(error, ModelError) and error.__cause__ else error
        said = _cut(" ".join(str(cause).split()))
        if not isinstance(cause, ProbityError):
            said = f"{type(cause).__name__}: {said}"
        kind = type(error).__name__ if isinstance(error, ProbityError) else "ProbityError"
        return cls(kind, said)

    def exception(self, text: str) -> ProbityError:
        known: type[ProbityError] = getattr(_errors, self.kind, ProbityError)
        return known(text)


def _cut(text: str) -> str:
    return text if len(text) <= _TOLD else text[:_TOLD] + " …"


def work_remotely(
    shared: tuple[bytes, dict[str, bytes]], shard: str, threads: int
) -> tuple[str, bytes] | Failure:
    """Does a shard where there is no shared file system: the name and the content of its file."""
    pickled, files = shared
    try:
        call: Call = pickle.loads(pickled)
        with tempfile.TemporaryDirectory(prefix="probity-") as own:
            folder = Path(own)
            for name, content in files.items():
                (folder / name).write_bytes(content)
            call.perform(Part(call.kind, folder, shard, threads=threads))
            file = file_of(folder, call.kind, shard)
            return file.name, file.read_bytes()
    except Exception as error:
        return Failure.of(error)


def failure_file(asked: Path, shard: str) -> Path:
    """Where a shard of the call in the file `asked` says why it failed."""
    return asked.with_name(shard.replace("/", "-of-") + ".failure")


def _main(asked: str, folder: str, shard: str, threads: str) -> int:
    try:
        with open(asked, "rb") as opened:
            call: Call = pickle.load(opened)
        call.perform(Part(call.kind, Path(folder), shard, threads=int(threads)))
    except (Exception, SystemExit) as error:
        failure = Failure.of(error)
        with contextlib.suppress(FileNotFoundError):
            text = json.dumps([failure.kind, failure.reason])
            failure_file(Path(asked), shard).write_text(text, encoding="utf-8")
        return 1
    return 0


if __name__ == "__main__":
    # The classes of a pickled call are those of the module by its name.
    from probity import _parts

    sys.exit(_parts._main(*sys.argv[1:]))
