"""Audits of models of Python: what goes in, what comes out."""

import json
import signal
import subprocess
import sys
import threading
import time
import warnings
from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from people import QUICK, people
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import probity

FRAME = people()
INPUTS = FRAME.drop(columns="loan")


def pipeline(last):
    words = make_column_transformer(
        (StandardScaler(), ["age", "hours"]), (OneHotEncoder(), ["sex", "job", "member"])
    )
    return make_pipeline(words, last).fit(INPUTS, FRAME.loan)


def brute_force_share(decide, rows=4000):
    """The share of uniform rows whose decision changes with the sex, by the definition."""
    draw = np.random.default_rng(7)
    table = {name: draw.choice(INPUTS[name].unique(), rows) for name in ("member", "job")}
    frame = pd.DataFrame(
        {
            "age": draw.integers(INPUTS.age.min(), INPUTS.age.max(), rows, endpoint=True),
            "sex": "female",
            # Ten bins at quantiles, each with its median.
            "hours": draw.choice(
                [np.sort(part)[(len(part) - 1) // 2] for part in np.array_split(np.sort(INPUTS.hours), 10)],
                rows,
            ),
            "member": table["member"],
            "job": pd.Categorical(table["job"], categories=INPUTS.job.cat.categories),
        }
    )
    return (decide(frame) != decide(frame.assign(sex="male"))).mean()


@pytest.mark.parametrize("last", [LogisticRegression(), RidgeClassifier()])
def test_a_pipeline_is_audited_and_its_share_is_that_of_the_definition(last):
    model = pipeline(last)
    audit = probity.audit(model, FRAME, ["sex"], "loan", seeds=50, local=20, estimate=4000)
    truth = brute_force_share(model.predict)
    assert audit.uniform.low - 0.03 < truth < audit.uniform.high + 0.03
    flips = [model.predict(INPUTS.assign(sex=sex)) for sex in ("female", "male")]
    # Each row is asked about with its own numbers, whatever its bins are.
    assert 0 < float(audit.share) == pytest.approx((flips[0] != flips[1]).mean(), abs=1e-12)
    verified = audit.verify()
    pairs = audit.pairs()
    assert verified["confirmed"] == len(pairs) > 0 and verified["rejected"] == 0
    assert audit.rows_per_second > 0 and audit.model_rows_per_second > 0
    # Both sides, given to the model as they stand there, get the decisions that stand there.
    for side in ("x", "other"):
        rows = pairs.to_pandas()
        frame = pd.DataFrame({name: rows[f"{side}_{name}"] for name in INPUTS})
        frame = frame.astype({"age": int, "hours": float})
        frame["member"] = frame.member == "true"
        assert (model.predict(frame) == rows[f"label_{side}"]).all()


def test_frames_of_all_kinds_give_the_same_pairs():
    plain = FRAME.astype({"job": str}).rename_axis("person")
    seen = []

    def model(frame):
        seen.append(type(frame).__module__.partition(".")[0])
        assert list(frame.columns) == list(INPUTS.columns)
        ages, male = np.asarray(frame["age"]), np.asarray(frame["sex"] == "male").astype(float)
        return 1 / (1 + np.exp(4 - ages / 20 - male - np.asarray(frame["member"]).astype(float)))

    import duckdb

    audits = []
    for data in (
        plain,
        pl.DataFrame(plain),
        pl.DataFrame(plain).lazy().collect(),
        pa.table(pl.DataFrame(plain)),
        duckdb.sql("select * from plain"),
    ):
        audits.append(probity.audit(model, data, ["sex"], "loan", **QUICK))
    first = audits[0].pairs()
    assert len(first) > 0
    for audit in audits[1:]:
        assert audit.pairs().equals(first)
        assert audit.shares == audits[0].shares
    assert {"pandas", "polars"} == set(seen)
    plain.to_csv("people.csv", index=False)
    assert probity.audit(model, "people.csv", ["sex"], "loan", **QUICK).pairs().equals(first)


def test_types_are_those_that_the_model_knows():
    data = pd.DataFrame(
        {
            "grade": pd.Categorical([3, 1, 2, 3, 1, 2] * 20, categories=[3, 2, 1]),
            "old": [True, False, False, True, True, False] * 20,
            "kids": pd.array([0, 1, None, 2, 4, 3] * 20, dtype="Int64"),
            "wage": np.linspace(0, 1, 120).astype("float32"),
            "name": ["a", None, "b", "c", "b", "a"] * 20,
        }
    )

    def model(frame):
        pd.testing.assert_series_equal(frame.dtypes, data.dtypes)
        return np.where(frame.old, 0.9, 0.1)

    audit = probity.audit(model, data, ["old"], classes=["no", "yes"], **QUICK)
    assert audit.share.value == 1.0


def test_a_model_of_arrays_gets_arrays():
    X = FRAME[["age", "hours"]].assign(male=FRAME.sex == "male").astype(float).round()
    model = LogisticRegression(max_iter=1000).fit(X.to_numpy(), FRAME.loan)
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always", UserWarning)
        audit = probity.audit(model, X.assign(loan=FRAME.loan), ["male"], "loan", **QUICK)
    assert not record and audit.verify()["rejected"] == 0


def test_levels_of_any_script_stand_in_the_schema():
    data = FRAME.assign(job=FRAME.job.cat.rename_categories(lambda name: f"{name} 𝄞😀\x7f"))
    inputs = data.drop(columns="loan")
    words = make_column_transformer((OneHotEncoder(), ["sex", "job", "member"]))
    model = make_pipeline(words, LogisticRegression()).fit(inputs, data.loan)
    audit = probity.audit(model, data, ["sex"], "loan", **QUICK)
    assert audit.verify()["rejected"] == 0


def test_boosters():
    lightgbm = pytest.importorskip("lightgbm")
    xgboost = pytest.importorskip("xgboost")
    words = INPUTS.astype({"sex": "category"})
    good = (FRAME.loan == "granted").astype(int)
    data = words.assign(good=good)
    forest = xgboost.XGBClassifier(n_estimators=10, enable_categorical=True).fit(words, good)
    for model in (
        forest,
        forest.get_booster(),
        lightgbm.LGBMClassifier(n_estimators=10, verbose=-1).fit(words, good),
    ):
        audit = probity.audit(model, data, ["sex"], "good", **QUICK)
        assert audit.verify()["rejected"] == 0 and len(audit.pairs()) > 0


def test_catboost():
    catboost = pytest.importorskip("catboost")
    words = INPUTS.astype({"job": str})
    model = catboost.CatBoostClassifier(iterations=10, verbose=0, cat_features=["sex", "job"])
    model.fit(words, FRAME.loan)
    audit = probity.audit(model, words.assign(loan=FRAME.loan), ["sex"], "loan", **QUICK)
    assert audit.verify()["rejected"] == 0 and len(audit.pairs()) > 0


def test_columns_that_the_model_does_not_take_are_left_out_and_constant_ones_filled_in():
    data = FRAME.assign(id=[f"p{row}" for row in range(len(FRAME))], country="NL")
    takes = ["age", "sex", "country"]

    class Model:
        feature_names_in_ = np.array(takes)
        classes_ = np.array(["granted", "refused"])

        def predict_proba(self, frame):
            assert list(frame.columns) == takes and set(frame.country) == {"NL"}
            refused = np.where(frame.sex == "male", 0.2, 0.8)
            return np.stack([1 - refused, refused], axis=1)

    audit = probity.audit(Model(), data, ["sex"], "loan", **QUICK)
    assert audit.share.value == 1.0
    pair = audit.pairs().slice(0, 1).to_pylist()[0]
    assert {pair["x_sex"]: pair["label_x"], pair["other_sex"]: pair["label_other"]} == {
        "male": "granted",
        "female": "refused",
    }


def test_errors_of_the_model_keep_their_traceback_and_the_run_goes_on():
    calls = []

    def model(frame):
        calls.append(len(frame))
        if len(calls) > limit:
            raise LookupError("the server is gone")
        return np.where(frame.sex == "male", 0.9, frame.age / 100)

    limit = 10**9
    whole = probity.audit(model, INPUTS, ["sex"], classes=["no", "yes"], **QUICK)
    count = len(calls)
    calls.clear()
    limit = count - 3
    with pytest.raises(probity.ModelError) as caught:
        probity.audit(model, INPUTS, ["sex"], classes=["no", "yes"], out="run", **QUICK)
    assert isinstance(caught.value.__cause__, LookupError)
    assert "calls.append" not in str(caught.value)
    assert caught.value.__cause__.__traceback__ is not None
    limit = 10**9
    with pytest.raises(probity.OptionError, match="seeds cannot be given where a run goes on"):
        probity.audit(model, INPUTS, ["sex"], out="run", resume=True, seeds=21)
    resumed = probity.audit(model, INPUTS, ["sex"], out="run", resume=True, seeds=20)
    assert resumed.pairs().equals(whole.pairs()) and resumed.shares == whole.shares
    with pytest.raises(probity.ProbityError, match="complete"):
        probity.audit(model, INPUTS, ["sex"], out="run", resume=True)


def test_a_run_goes_on_with_the_same_model_and_rows_alone():
    asked = 0

    # By rows: into how many calls they are cut depends on the threads of the machine.
    def stops(frame):
        nonlocal asked
        asked += len(frame) if Path("run/run.toml").exists() else 0
        if asked > 100:
            raise RuntimeError
        return np.where(frame.sex == "male", 0.9, 0.1)

    with pytest.raises(probity.ModelError):
        probity.audit(stops, INPUTS, ["sex"], classes=["no", "yes"], out="run", **QUICK)
    other = lambda frame: np.where(frame.sex == "male", 0.1, 0.9)  # noqa: E731
    with pytest.raises(probity.ProbityError, match="changed since"):
        probity.audit(other, INPUTS, ["sex"], out="run", resume=True)
    same = lambda frame: np.where(frame.sex == "male", 0.9, 0.1)  # noqa: E731
    with pytest.raises(probity.ProbityError, match="changed since"):
        probity.audit(same, INPUTS.iloc[:-1], ["sex"], out="run", resume=True)
    probity.audit(same, INPUTS, ["sex"], out="run", resume=True)


@pytest.mark.parametrize(
    "answer, said",
    [
        (lambda rows: np.full(rows, np.nan), "NaN as the probability of 'yes', for the row age = "),
        (lambda rows: np.full(rows, 1.5), "1.5 as the probability"),
        (lambda rows: np.zeros((rows, 3)), r"shape \(1500, 3\)"),
        (lambda rows: np.zeros(7), r"shape \(7,\)"),
        (lambda rows: np.full((rows, 2), 0.9), "sum to 1.8"),
        (lambda rows: ["maybe"] * rows, "decided 'maybe', but its classes are no, yes"),
        (lambda rows: [{}] * rows, r"shape \(1500, 0\)"),
        (lambda rows: [{"no": None}] * rows, "NaN as the probability"),
        (lambda rows: [{"no": []}] * rows, "shape"),
        (lambda rows: {}, "gave a dict for 1500 rows, which cannot be read"),
    ],
)
def test_wrong_answers_are_said(answer, said):
    with pytest.raises(probity.ModelError, match=said):
        probity.audit(lambda frame: answer(len(frame)), INPUTS, ["sex"], classes=["no", "yes"])


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"seeds": 0}, "search.seeds is 0, but must be from 1 to"),
        ({"search": {"seeds": 0}}, "search.seeds is 0"),
        ({"search.local": -1}, "search.local"),
        ({"sedes": 3}, "no option 'sedes'"),
        ({"search": 3}, "search is 3"),
        ({"strategy": "guess"}, "strategy"),
        ({"strategy": "adf"}, "gradients"),
        ({"protected": ["gender"]}, "gender"),
        ({"schema": "nothing.toml"}, "nothing.toml"),
        ({"device": "abacus"}, "abacus"),
        ({"classes": ["a", "b"]}, "a, b"),
        ({"gives": "odds"}, "gives is 'odds'"),
    ],
)
def test_options_are_named(wrong, said):
    options = {"label": "loan", "protected": ["sex"], **wrong}
    with pytest.raises(probity.ProbityError, match=said):
        probity.audit(lambda frame: np.zeros(len(frame)), FRAME, **options)


