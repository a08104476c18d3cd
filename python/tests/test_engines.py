"""Runs in shards on workers of Ray and HyperQueue: the same files as in one piece."""

import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import probity
import pytest
from probity import engines

OPTIONS = dict(
    protected=["sex"], label="hired", strategy="random-walk", seeds=60, local=20, estimate=2000, progress=False
)


def decide(frame):
    score = 0.05 * frame["hours"].to_numpy(float) + 0.8 * (frame["sex"] == "m").to_numpy(float)
    score = score + 0.02 * frame["age"].to_numpy(float) - 2.5
    return 1 / (1 + np.exp(-score))


class Fails:
    """Ends the process of a worker, or raises an exception there, once and in the middle of a shard:
    where that has asked about more than ten rows that are none of the data."""

    def __init__(self, people: pd.DataFrame, marker: Path, how: str):
        self.known, self.marker, self.how, self.searched = set(self.rows(people)), marker, how, 0
        self.driver = os.getpid()

    @staticmethod
    def rows(frame):
        return list(frame[["age", "sex", "hours"]].itertuples(index=False, name=None))

    def __call__(self, frame):
        if os.getpid() != self.driver:
            self.searched += sum(row not in self.known for row in self.rows(frame))
            if self.searched > 10:
                self.fail_once()
        return decide(frame)

    def fail_once(self):
        try:
            os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise ValueError("the model is out of order")


