"""Engines, which hand the shards of a run to workers, on this machine or on many.

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

#: A function that is told how many shards of a stage are done.
Tell = Callable[[int], None]

#: Times that a shard is tried again after its worker was lost.
_RETRIES = 3
#: Seconds between two looks at what workers have done.
_PAUSE = 0.1


class Engine(Protocol):
    """An engine, which has shards done by workers."""

    def workers(self) -> int:
        """Counts the shards that can be done at a time."""

    def work(self, call: Call, folder: Path, shards: list[str], tell: Tell) -> dict[str, Failure]:
        """Has `shards` of the stage done that `folder` waits for, and puts their files there. Returns
        those that failed for good, with the reason."""


class Ray:
    """The engine Ray: on the cluster to which this process is connected or that `RAY_ADDRESS` names, or
    else on this machine.

    A shard takes `threads` CPUs. Its worker gets model and data through Ray, so frames, functions and
    fitted estimators need no shared file system; paths must be there on every worker, or be URLs that
    fsspec reads, such as `s3://…`.
    """

    def __init__(self, *, threads: int = 1, address: str | None = None, retries: int = _RETRIES):
        self.threads, self.retries = expect_whole("threads", threads, 1), expect_whole("retries", retries, 0)
        self.address = address

    def _connect(self) -> Any:
        """Connects to Ray, and gives its module."""
        try:
            import ray
        except ImportError as error:
            raise OptionError("engine='ray' needs Ray: pip install 'probity-audit[ray]'") from error
        if not ray.is_initialized():
            ray.init(address=self.address, log_to_driver=False, configure_logging=False)
        return ray

    def workers(self) -> int:
        ray = self._connect()
        cpus = [node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]]
        largest = int(max(cpus, default=0))
        if largest < self.threads:
            raise OptionError(
                f"threads is {self.threads}, but the largest node of the cluster has {largest} CPUs"
            )
        return sum(int(count // self.threads) for count in cpus)

    def work(self, call: Call, folder: Path, shards: list[str], tell: Tell) -> dict[str, Failure]:
        ray = self._connect()
        # What raises an exception would raise it again; a worker that is lost is another matter.
        work = ray.remote(
            num_cpus=self.threads,
            max_retries=self.retries,
            runtime_env={"env_vars": _make_environment()},
        )(_parts.work_remotely)
        files = {name: folder / name for name in (_parts.RUN, _parts.STARTS)}
        there = {name: file.read_bytes() for name, file in files.items() if file.exists()}
        # Pickled here: what Ray hands out itself cannot be written to by the model.
        shared = ray.put((call.pickle(), there))
        waiting = {work.remote(shared, shard, self.threads): shard for shard in shards}
        failed: dict[str, Failure] = {}
        try:
            while waiting:
                (done, *_), _ = ray.wait(list(waiting), num_returns=1)
                shard = waiting.pop(done)
                try:
                    outcome = ray.get(done)
                except ray.exceptions.RayError as error:
                    outcome = Failure("ProbityError", _take_first_line(error))
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
    """The engine HyperQueue: on the server whose directory is `server_dir`, by default that of the user.

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
            return not _parts.get_shard_file(folder, call.kind, shard).is_file()

        def look() -> None:
            tell(len(shards) - sum(map(is_missing, shards)))

        with _write_call(call, folder) as file:
            left = shards
            for _ in range(self.retries + 1):
                self._submit(file, folder, left, look)
                # What says why would say it again; a process that was killed says nothing.
                left = [shard for shard in shards if is_missing(shard) and not _read_failure(file, shard)]
                if not left:
                    break
            killed = Failure("ProbityError", "its process was killed")
            missing = filter(is_missing, shards)
            return {shard: _read_failure(file, shard) or killed for shard in missing}

    def _submit(
        self, file: Path, folder: Path, shards: list[str], look: Callable[[], None]
    ) -> None:
        """Has the server do `shards`. Its client runs in a process of its own, since nothing else could
        go on in this one while it waits."""
        command = [sys.executable, "-m", "probity.engines"]
        wanted = {
            "server_dir": self.server_dir,
            "threads": self.threads,
            "crash_limit": self.retries + 1,
            "environment": _make_environment(),
            "tasks": [
                [sys.executable, "-m", "probity._parts", str(file), str(folder), shard, str(self.threads)]
                for shard in shards
            ],
        }
        client = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_make_environment()},
            text=True,
        )
        assert client.stdin is not None and client.stdout is not None
        try:
            client.stdin.write(json.dumps(wanted))
            client.stdin.close()
            while client.poll() is None:
                time.sleep(_PAUSE)
                look()
            message = client.stdout.read().strip()
        finally:
            client.kill()
            client.wait()
            client.stdout.close()
        if message:
            raise ProbityError(message)


def _run_client() -> None:
    """Runs a client of HyperQueue, which reads its jobs from stdin and prints what is wrong."""
    wanted = json.load(sys.stdin)
    try:
        from hyperqueue import Client, Job
        from hyperqueue.ffi.protocol import ResourceRequest
    except ImportError:
        print("engine='hyperqueue' needs HyperQueue: pip install 'probity-audit[hyperqueue]'")
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
        print(f"no server of HyperQueue answers: {_take_first_line(error)}")


def named(engine: Any) -> Engine:
    """Gives the engine of a name, with default options, and an engine as it is."""
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
def _write_call(call: Call, folder: Path) -> Iterator[Path]:
    """Writes `call` to a file that is there while its shards are done, in a folder of its own, whose name
    begins with a dot since it is no shard."""
    with tempfile.TemporaryDirectory(prefix=".call-", dir=folder, ignore_cleanup_errors=True) as own:
        file = Path(own) / "call.pickle"
        file.write_bytes(call.pickle())
        yield file


def _read_failure(file: Path, shard: str) -> Failure | None:
    """Reads why a shard failed, if it says so."""
    try:
        return Failure(*json.loads(_parts.get_failure_file(file, shard).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def _make_environment() -> dict[str, str]:
    """Tells workers where modules are found: functions that are pickled by name are imported again."""
    return {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def _take_first_line(error: object) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _write(file: Path, content: bytes) -> None:
    """Writes a file whole, or not at all."""
    with tempfile.NamedTemporaryFile(prefix=".part-", dir=file.parent, delete=False) as made:
        made.write(content)
        made.flush()
        os.fsync(made.fileno())
    os.replace(made.name, file)


if __name__ == "__main__":
    _run_client()
