"""The command of the wheel: what it ends with, and that it starts itself again as it was started."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import urllib.request
import uuid
from pathlib import Path

import pytest

import probity
from probity._errors import NameTaken

PROGRAM = shutil.which("probity", path=sysconfig.get_path("scripts"))
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="the package is not installed")

#: How long is waited for what must come. It is for what hangs.
MINUTES = 600

#: y = softmax(x · w), as the `onnx` package writes it: input x `[n, 2]`, output y `[n, 2]`, opset 17.
GRAPH = (
    "080812003a6a0a110a01780a017712017a22064d61744d756c0a0f0a017a1201792207536f66746d6178120167"
    "2a1b0802080210014201774a100000003f000080be000080bf000000405a110a0178120c0a0a080112060a000a"
    "02080262110a0179120c0a0a080112060a000a02080242040a001011"
)

AUDIT = "audit --model demo/model --data demo/people.csv --protected sex --seeds 300 --local 100 --estimate 500".split()

#: What is wrong with an audit, the exit code of the command, and the exception of the function.
FAULTS = [
    ({"nothing": 1}, 2, probity.OptionError),
    ({"data": "none.csv"}, 2, probity.DataError),
    ({"model": "none"}, 2, probity.ModelError),
    ({"device": "cuda"}, 3, probity.ProbityError),
]


def command(*words, **options):
    """Runs the command to its end."""
    words = [PROGRAM, *words]
    return subprocess.run(words, capture_output=True, encoding="utf-8", timeout=MINUTES, **options)


def probe(*words, **options):
    """The same, of the command that must succeed: what it prints."""
    done = command(*words, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def wait(what, process, is_there):
    """Waits until something is there that a process makes, and gives it."""
    end = time.monotonic() + MINUTES
    while not (there := is_there()):
        assert process.poll() is None, f"the process ended before {what}"
        assert time.monotonic() < end, f"{what} does not come"
        time.sleep(0.02)
    return there


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A table of people, and a model that was trained on it."""
    folder = tmp_path_factory.mktemp("demo")
    probe("demo", "--rows", "1000", "--out", "demo", cwd=folder)
    return folder / "demo"


@pytest.fixture
def with_demo(demo, tmp_path):
    shutil.copytree(demo, tmp_path / "demo")


def declare(bound):
    """Writes the file of a gate with one check."""
    check = ["[[check]]", 'name = "people"', 'model = "demo/model"', 'data = "demo/people.csv"']
    check += ['protected = ["sex"]', f"fail_above = {bound}", "search = { seeds = 20, local = 5 }"]
    Path("probity.toml").write_text("\n".join(check))


def test_it_says_its_name_however_it_is_started():
    for words in ([PROGRAM], [sys.executable, "-m", "probity"]):

        def said(*more):
            return subprocess.run([*words, *more], capture_output=True, text=True, timeout=MINUTES)

        assert said("--version").stdout == f"probity {probity.__version__}\n"
        assert "Usage: probity" in said("--help").stdout
        assert "Usage: probity audit" in said("audit", "--none").stderr
        assert said("man").stdout.count("__main__") == 0
        assert "complete -F _probity" in said("completions", "bash").stdout


def test_it_imports_neither_numpy_nor_pyarrow():
    code = "import sys, probity.__main__; print({'numpy', 'pyarrow', 'typing'} & {*sys.modules})"
    said = subprocess.run([sys.executable, "-SIc", f"import sys; sys.path.append({str(package_folder())!r}); {code}"],
                          capture_output=True, text=True, check=True)
    assert said.stdout == "set()\n"


def package_folder():
    return Path(probity.__file__).parents[1]


def test_exit_codes(with_demo):
    declare(1.0)
    assert command("gate").returncode == 0
    declare(0.0)
    done = command("gate", "--json")
    assert done.returncode == 1
    # Nothing is printed but what the command prints.
    assert json.loads(done.stdout)["holds"] is False
    assert command("gate", "none.toml").returncode == 2
    assert command("--none").returncode == 2


@pytest.mark.parametrize("wrong, code, exception", FAULTS)
def test_a_fault_has_an_exit_code_and_an_exception(with_demo, wrong, code, exception):
    asked = {"model": "demo/model", "data": "demo/people.csv", "protected": ["sex"], **wrong}
    with pytest.raises(probity.ProbityError) as raised:
        probity.audit(**asked)
    assert raised.type is exception
    device = asked.pop("device", "auto")
    fields = {"kind": "audit", **asked}
    Path("audit.toml").write_text("\n".join(f"{name} = {json.dumps(value)}" for name, value in fields.items()))
    assert command("run", "audit.toml", "--device", device).returncode == code


def test_every_exception_is_that_of_a_fault():
    # A name that is taken is a matter of the package itself.
    known = {probity.ProbityError, *probity.ProbityError.__subclasses__()} - {NameTaken}
    assert {exception for *_, exception in FAULTS} == known


