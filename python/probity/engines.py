"""What hands the shards of a run to workers, on this machine or on many.

>>> probity.audit(model, people, protected=["sex"], label="income", engine="ray", shards=64)

A run is cut into shards that know nothing of each other; what they come to is merged into the very
files that one machine writes, whatever the number of shards and workers. What an engine needs to know
(`Ray`, `HyperQueue`) is nothing that changes a result. docs/scale.md says what is cut where.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Iterator, Protocol

from . import _parts
from ._errors import OptionError, ProbityError
from ._parts import Call, Failure, expect_whole

#: Told how many shards of a stage are done.
Tell = Callable[[int], None]

#: Times that a shard is tried again after its worker was lost.
_RETRIES = 3
#: Seconds between two looks at what workers have done.
_PAUSE = 0.1


class Engine(Protocol):
    """Does shards somewhere."""

    def workers(self) -> int:
        """How many shards are done at a time."""

    def work(self, call: Call, folder: Path, shards: list[str], tell: Tell) -> dict[str, Failure]:
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
        self.threads, self.retries = expect_whole("threads", threads, 1), expect_whole("retries", retries, 0)
        self.address = address

    def _connected(self) -> Any:
        try:
            import ray
        except ImportError as error:
            raise OptionError("engine='ray' needs Ray: pip install 'probity[ray]'") from error
        if not ray.is_initialized():
            ray.init(address=self.address, log_to_driver=False, configure_logging=False)
        return ray

    def workers(self) -> int:
        ray = self._connected()
        cpus = [node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]]
        largest = int(max(cpus, default=0))
        if largest < self.threads:
            raise OptionError(
                f"threads is {self.threads}, but the largest node of the cluster has {largest} CPUs"
            )
        return sum(int(count // self.threads) for count in cpus)

    def work(self, call: Call, folder: Path, shards: list[str], tell: Tell) -> dict[str, Failure]:
        ray = self._connected()
        # What raises an exception would raise it again; a worker that is lost is another matter.
        work = ray.remote(
            num_cpus=self.threads,
            max_retries=self.retries,
            runtime_env={"env_vars": _environment()},
        )(_parts.work_remotely)
        files = {name: folder / name for name in (_parts.RUN, _parts.STARTS)}
        there = {name: file.read_bytes() for name, file in files.items() if file.exists()}
        # Pickled here: what Ray hands out itself cannot be written to by the model.
        shared = ray.put((call.pickled(), there))
        waiting = {work.remote(shared, shard, self.threads): shard for shard in shards}
        failed: dict[str, Failure] = {}
        try:
            while waiting:
                (done, *_), _ = ray.wait(list(waiting), num_returns=1)
                shard = waiting.pop(done)
                try:
                    outcome = ray.get(done)
                except ray.exceptions.RayError as error:
                    outcome = Failure("ProbityError", _first_line(error))
                if isinstance(outcome, Failure):
                    failed[shard] = outcome
                else:
                    _write(folder / outcome[0], outcome[1])
                tell(len(shards) - len(waiting) - len(failed))
        finally:
            for left in waiting:
                ray.cancel(left, force=True)
        return failed


class HyperQueue:
    """HyperQueue: on the server whose directory is `server_dir`, by default that of the user.

    Its workers may come from Slurm or PBS by automatic allocation; `workers` is how many are expected.
    Server, workers and this process share a file system, with the run's directory and all paths on it,
    and the workers have this Python at the same path. A shard takes `threads` CPUs of one worker.
    """

    def __init__(
        self,
        server_dir: str | os.PathLike[str] | None = None,
        *,
        threads: int = 1,
        workers: int = 16,
        retries: int = _RETRIES,
    ):
        self.server_dir = None if server_dir is None else os.fspath(server_dir)
        self.threads, self.retries = expect_whole("threads", threads, 1), expect_whole("retries", retries, 0)
        self._workers = expect_whole("workers", workers, 1)

    def workers(self) -> int:
        return self._workers

    def work(self, call: Call, folder: Path, shards: list[str], tell: Tell) -> dict[str, Failure]:
        def is_missing(shard: str) -> bool:
            return not _parts.file_of(folder, call.kind, shard).is_file()

        def look() -> None:
            tell(len(shards) - sum(map(is_missing, shards)))

        with _written(call, folder) as asked:
            left = shards
            for _ in range(self.retries + 1):
                self._submit(asked, folder, left, look)
                # What says why would say it again; a process that was killed says nothing.
                left = [shard for shard in shards if is_missing(shard) and not _reason(asked, shard)]
                if not left:
                    break
            killed = Failure("ProbityError", "its process was killed")
            missing = filter(is_missing, shards)
            return {shard: _reason(asked, shard) or killed for shard in missing}

    def _submit(
        self, asked: Path, folder: Path, shards: list[str], look: Callable[[], None]
    ) -> None:
        """Has the server do `shards`. Its client is in a process of its own: while it waits, nothing
        else would go on in this one."""
        command = [sys.executable, "-m", "probity.engines"]
        wanted = {
            "server_dir": self.server_dir,
            "threads": self.threads,
            "crash_limit": self.retries + 1,
            "environment": _environment(),
            "tasks": [
                [sys.executable, "-m", "probity._parts", str(asked), str(folder), shard, str(self.threads)]
                for shard in shards
            ],
        }
        client = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_environment()},
            text=True,
        )
        assert client.stdin is not None and client.stdout is not None
        try:
            client.stdin.write(json.dumps(wanted))
            client.stdin.close()
            while client.poll() is None:
                time.sleep(_PAUSE)
                look()
            said = client.stdout.read().strip()
        finally:
            client.kill()
            client.wait()
            client.stdout.close()
        if said:
            raise ProbityError(said)


def _client() -> None:
    """A client of HyperQueue, asked on stdin; what is wrong is said on stdout."""
    wanted = json.load(sys.stdin)
    try:
        from hyperqueue import Client, Job
        from hyperqueue.ffi.protocol import ResourceRequest
    except ImportError:
        print("engine='hyperqueue' needs HyperQueue: pip install 'probity[hyperqueue]'")
        return
    try:
        client = Client(wanted["server_dir"])
        job = Job(max_fails=None, name="probity")
        for task in wanted["tasks"]:
            job.program(
                task,
                env=wanted["environment"],
                stdout=None,
                stderr=None,
                resources=ResourceRequest(cpus=wanted["threads"]),
                crash_limit=wanted["crash_limit"],
            )
        client.wait_for_jobs([client.submit(job)], raise_on_error=False)
    except Exception as error:
        # What it says is followed by a backtrace.
        print(f"no server of HyperQueue answers: {_first_line(error)}")


def named(engine: Any) -> Engine:
    """The engine of a name, as it is without options."""
    made: dict[str, Callable[[], Engine]] = {"ray": Ray, "hyperqueue": HyperQueue}
    if isinstance(engine, str) and engine in made:
        return made[engine]()
    is_engine = not isinstance(engine, (str, type))
    if is_engine and callable(getattr(engine, "work", None)) and callable(getattr(engine, "workers", None)):
        found: Engine = engine
        return found
    raise OptionError(
        f"engine is {engine!r}, but must be one of {', '.join(made)}, or one of probity.engines, such "
        "as Ray(threads=2)"
    )


@contextlib.contextmanager
def _written(call: Call, folder: Path) -> Iterator[Path]:
    """The file of `call`, in a folder of its own while its shards are done. That folder's name begins
    with a dot: it is no shard."""
    with tempfile.TemporaryDirectory(prefix=".call-", dir=folder, ignore_cleanup_errors=True) as own:
        asked = Path(own) / "call.pickle"
        asked.write_bytes(call.pickled())
        yield asked


def _reason(asked: Path, shard: str) -> Failure | None:
    try:
        return Failure(*json.loads(_parts.failure_file(asked, shard).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def _environment() -> dict[str, str]:
    """Where modules are found: functions that are pickled by name are imported again."""
    return {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def _first_line(error: object) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _write(file: Path, content: bytes) -> None:
    """All of it, or nothing under its name."""
    with tempfile.NamedTemporaryFile(prefix=".part-", dir=file.parent, delete=False) as made:
        made.write(content)
        made.flush()
        os.fsync(made.fileno())
    os.replace(made.name, file)


if __name__ == "__main__":
    _client()
