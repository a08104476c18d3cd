"""Parts of a run: its shards and their merge, each performed by a call of this package.

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
#: Letters of a reason that are kept.
_LETTERS = 500


@dataclass(frozen=True)
class Part:
    """A part of a run: a shard, written into `folder`, or only opened for a `check`; without a shard the
    merge of those in `folder`, into `out`; without a folder the whole run, into `out`."""

    kind: str
    folder: Path | None = None
    shard: str | None = None
    out: Path | None = None
    threads: int | None = None
    check: bool = False


@dataclass
class Call:
    """A call that the user made: a function of this package, and its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)
    _pickled: bytes | None = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        """The kind of run, after which its function is named."""
        return self.function.__name__

    def perform(self, part: Part, progress: Any = False) -> Any:
        """Performs a part of the run, and gives the run, if it is complete, or else a report."""
        with _perform_part(part):
            try:
                return self.function(*self.arguments, **{**self.options, "progress": progress})
            except PartDone as done:
                return done.report

    def pickle(self) -> bytes:
        """Pickles the call once, before it is performed here, which may change its arguments.

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
                f"model and data cannot be sent to another process: {_shorten(str(error))}{missing}"
            ) from error
        self._pickled = pickled
        return pickled


class PartDone(BaseException):
    """The end of a call whose part is performed and whose run is not complete; it is no failure."""

    def __init__(self, report: PartReport):
        super().__init__(report)
        self.report = report


_part: contextvars.ContextVar[Part | None] = contextvars.ContextVar("part", default=None)


def get_part(kind: str) -> Part | None:
    """Gives the part of a run of this kind that is to be performed, if not the whole."""
    part = _part.get()
    return part if part is not None and part.kind == kind else None


@contextlib.contextmanager
def _perform_part(part: Part) -> Iterator[None]:
    """Has a run that is asked for meanwhile perform this part alone."""
    token = _part.set(part)
    try:
        yield
    finally:
        _part.reset(token)


def expect_whole(name: str, value: Any, least: int) -> int:
    """Refuses an option that is no whole number, or below `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise OptionError(f"{name} is {value!r}, but must be a whole number, at least {least}")
    return value


def get_shard_file(folder: Path, kind: str, shard: str) -> Path:
    """Gives the file of a shard of the stage that `folder` waits for."""
    number, _, of = shard.partition("/")
    return folder / f"{get_stage(folder, kind)}-{number}-of-{of}.shard"


def get_stage(folder: Path, kind: str) -> str:
    """Gives the stage whose shards `folder` waits for."""
    if kind != "audit":
        return "items"
    return "local" if (folder / STARTS).exists() else "global"


@dataclass(frozen=True)
class Failure:
    """Why a shard failed: the class of an exception of this package, and what it says."""

    kind: str
    reason: str

    @classmethod
    def from_error(cls, error: BaseException) -> Failure:
        """Makes the failure of an exception; of one of a model, its cause is what counts."""
        cause = error.__cause__ if isinstance(error, ModelError) and error.__cause__ else error
        reason = _shorten(" ".join(str(cause).split()))
        if not isinstance(cause, ProbityError):
            reason = f"{type(cause).__name__}: {reason}"
        kind = type(error).__name__ if isinstance(error, ProbityError) else "ProbityError"
        return cls(kind, reason)

    def to_exception(self, text: str) -> ProbityError:
        """Makes an exception of the same class that says `text`."""
        known: type[ProbityError] = getattr(_errors, self.kind, ProbityError)
        return known(text)


def _shorten(text: str) -> str:
    return text if len(text) <= _LETTERS else text[:_LETTERS] + " …"


def work_remotely(
    shared: tuple[bytes, dict[str, bytes]], shard: str, threads: int
) -> tuple[str, bytes] | Failure:
    """Does a shard where there is no shared file system, and gives its file's name and content."""
    pickled, files = shared
    try:
        call: Call = pickle.loads(pickled)
        with tempfile.TemporaryDirectory(prefix="probity-") as own:
            folder = Path(own)
            for name, content in files.items():
                (folder / name).write_bytes(content)
            call.perform(Part(call.kind, folder, shard, threads=threads))
            file = get_shard_file(folder, call.kind, shard)
            return file.name, file.read_bytes()
    except Exception as error:
        return Failure.from_error(error)


def get_failure_file(call: Path, shard: str) -> Path:
    """Gives the file in which a shard of the call in the file `call` says why it failed."""
    return call.with_name(shard.replace("/", "-of-") + ".failure")


def _main(file: str, folder: str, shard: str, threads: str) -> int:
    """Does a shard of the call that is pickled in a file."""
    try:
        with open(file, "rb") as opened:
            call: Call = pickle.load(opened)
        call.perform(Part(call.kind, Path(folder), shard, threads=int(threads)))
    except (Exception, SystemExit) as error:
        failure = Failure.from_error(error)
        with contextlib.suppress(FileNotFoundError):
            text = json.dumps([failure.kind, failure.reason])
            get_failure_file(Path(file), shard).write_text(text, encoding="utf-8")
        return 1
    return 0


if __name__ == "__main__":
    # The classes of a pickled call are those of the module by its name.
    from probity import _parts

    sys.exit(_parts._main(*sys.argv[1:]))