@pytest.fixture(scope="module")
def ray_engine():
    # On a machine that others keep busy nothing that is slow to begin or to answer is given up, and
    # nothing is ended for the memory that others take. Nobody is told that Ray is used.
    os.environ.update(
        RAY_DASHBOARD_STARTUP_TIMEOUT_S="600",
        RAY_USAGE_STATS_ENABLED="0",
        RAY_agent_register_timeout_ms="600000",
        RAY_gcs_server_port_wait_time_s="600",
        RAY_gcs_server_request_timeout_seconds="600",
        RAY_health_check_failure_threshold="100",
        RAY_memory_monitor_refresh_ms="0",
        RAY_worker_register_timeout_seconds="600",
    )
    ray = pytest.importorskip("ray")
    from ray._private import node

    # Its own processes have 30 seconds, which nothing says otherwise: by a clock that goes slower.
    clock = SimpleNamespace(**{**vars(time), "monotonic": lambda: time.monotonic() / 20})
    quiet = dict(log_to_driver=False, include_dashboard=False, configure_logging=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(node, "time", clock)
        ray.init(num_cpus=2, object_store_memory=2**28, **quiet)
    yield engines.Ray()
    ray.shutdown()


@pytest.fixture(scope="module")
def hyperqueue_engine():
    pytest.importorskip("hyperqueue")
    from hyperqueue.cluster import LocalCluster, WorkerConfig

    with LocalCluster() as cluster:
        cluster.start_worker(WorkerConfig(cores=1))
        cluster.start_worker(WorkerConfig(cores=1))
        yield engines.HyperQueue(cluster.cluster.server_dir, workers=2)


@pytest.fixture(params=["ray", "hyperqueue"])
def engine(request):
    return request.getfixturevalue(f"{request.param}_engine")


@pytest.fixture(scope="module")
def people():
    generator = np.random.default_rng(5)
    count = 400
    people = pd.DataFrame(
        {
            "age": generator.integers(18, 70, count),
            "sex": generator.choice(["f", "m"], count),
            "hours": generator.integers(0, 60, count),
        }
    )
    people["hired"] = np.where(decide(people) > 0.5, "yes", "no")
    return people


@pytest.fixture(scope="module")
def whole(people, tmp_path_factory):
    audit = probity.audit(decide, people, out=tmp_path_factory.mktemp("whole") / "run", **OPTIONS)
    assert audit.summary["total"]["discriminatory"] > 20
    return audit


def untimed(value):
    if isinstance(value, dict):
        timed = ("second", "ended", "sha256", "seal")
        # Of functions that are audited at once in one process, each has a name of its own.
        timed += ("predictor",) if str(value.get("predictor")).startswith("memory:") else ()
        return {key: untimed(inner) for key, inner in value.items() if not any(word in key for word in timed)}
    return [untimed(inner) for inner in value] if isinstance(value, list) else value


def expect_same(one, other):
    samples = [run.directory / "samples.parquet" for run in (one, other)]
    assert samples[0].read_bytes() == samples[1].read_bytes()
    assert untimed(one.summary) == untimed(other.summary)


@pytest.mark.parametrize("shards", [1, 5])
def test_the_result_is_that_of_one_machine(engine, people, whole, tmp_path, shards):
    audit = probity.audit(decide, people, engine=engine, shards=shards, out=tmp_path / "run", **OPTIONS)
    expect_same(whole, audit)
    assert audit.verify()["rejected"] == 0
    assert not (tmp_path / "run.shards").exists()
    assert probity.Audit.load(tmp_path / "run").share == whole.share


def test_a_worker_that_is_killed_changes_nothing(engine, people, whole, tmp_path):
    model = Fails(people, tmp_path / "killed", "kill")
    audit = probity.audit(model, people, engine=engine, shards=4, out=tmp_path / "run", **OPTIONS)
    assert (tmp_path / "killed").exists()
    expect_same(whole, audit)


def test_a_shard_that_fails_for_good_is_named_and_the_rest_kept(engine, people, whole, tmp_path):
    model = Fails(people, tmp_path / "raised", "raise")
    with pytest.raises(probity.ModelError, match="1 of 4 shards.*out of order.*resume=True"):
        probity.audit(model, people, engine=engine, shards=4, out=tmp_path / "run", **OPTIONS)
    kept = sorted(file.name for file in (tmp_path / "run.shards").glob("*.shard"))
    assert len(kept) == 3
    with pytest.raises(probity.OptionError, match="resume=True"):
        probity.audit(model, people, engine=engine, shards=4, out=tmp_path / "run", **OPTIONS)
    audit = probity.audit(
        model, people, engine=engine, shards=4, out=tmp_path / "run", resume=True, **OPTIONS
    )
    expect_same(whole, audit)


def test_fitted_models_and_directories_are_sent(ray_engine, people, tmp_path):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    rows = people[["age", "hours"]]
    fitted = make_pipeline(FunctionTransformer(), LogisticRegression()).fit(
        rows.assign(m=people["sex"] == "m").astype(float), people["hired"]
    )
    frame = rows.assign(m=(people["sex"] == "m").astype(int), hired=people["hired"])
    options = {**OPTIONS, "protected": ["m"]}
    expect_same(
        probity.audit(fitted, frame, **options),
        probity.audit(fitted, frame, engine=ray_engine, shards=3, **options),
    )
    probity.train(people, "hired", ["sex"], epochs=2, out=tmp_path / "model", progress=False)
    people.to_csv(tmp_path / "people.csv", index=False)
    options = dict(protected=["sex"], seeds=40, local=10, estimate=500, progress=False)
    model, data = tmp_path / "model", tmp_path / "people.csv"
    whole = probity.audit(model, data, **options)
    expect_same(whole, probity.audit(model, data, engine=ray_engine, shards=3, **options))
    # From wherever fsspec reads.
    model, data = f"file://{model}", f"file://{data}"
    expect_same(whole, probity.audit(model, data, engine=ray_engine, shards=2, **options))


def test_comparisons_and_knn_are_cut_as_well(engine, people, tmp_path):
    model = probity.train(people, "hired", ["sex"], epochs=2, progress=False)
    options = dict(seeds=20, local=5, repeats=2, strategies=["adf", "themis"], progress=False)
    whole = probity.compare(model, people, **options)
    cut = probity.compare(model, people, engine=engine, shards=3, **options)
    assert untimed(whole.summary) == untimed(cut.summary)
    data = people.assign(sex=(people["sex"] == "m").astype(int))
    options = dict(label_column="hired", poison=[0, 1], progress=False)
    whole = probity.knn(data[:100], data[100:130], **options)
    cut = probity.knn(data[:100], data[100:130], engine=engine, shards=4, **options)
    assert untimed(whole.summary) == untimed(cut.summary)


def test_situations_are_cut_as_well(engine, people, tmp_path):
    asked = dict(protected=["sex=f"], label="hired", k=20, favourable="yes", progress=False)
    persons = lambda run: (run.directory / "persons.csv").read_bytes()
    for number, model in enumerate([None, decide]):
        options = {**asked, "classes": None if model is None else ["no", "yes"]}
        whole = probity.situations(model, people, out=tmp_path / f"whole-{number}", **options)
        assert whole.summary["groups"][0]["against"]["cases"] > 0
        out = tmp_path / f"cut-{number}"
        cut = probity.situations(model, people, engine=engine, shards=3, out=out, **options)
        assert untimed(whole.summary) == untimed(cut.summary)
        assert persons(whole) == persons(cut)


def test_what_makes_no_sense_is_refused(people, tmp_path):
    def refused(match, **options):
        with pytest.raises(probity.OptionError, match=match):
            probity.audit(decide, people, **{**OPTIONS, **options})

    for engine in ("slurm", 5, engines.HyperQueue):
        refused("must be one of ray, hyperqueue", engine=engine)
    for shards in (0, -1, 2.5, "4", True):
        refused("shards is", engine=engines.HyperQueue(tmp_path), shards=shards)
    for wrong in (dict(threads=0), dict(retries=-1), dict(workers=0), dict(threads=1.5)):
        with pytest.raises(probity.OptionError, match=next(iter(wrong))):
            engines.HyperQueue(tmp_path, **wrong)
    for threads in (0, -1, 1.5, "2", True, 100_000):
        refused("threads is", threads=threads)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for out in (tmp_path / "full", tmp_path / "full" / "file"):
        refused("is not empty", engine=engines.HyperQueue(tmp_path), out=out)
    refused("path on this machine", engine=engines.HyperQueue(tmp_path), out="memory://m/out")
    refused("shards has no meaning", shards=3)
    refused("out, which is not given", engine=engines.HyperQueue(tmp_path), resume=True)
    refused("threads is the engine's", engine=engines.HyperQueue(tmp_path), threads=3)
    with pytest.raises(probity.ProbityError, match="no server of HyperQueue answers"):
        probity.audit(decide, people, engine=engines.HyperQueue(tmp_path), **OPTIONS)


def test_what_no_shard_can_do_is_refused_once(ray_engine, people, tmp_path):
    out = tmp_path / "run"
    for wrong in (dict(strategy="aequitas-fully"), dict(seeds=0), dict(color="red"), dict(protected=["sx"])):
        with pytest.raises(probity.ProbityError) as raised:
            probity.audit(decide, people, engine=ray_engine, shards=2, out=out, **{**OPTIONS, **wrong})
        assert "shards of the stage" not in str(raised.value)
        assert not (tmp_path / "run.shards").exists()
    with pytest.raises(probity.OptionError, match="largest node"):
        probity.audit(decide, people, engine=engines.Ray(threads=64), **OPTIONS)


def test_a_resume_with_other_arguments_spoils_nothing(engine, people, whole, tmp_path):
    model, out = Fails(people, tmp_path / "raised", "raise"), tmp_path / "run"
    asked = dict(engine=engine, out=out, **OPTIONS)
    with pytest.raises(probity.ModelError, match="1 of 4"):
        probity.audit(model, people, shards=4, **asked)
    with pytest.raises(probity.ProbityError, match="seeds is 61, but 60"):
        probity.audit(model, people, resume=True, **{**asked, "seeds": 61})
    with pytest.raises(probity.OptionError, match="cut into 4"):
        probity.audit(model, people, resume=True, shards=6, **asked)
    # The number of shards is that of those that are there.
    expect_same(whole, probity.audit(model, people, resume=True, **asked))
    with pytest.raises(probity.OptionError, match="complete.*nothing to resume"):
        probity.audit(model, people, resume=True, **asked)


class Buffered:
    """Writes its answers into an array of its own."""

    def __init__(self):
        self.answers = np.zeros(100_000)

    def __call__(self, frame):
        self.answers[: len(frame)] = decide(frame)
        return self.answers[: len(frame)].copy()


def test_what_is_bound_to_this_process_is_sent_as_it_can_be(ray_engine, people, whole, tmp_path, monkeypatch):
    import duckdb

    options = dict(engine=ray_engine, shards=2, **OPTIONS)
    expect_same(whole, probity.audit(Buffered(), people, **options))
    relation = duckdb.sql("select * from people")
    assert probity.audit(decide, relation, **options).share == whole.share
    # Files are meant from where the call is made.
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    schema = probity.infer_schema(people, "hired", protected=["sex"])
    Path("people.toml").write_text(schema, encoding="utf-8")
    expect_same(whole, probity.audit(decide, people, schema="people.toml", **options))
    import threading

    locked = Buffered()
    locked.lock = threading.Lock()
    with pytest.raises(probity.ProbityError, match="cannot be sent to another process"):
        probity.audit(locked, people, **options)


def test_two_audits_at_once(engine, people, whole, tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    def audit(number):
        out = tmp_path / f"run-{number}"
        return probity.audit(decide, people, engine=engine, shards=2, out=out, **OPTIONS)

    with ThreadPoolExecutor(2) as pool:
        for run in pool.map(audit, range(2)):
            expect_same(whole, run)


def test_models_from_urls_are_fetched_again(people, tmp_path):
    probity.train(people, "hired", ["sex"], epochs=2, out=tmp_path / "model", progress=False)
    people.to_csv(tmp_path / "people.csv", index=False)
    model, data = f"file://{tmp_path}/model", f"file://{tmp_path}/people.csv"
    audit = probity.audit(model, data, protected=["sex"], seeds=20, local=5, estimate=200, progress=False)
    assert audit.verify()["rejected"] == 0
    assert audit.verify(model)["rejected"] == 0


def test_threads_change_nothing(people, whole):
    expect_same(whole, probity.audit(decide, people, threads=1, **OPTIONS))