def test_what_is_no_table_and_no_model():
    with pytest.raises(probity.DataError, match="ndarray"):
        probity.audit(lambda frame: frame, np.zeros((3, 2)), classes=["a", "b"])
    with pytest.raises(probity.OptionError, match="is a int"):
        probity.audit(3, FRAME, ["sex"], "loan")
    with pytest.raises(probity.OptionError, match="which classes"):
        probity.audit(lambda frame: frame, INPUTS, ["sex"])
    with pytest.raises(probity.OptionError, match="no column 'money'"):
        probity.audit(lambda frame: frame, FRAME, ["sex"], "money")


def test_runs_are_kept_reported_and_loaded():
    model = pipeline(LogisticRegression())
    audit = probity.audit(model, FRAME, ["sex", "age"], "loan", **QUICK)
    assert [share.protected for share in audit.shares] == [("sex",), ("age",), ("sex", "age")]
    assert [share.protected for share in audit.people] == [("sex",), ("age",), ("sex", "age")]
    found = audit.summary["population"]
    joint = found["shares"][-1]["discriminatory"]
    assert sum(way["count"] for way in found["directions"].values()) == joint
    audit.report("r.html")
    assert "<html" in open("r.html").read() and "sex" in audit.report(format="markdown")
    json.loads(audit.report(format="json"))
    assert "Discriminatory share" in audit._repr_html_() and "sex + age" in repr(audit)
    audit.save("kept")
    with pytest.raises(probity.OptionError, match="not empty"):
        audit.save("kept")
    pairs, summary = audit.pairs(), audit.summary
    del audit
    loaded = probity.Audit.load("kept")
    assert loaded.pairs().equals(pairs) and loaded.summary == summary
    with pytest.raises(probity.OptionError, match="give it"):
        loaded.verify()
    assert loaded.verify(model, FRAME)["rejected"] == 0
    inverse = lambda frame: 1 - model.predict_proba(frame)[:, 1]  # noqa: E731
    with pytest.raises(probity.ProbityError, match="not the one that the run was made with"):
        loaded.verify(inverse, FRAME)


