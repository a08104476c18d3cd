"""What hands the shards of a run to workers, on this machine or on many.

>>> probity.audit(model, people, protected=["sex"], label="income", engine="ray", shards=64)

A run is cut into shards that know nothing of each other; what they come to is merged into the very
files that one machine writes, whatever the number of shards and workers. What an engine needs to know
(`Ray`, `HyperQueue`) is nothing that changes a result. docs/scale.md says what is cut where.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterator, Protocol

from . import _parts
from ._errors import OptionError, ProbityError
from ._parts import Call, Part

#: Told how many shards of a stage are done.
Tell = Callable[[int], None]

#: Times that a shard is tried again after its worker was lost.
_RETRIES = 3


class Engine(Protocol):
    """Does shards somewhere."""

    def workers(self) -> int:
        """How many shards are done at a time."""

    def work(self, call: Call, folder: Path, shards: list[str], tell: Tell) -> dict[str, str]:
        """Does `shards` of the stage that `folder` waits for, and puts their files there. Gives those
        that failed for good, with the reason."""


class Ray:
    """Ray: on its cluster where this process is connected to one or `RAY_ADDRESS` names one, else on
    this machine.

    A shard takes `threads` CPUs. Its worker gets model and data through Ray, so frames, functions and
    fitted estimators need no shared file system; paths must be there on every worker, or be URLs that
    fsspec reads, such as `s3://…`.
    """

    def __init__(self, *, threads: int = 1, address: str | None = None, retries: int = _RETRIES):
        self.threads, self.address, self.retries = threads, address, retries

    def _connected(self) -> Any:
        try:
            import ray
        except ImportError as error:
            raise OptionError("engine='ray' needs Ray: pip install 'probity[ray]'") from error
        if not ray.is_initialized():
            ray.init(address=self.address, log_to_driver=False, configure_logging=False)
        return ray

    def workers(self) -> int:
        cpus = self._connected().cluster_resources().get("CPU", 1)
        return max(int(cpus // self.threads), 1)

    def work(self, call: Call, folder: Path, shards: list[str], tell: Tell) -> dict[str, str]:
        ray = self._connected()
        # What raises an exception would raise it again; a worker that is lost is another matter.
        work = ray.remote(
            num_cpus=self.threads,
            max_retries=self.retries,
            runtime_env={"env_vars": _environment()},
        )(_parts.work_remotely)
        merged = folder / _parts.STARTS
        starts = merged.read_bytes() if merged.exists() else None
        shared = ray.put((call, starts))
        waiting = {work.remote(shared, shard, self.threads): shard for shard in shards}
        failed: dict[str, str] = {}
        try:
            while waiting:
                (done, *_), _ = ray.wait(list(waiting), num_returns=1)
                shard = waiting.pop(done)
                try:
                    name, content = ray.get(done)
                    _write(folder / name, content)
                except ray.exceptions.RayTaskError as error:
                    failed[shard] = _first_line(error.cause)
                except ray.exceptions.RayError as error:
                    failed[shard] = _first_line(error)
                tell(len(shards) - len(waiting) - len(failed))
        finally:
            for left in waiting:
                ray.cancel(left, force=True)
        return failed


class HyperQueue:
    """HyperQueue: on the server whose directory is `server_dir`, by default that of the user.

    Its workers may come from Slurm or PBS by automatic allocation. Server, workers and this process
    share a file system, with the run's directory and all paths on it, and the workers have this
    Python's path. A shard takes `threads` CPUs.
    """

    def __init__(
        self,
        server_dir: str | os.PathLike[str] | None = None,
        *,
        threads: int = 1,
        workers: int = 16,
        retries: int = _RETRIES,
    ):
        self.server_dir, self.threads, self.retries = server_dir, threads, retries
        self._workers = workers

    def workers(self) -> int:
        return self._workers

    def work(self, call: Call, folder: Path, shards: list[str], tell: Tell) -> dict[str, str]:
        try:
            from hyperqueue import Client, Job
            from hyperqueue.ffi.protocol import ResourceRequest
        except ImportError as error:
            raise OptionError(
                "engine='hyperqueue' needs HyperQueue: pip install 'probity[hyperqueue]'"
            ) from error
        try:
            client = Client(self.server_dir)
        except Exception as error:
            # What it says is followed by a backtrace.
            raise ProbityError(f"no server of HyperQueue answers: {_first_line(error)}") from None
        with _written(call, folder) as (asked, logs):
            left, failed = shards, dict.fromkeys(shards, "")
            for _ in range(self.retries + 1):
                job = Job(max_fails=None, name="probity")
                for shard in left:
                    program = [sys.executable, "-m", "probity._parts", str(asked), str(folder), shard]
                    job.program(
                        [*program, str(self.threads)],
                        env=_environment(),
                        stdout=None,
                        stderr=str(_log_of(logs, shard)),
                        resources=ResourceRequest(cpus=self.threads),
                        crash_limit=self.retries + 1,
                    )
                submitted = client.submit(job)
                # It would draw a bar of its own.
                with contextlib.redirect_stderr(io.StringIO()):
                    client.wait_for_jobs([submitted], raise_on_error=False)
                left = [shard for shard in left if not _parts.file_of(folder, call.kind, shard).is_file()]
                failed = {shard: _told(_log_of(logs, shard)) for shard in left}
                tell(len(shards) - len(left))
                # What says why would say it again.
                left = [shard for shard in left if not failed[shard]]
                if not left:
                    break
            return {shard: why or "its process was killed" for shard, why in failed.items()}


def named(engine: str | Engine) -> Engine:
    """The engine of a name, as it is without options."""
    if not isinstance(engine, str):
        return engine
    made: dict[str, Callable[[], Engine]] = {
        "ray": Ray,
        "hyperqueue": HyperQueue,
    }
    if engine not in made:
        raise OptionError(f"engine is '{engine}', but must be one of {', '.join(made)}")
    return made[engine]()


@contextlib.contextmanager
def _written(call: Call, folder: Path) -> Iterator[tuple[Path, Path]]:
    """The file of `call`, and a folder for what shards say, while they are done. Its name begins with
    a dot: it is no shard."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".call-", dir=folder) as own:
        asked = Path(own) / "call.pickle"
        asked.write_bytes(_pickled(call))
        yield asked, Path(own)


def _pickled(call: Call) -> bytes:
    """Functions that were defined in a notebook are pickled by value where cloudpickle is there."""
    try:
        import cloudpickle as by_value
    except ImportError:
        by_value = pickle
    try:
        pickled: bytes = by_value.dumps(call)
    except Exception as error:
        raise ProbityError(
            f"model and data cannot be sent to another process ({error}); functions of a notebook "
            "need cloudpickle"
        ) from error
    return pickled


def _environment() -> dict[str, str]:
    """Where modules are found: functions that are pickled by name are imported again."""
    return {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def _first_line(error: object) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _log_of(logs: Path, shard: str) -> Path:
    return logs / shard.replace("/", "-")


def _told(log: Path) -> str:
    """What a shard that failed says last: why. One that was killed says nothing."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    said = [line for line in text.splitlines() if line.startswith(_parts.FAILED)]
    return said[-1].removeprefix(_parts.FAILED).strip() if said else ""


def _write(file: Path, content: bytes) -> None:
    """All of it, or nothing under its name."""
    with tempfile.NamedTemporaryFile(prefix=".part-", dir=file.parent, delete=False) as made:
        made.write(content)
        made.flush()
        os.fsync(made.fileno())
    os.replace(made.name, file)