@pytest.mark.skipif(os.name == "nt", reason="arguments are bytes elsewhere")
def test_arguments_that_are_not_utf_8_are_refused():
    done = command("schema", "show", b"people-\xff.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not in UTF-8" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
def test_ctrl_c_ends_the_step_and_keeps_the_run(with_demo):
    gate = Path("gate").absolute()
    gate.touch()
    environment = {**os.environ, "PROBITY_PAUSE": f"round:3={gate}"}
    words = [PROGRAM, *AUDIT, "--out", "run"]
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait("the third round", process, Path("gate.held").exists)
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=MINUTES)
    assert process.returncode == 0, errors
    assert "Interrupted after" in said and "--resume" in said + errors
    assert "Traceback" not in errors
    assert json.loads(Path("run/summary.json").read_text())["ending"] == "interrupted"
    probe("audit", "--resume", "--out", "run")
    assert json.loads(Path("run/summary.json").read_text())["ending"] == "complete"


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
def test_ctrl_c_ends_what_does_not_listen_as_a_signal_does():
    os.mkfifo("probity.toml")
    with subprocess.Popen([PROGRAM, "gate"], stderr=subprocess.PIPE, text=True) as process:
        # Nobody can write to it before the command reads it, and that goes on as long as somebody can.
        pipe = wait("it read the file", process, open_to_write)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=MINUTES)
        os.close(pipe)
    assert (process.returncode, errors) == (-signal.SIGINT, "")


def open_to_write():
    with contextlib.suppress(OSError):
        return os.open("probity.toml", os.O_WRONLY | os.O_NONBLOCK)
    return None


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
def test_a_pipe_that_is_closed_is_no_error():
    with subprocess.Popen([PROGRAM, "man"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        errors = process.stderr.read()
    assert (process.wait(MINUTES), errors) == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="it is started by a shell")
def test_nothing_is_printed_into_a_file_where_standard_output_is_closed():
    line = f"exec {PROGRAM} data generate people --rows 30 --out people.csv >&- 2>&-"
    subprocess.run(["sh", "-c", line], check=True, timeout=MINUTES)
    probe("data", "generate", "people", "--rows", "30", "--out", "same.csv")
    assert Path("people.csv").read_bytes() == Path("same.csv").read_bytes()


def test_a_folder_of_its_name_is_not_taken_for_it(with_demo):
    Path("probity").mkdir()
    for name in ("__init__.py", "__main__.py", "_program.py"):
        Path("probity", name).write_text("raise SystemExit('this is another package')")
    assert probe("--version") == f"probity {probity.__version__}\n"
    # The gate starts the command once more, and so does what computes graphs.
    declare(1.0)
    assert "All bounds hold" in probe("gate")
    predict_by_graph()


def predict_by_graph():
    Path("graph.onnx").write_bytes(bytes.fromhex(GRAPH))
    attributes = [f'[[attribute]]\nname = "{name}"\nkind = "integer"\nmin = 0\nmax = 9\n' for name in "ab"]
    Path("pairs.toml").write_text('name = "pairs"\n[label]\nname = "y"\nclasses = ["no", "yes"]\n' + "".join(attributes))
    Path("pairs.csv").write_text("a,b\n1,2\n9,0\n")
    words = "predict --predictor onnx:graph.onnx --schema pairs.toml --data pairs.csv --out said.csv".split()
    probe(*words)
    assert Path("said.csv").read_text().count("\n") == 3


def test_graphs_are_computed():
    predict_by_graph()


class Service:
    """A service, and a worker that does its jobs."""

    def __init__(self, stack):
        self._token = token()
        words = [PROGRAM, "serve", "--data-dir", "data", "--port", "0", "--jobs", "0"]
        self._service = stack.enter_context(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        stack.callback(self._service.terminate)
        self._address = self._service.stdout.readline().split()[-1]
        environment = {**os.environ, "PROBITY_TOKEN": token("--role", "worker")}
        words = [PROGRAM, "work", "--service", self._address, "--work-dir", "work"]
        self.worker = stack.enter_context(subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL))
        stack.callback(self.worker.terminate)

    def ask(self, path, body=None, kind="application/json", method=None):
        """Asks the service, and gives what it answers."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        url = f"{self._address}/api/v1/{path}"
        request = urllib.request.Request(url, data=body, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=MINUTES) as answer:
            return json.load(answer)

    def upload(self, file):
        """Uploads a table, and gives its identifier."""
        edge = uuid.uuid4().hex
        field = f'--{edge}\r\nContent-Disposition: form-data; name="kind"\r\n\r\ntable\r\n'
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="people.csv"\r\n\r\n'
        body = (field + head).encode() + file.read_bytes() + f"\r\n--{edge}--\r\n".encode()
        return self.ask("data", body, f"multipart/form-data; boundary={edge}")["id"]


def token(*words):
    return probe("serve", "token", "--data-dir", "data", "--name", "a", *words).split()[-1]


@pytest.mark.skipif(os.name == "nt", reason="jobs are bounded elsewhere only")
def test_jobs_of_a_service_and_what_it_looks_at():
    Path("probity").mkdir()
    probe("data", "generate", "people", "--rows", "300", "--out", "people.csv")
    with contextlib.ExitStack() as stack:
        service = Service(stack)
        # A process of the service looks at the table; a process of the worker trains.
        data = service.upload(Path("people.csv"))
        wish = {"label": "income", "protected": ["sex"], "ignore": ["household"]}
        schema = service.ask(f"data/{data}/schema/draft", json.dumps(wish).encode())
        service.ask(f"data/{data}/schema", json.dumps(schema).encode(), method="PUT")
        job = {"kind": "train", "modality": "table", "data": data, "training": {"epochs": 1}}
        job = service.ask("jobs", json.dumps(job).encode())["id"]

        def ended():
            view = service.ask(f"jobs/{job}")
            return view["state"] not in ("queued", "running") and view

        view = wait("the end of the job", service.worker, ended)
        assert view["state"] == "done", view