def test_the_share_is_that_of_the_rows_and_says_so():
    model = pipeline(LogisticRegression())

    def audited(**options):
        return probity.audit(model, FRAME, ["sex"], "loan", **QUICK, **options)

    def sentences(audit):
        return " ".join(audit.report(format="markdown").replace("\u00a0", " ").split())

    audit = audited()
    assert audit.share == audit.people[-1] != audit.shares[-1] == audit.uniform
    assert (audit.share.of, audit.share.inputs) == ("1,500 rows of the data", 1500)
    assert (audit.uniform.of, audit.uniform.inputs) == ("1,000 random inputs", 1000)
    said = str(audit.share)
    assert f"Audit of sex: {said}, in" in repr(audit)
    assert repr(audit.share) == f"<probity.Share by sex: {said}>"
    assert said in audit._repr_html_() and str(audit.uniform) in audit._repr_html_()
    # Who is disadvantaged comes first in reports, and is said here, too.
    [who] = audit.disadvantaged
    effect = audit.summary["population"]["effects"][0]
    gain = effect["exchanges"][0]["gain"]["share"]
    assert who.startswith("By sex") and f"{100 * gain:.2f} % of the " in who
    assert who in sentences(audit) and who in repr(audit) and who in audit._repr_html_()
    percent, interval = said.split(" of 1,500 rows of the data ")
    change = "get another decision when only sex is changed"
    first = f"{percent} of the rows of the data {change} {interval}"
    assert first in sentences(audit)
    percent, interval = str(audit.uniform).split(" of 1,000 random inputs ")
    assert f"{percent} of random inputs {change} {interval}" in sentences(audit)
    # Where only some rows were asked about, it is said of how many.
    some = audited(population_rows=300)
    assert (some.share.of, some.share.inputs) == ("300 of 1,500 rows of the data", 300)
    assert "300 of 1,500 rows of the data (95 % interval" in repr(some)
    assert f"of 300 of 1,500 rows of the data {change}" in sentences(some)
    # A bound is on the very share.
    assert audited(fail_above=audit.share.high + 1e-6).passed is True
    assert audited(fail_above=audit.share.low - 1e-6).passed is False
    by_random = audited(fail_above=audit.uniform.high + 1e-6, bound="uniform")
    assert by_random.passed is True and by_random.share == audit.share


def test_a_span_of_time_is_a_number_of_seconds_a_timedelta_or_a_text():
    model = pipeline(LogisticRegression())

    def audited(**options):
        return probity.audit(model, FRAME, ["sex"], "loan", **QUICK, **options)

    for time_given, written in [
        ({"time": 20}, "20s"),
        ({"time": np.int64(20)}, "20s"),
        ({"time": 20.5}, "20s 500ms"),
        ({"time": timedelta(minutes=2, seconds=1)}, "2m 1s"),
        ({"time": timedelta(milliseconds=20_500)}, "20s 500ms"),
        ({"time": "10m"}, "10m"),
        ({"budget": {"time": 20}}, "20s"),
        ({"budget.time": 20}, "20s"),
    ]:
        assert audited(**time_given).specification["budget"]["time"] == written
    for wrong, said in [
        (0, "budget.time is 0, but must be a time above 0"),
        (-3, "budget.time is -3, but must be a time above 0"),
        (-0.5, "budget.time is -0.5, but must be a time above 0"),
        (1e9, "budget.time is 1000000000.0, but must be a time of at most 366 days"),
        (timedelta(0), "budget.time is '0s', but must be a time above 0"),
        (timedelta(seconds=-2), "budget.time is '-2s', but must be a time above 0"),
        ("soon", "budget.time is 'soon', but must be a time above 0"),
        (float("nan"), "time is nan, but must be a finite number"),
        (np.float32("inf"), "time is inf, but must be a finite number"),
        (True, "budget.time is true, but must be a text"),
    ]:
        with pytest.raises(probity.OptionError) as refused:
            audited(time=wrong)
        assert str(refused.value).startswith(said)


def test_progress_is_told_and_can_be_broken_off():
    told = []
    probity.audit(
        pipeline(LogisticRegression()),
        FRAME,
        ["sex"],
        "loan",
        progress=lambda *step: told.append(step),
        **QUICK,
    )
    assert {"global", "local", "estimate"} <= {phase for phase, *_ in told}

    def stop(*_):
        raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        probity.audit(pipeline(LogisticRegression()), FRAME, ["sex"], "loan", progress=stop, **QUICK)


def test_two_audits_at_once():
    failed = []

    def work(name):
        try:
            frame = people(seed=name)
            audit = probity.audit(
                lambda rows: np.where(rows.sex == "male", 0.9, 0.1), frame, ["sex"], "loan", **QUICK
            )
            assert audit.share.value == 1.0
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


INTERRUPTED = """
import os, sys, time
sys.path.insert(0, {tests!r})
import numpy as np
import probity
from people import people

asked = 0

def model(rows):
    global asked
    asked += os.path.exists("run/run.toml")
    if asked == 5:
        print("in the middle", flush=True)
        sys.stdin.readline()
    if asked > 5:
        # An answer takes longer than the time between two looks for signals.
        time.sleep(0.1)
        assert asked < 1000, "Ctrl-C was not noticed"
    return np.where(rows.sex == "male", 0.9, rows.age / 100)

try:
    probity.audit(model, people(), ["sex"], "loan", out="run", seeds=100, local=100_000, progress=False, threads={threads})
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.parametrize("threads", [None, 1])
def test_ctrl_c_stops_and_the_run_goes_on(threads):
    script = INTERRUPTED.format(tests=str(Path(__file__).parent), threads=threads)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", script], **pipes) as process:
        # It takes seconds; one that hangs ends, and says no more.
        watchdog = threading.Timer(600, process.kill)
        watchdog.start()
        # The model is held in the fifth of more than 100,000 calls.
        assert process.stdout.readline() == "in the middle\n", "the model was not asked five times"
        process.send_signal(signal.SIGINT)
        process.stdin.close()
        assert process.stdout.read() == "stopped\n", "Ctrl-C did not stop the run"
        watchdog.cancel()
    assert process.returncode == 0
    asked = 0

    def slow(rows):
        nonlocal asked
        asked += 1
        assert asked < 10_000, "the search goes on though its time is over"
        time.sleep(0.02)
        return np.where(rows.sex == "male", 0.9, rows.age / 100)

    # Of the 100,000 rounds that are left each takes 0.02 seconds or more.
    audit = probity.audit(slow, FRAME, out="run", resume=True, time=1)
    assert audit.summary["ending"] == "time"
    assert len(audit.pairs()) > 0
    # The time is that of the search: all rows are asked about.
    assert audit.share.of == "1,500 rows of the data" and audit.uniform.inputs == 10_000


@pytest.mark.parametrize("kind", ["uint8", "bool", "float"])
def test_an_attribute_that_is_spread_over_columns_is_one(kind):
    draw = np.random.default_rng(3)
    races = ["Asian", "Black", "White"]
    people = pd.DataFrame({"age": draw.integers(18, 80, 400), "race": draw.choice(races, 400)})
    score = people.age / 10 + 2 * (people.race == "White") + draw.normal(0, 0.5, 400)
    # The first one has no column.
    frame = pd.get_dummies(people, columns=["race"], drop_first=True, dtype=kind)
    frame = frame[["race_White", "age", "race_Black"]]

    class Model(LogisticRegression):
        def predict_proba(self, X):
            assert list(X.columns) == list(frame.columns) and X.dtypes.equals(frame.dtypes)
            assert set(X.race_White.astype(int) + X.race_Black.astype(int)) <= {0, 1}
            return super().predict_proba(X)

    model = Model().fit(frame, np.where(score > 6, "granted", "refused"))
    own = model.predict(frame)
    decided = [
        model.predict(frame.assign(race_White=race == "White", race_Black=race == "Black").astype(frame.dtypes))
        for race in races
    ]
    share = np.any([other != own for other in decided], axis=0).mean()
    assert 0 < share < 1
    data = frame.assign(loan=np.where(score > 6, "granted", "refused"))
    audit = probity.audit(model, data, ["race"], "loan", **QUICK)
    assert audit.people[-1].value == share
    assert audit.not_taken == [] and audit.verify()["rejected"] == 0
    words = {word for pair in audit.pairs().to_pylist() for word in (pair["x_race"], pair["other_race"])}
    assert words <= {"White", "Black", "(none of these)"} and len(words) > 1
