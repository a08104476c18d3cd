"""A model gets the values of its own data, and its decisions are called by their names."""

import decimal
import logging
import multiprocessing
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import probity

DRAW = np.random.default_rng(0)
ROWS = 300
AGE = DRAW.integers(18, 80, ROWS)
SEX = DRAW.choice(["f", "m"], ROWS)
QUICK = {"seeds": 20, "local": 10, "estimate": 1000, "progress": False}


def drawn(values):
    picked = DRAW.integers(0, len(values), ROWS)
    picked[: len(values)] = range(len(values))
    return [values[at] for at in picked]


COLUMNS = {
    "blanks": pd.Series(drawn([" a", "b "])),
    "numbers as words": pd.Series(drawn(["1.0", "2.0", "3.0"])),
    "leading zeros": pd.Series(drawn(["01", "02", "10"])),
    "empty words": pd.Series(drawn(["", "a", "b"])),
    "objects of truth": pd.Series(drawn([True, False]), dtype=object),
    "objects of truth and nothing": pd.Series(drawn([True, False, None]), dtype=object),
    "objects of numbers": pd.Series(drawn([1, 2, 7, None]), dtype=object),
    "objects of decimals": pd.Series(drawn([decimal.Decimal("1"), decimal.Decimal("2"), decimal.Decimal("3")]), dtype=object),
    "missing words": pd.Series(drawn(["a", "b", None]), dtype=object),
    "nullable words": pd.Series(drawn(["a", "b", None]), dtype="string"),
    "nullable truth": pd.Series(drawn([True, False, None]), dtype="boolean"),
    "nullable numbers": pd.Series(drawn([1, 2, 9, None]), dtype="Int64"),
    "truth": pd.Series(drawn([True, False])),
    "categories of truth": pd.Series(drawn([True, False, None])).astype(pd.CategoricalDtype([True, False])),
    "categories with gaps": pd.Series(drawn([1, 3])).astype("category"),
    "many categories with gaps": pd.Series(drawn([*range(1, 12), 20])).astype("category"),
    "categories of floats": pd.Series(drawn([0.5, 2.0, None])).astype("category"),
    "categories with blanks": pd.Series(drawn([" x", "y "])).astype("category"),
    "categories in order": pd.Series(drawn(["low", "mid", "high"])).astype(
        pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    ),
    "intervals": pd.cut(pd.Series(DRAW.integers(0, 100, ROWS)), [-1, 10, 50, 100]),
    "small integers": pd.Series(drawn([-3, 0, 5]), dtype="int8"),
    "halves": pd.Series(drawn([0.5, np.nan]), dtype="float32"),
    "arrow words": pd.Series(drawn([" a", "b", None]), dtype=pd.ArrowDtype(pa.string())),
}


def keys(column):
    """Values by type and value, all missing ones alike."""
    return {
        None if value is None or value is pd.NA or value != value else (type(value).__name__, value)
        for value in column.tolist()
    }


@pytest.mark.parametrize("name", COLUMNS)
def test_a_model_gets_the_values_of_its_own_data(name):
    column = COLUMNS[name]
    data = pd.DataFrame({"sex": SEX, name: column})
    known, seen = keys(column), set()

    def model(frame):
        assert frame[name].dtype == column.dtype or frame[name].isna().any(), frame[name].dtype
        got = keys(frame[name])
        assert got <= known, got - known
        seen.update(got)
        return np.where((frame.sex == "m") & (frame[name] == column.iloc[0]).fillna(False), 0.9, 0.1)

    audit = probity.audit(model, data, ["sex"], classes=["no", "yes"], **QUICK)
    assert seen == known
    # One value of so many is treated unfairly.
    assert audit.share.low - 0.03 <= 1 / len(known) <= audit.share.high + 0.03
    assert audit.verify()["rejected"] == 0


@pytest.mark.parametrize("column", [["a", " a"], ["1", "1.0"], ["", None]])
def test_values_that_are_read_as_one_are_refused(column):
    data = pd.DataFrame({"sex": SEX, "c": pd.Series(drawn([*column, "z", "y"]), dtype=object)})
    with pytest.raises(probity.ProbityError, match="read as|both as"):
        probity.audit(lambda frame: np.zeros(len(frame)), data, ["sex"], classes=["n", "y"])


def test_polars_and_arrow_keep_their_values():
    words = drawn([" a", "b "])
    plain = {"sex": SEX.tolist(), "c": words, "t": drawn([True, False, None])}

    def model(frame):
        assert set(np.asarray(frame["c"])) <= {" a", "b "}
        return np.where((np.asarray(frame["sex"]) == "m") & (np.asarray(frame["c"]) == " a"), 0.9, 0.1)

    for data in (pl.DataFrame(plain), pa.table(plain), pl.DataFrame(plain).cast({"c": pl.Enum([" a", "b "])})):
        audit = probity.audit(model, data, ["sex"], classes=["n", "y"], **QUICK)
        assert abs(audit.share.value - 0.5) < 0.05


def test_a_pipeline_of_categories_that_are_numbers():
    data = pd.DataFrame({"race": pd.Categorical(drawn([1, 2, 3])), "age": AGE})
    y = np.where(data.race.astype(int) + DRAW.normal(0, 0.5, ROWS) > 2, "yes", "no")
    columns = make_column_transformer((OneHotEncoder(), ["race"]), ("passthrough", ["age"]))
    model = make_pipeline(columns, LogisticRegression(max_iter=500)).fit(data, y)
    audit = probity.audit(model, data.assign(y=y), ["race"], "y", **QUICK)
    assert audit.share.value > 0.5 and audit.verify()["rejected"] == 0
    other = make_pipeline(clone(columns), LogisticRegression(max_iter=500)).fit(data, y[::-1])
    with pytest.raises(probity.ProbityError, match="not the one"):
        audit.verify(other, data.assign(y=y))


def test_indices_and_names_of_any_kind():
    data = pd.DataFrame({0: AGE, 1: SEX, "y": drawn(["no", "yes"])}, index=pd.Index(range(ROWS), name="ward"))

    def model(frame):
        assert list(frame.columns) == [0, 1]
        return np.where(frame[1] == "m", 0.9, 0.1)

    assert probity.audit(model, data, [1], "y", **QUICK).share.value == 1
    assert probity.audit(model, data, "1", "y", **QUICK).share.value == 1
    with pytest.raises(probity.DataError, match="several levels"):
        probity.audit(model, pd.DataFrame({("a", "b"): AGE}), ["a"], "y")
    with pytest.raises(probity.DataError, match="two columns have the name 'a'"):
        probity.audit(model, pd.DataFrame([[1, 2]], columns=["a", "a"]), ["a"], "y")


def test_what_cannot_be_read_is_named_and_may_be_ignored():
    data = pd.DataFrame({"sex": SEX, "age": AGE, "z": [1j] * ROWS, "when": pd.Timestamp("2020-01-01", tz="UTC")})
    model = lambda frame: np.where(frame.sex == "m", 0.9, 0.1)  # noqa: E731
    with pytest.raises(probity.DataError, match="the column 'z' cannot be read"):
        probity.audit(model, data, ["sex"], classes=["n", "y"], **QUICK)
    audit = probity.audit(model, data, ["sex"], classes=["n", "y"], ignore=["z", "when"], **QUICK)
    assert audit.share.value == 1


def test_functions_get_constant_columns_too(caplog):
    data = pd.DataFrame({"sex": SEX, "age": AGE, "country": "NL", "id": [f"p{row}" for row in range(ROWS)]})

    def model(frame):
        assert list(frame.columns) == ["sex", "age", "country"] and set(frame.country) == {"NL"}
        return np.where(frame.sex == "m", 0.9, 0.1)

    probity.audit(model, data, ["sex"], classes=["n", "y"], **QUICK)
    assert "not asked with the column 'id'" in caplog.text


def unfair(audit, better):
    """Whether every pair says that men get the class `better`."""
    rows = audit.pairs().to_pandas()
    men = np.where(rows.x_sex == "m", rows.label_x, rows.label_other)
    return len(rows) > 0 and set(men) == {better}


def test_classes_are_called_by_their_names(caplog):
    data = pd.DataFrame({"sex": SEX, "age": AGE})
    favour = lambda frame: np.where(frame.sex == "m", 0.9, 0.1)  # noqa: E731
    # Words are sorted as words: '10' before '9'.
    words = data.assign(y=drawn(["9", "10"]))
    assert unfair(probity.audit(favour, words, ["sex"], "y", **QUICK), "9")
    numbers = data.assign(y=drawn([9, 10]))
    assert unfair(probity.audit(favour, numbers, ["sex"], "y", **QUICK), "10")
    # Columns of an answer have names.
    named = lambda frame: pd.DataFrame({"yes": favour(frame), "no": 1 - favour(frame)})  # noqa: E731
    assert unfair(probity.audit(named, data, ["sex"], classes=["no", "yes"], **QUICK), "yes")
    # A model's own order stands.
    y = np.where(SEX == "m", "yes", "no")
    columns = make_column_transformer((OneHotEncoder(), ["sex"]), ("passthrough", ["age"]))
    model = make_pipeline(columns, LogisticRegression(max_iter=500)).fit(data, y)
    with pytest.raises(probity.OptionError, match="in another order: no, yes"):
        probity.audit(model, data.assign(y=y), ["sex"], "y", classes=["yes", "no"])
    assert unfair(probity.audit(model, data.assign(y=y), ["sex"], "y", **QUICK), "yes")


@pytest.mark.parametrize(
    "last",
    [
        SVC(decision_function_shape="ovo"),
        SVC(kernel="linear"),
        FixedThresholdClassifier(LogisticRegression(), threshold=0.8, response_method="predict_proba"),
    ],
)
def test_decisions_are_those_of_predict(last, caplog):
    X = pd.DataFrame({"a": DRAW.integers(0, 30, ROWS), "b": DRAW.integers(0, 30, ROWS), "m": SEX == "m"})
    score = X.a + X.b + 8 * X.m
    y = np.where(score > 34, "yes", "no")
    if isinstance(last, SVC) and last.decision_function_shape == "ovo":
        y = np.where(score > 44, "most", y)
    model = make_pipeline(StandardScaler(), last).fit(X.astype(float), y)
    audit = probity.audit(model, X.astype(float).assign(y=y), ["m"], "y", **QUICK)
    pairs = audit.pairs().to_pandas()
    assert len(pairs) > 0
    for side in ("x", "other"):
        frame = pd.DataFrame({name: pd.to_numeric(pairs[f"{side}_{name}"]).astype(float) for name in X})
        assert (model.predict(frame) == pairs[f"label_{side}"]).all()


def test_what_was_said_of_the_model_is_kept():
    data = pd.DataFrame({"sex": SEX, "age": AGE})
    logit = lambda frame: frame.age / 20 + (frame.sex == "m") - 3  # noqa: E731
    options = {"classes": ["refused", "granted"], "gives": "logits"}
    audit = probity.audit(logit, data, ["sex"], out="run", **options, **QUICK)
    assert audit.verify()["rejected"] == 0
    assert probity.Audit.load("run").verify(logit, data)["rejected"] == 0
    assert unfair(audit, "granted")
    assert audit.passed is None
    assert probity.audit(logit, data, ["sex"], fail_above=0.9, **options, **QUICK).passed is True
    assert probity.audit(logit, data, ["sex"], fail_above=0.01, **options, **QUICK).passed is False


def test_a_model_is_asked_by_one_thread_at_a_time():
    data = pd.DataFrame({"sex": SEX, "age": AGE})
    inside = []

    def model(frame):
        inside.append(1)
        assert len(inside) == 1
        answer = np.where(frame.sex == "m", 0.9, np.asarray(frame.age) / 100)
        inside.pop()
        return answer

    audit = probity.audit(model, data, ["sex"], classes=["n", "y"], seeds=300, local=20, progress=False)
    assert audit.verify()["rejected"] == 0


def test_a_fair_model_is_said_to_decide_alike(caplog):
    data = pd.DataFrame({"sex": SEX, "age": AGE})
    with caplog.at_level(logging.WARNING, logger="probity"):
        audit = probity.audit(lambda frame: np.full(len(frame), 0.5), data, ["sex"], classes=["n", "y"], **QUICK)
    assert audit.share.value == 0 and audit.pairs().num_rows == 0
    assert "decides everything alike" in caplog.text


def test_exits_are_exits():
    data = pd.DataFrame({"sex": SEX, "age": AGE})
    asked = 0

    # By rows: into how many calls they are cut depends on the threads of the machine.
    def model(frame):
        nonlocal asked
        asked += len(frame) if Path("run/run.toml").exists() else 0
        if asked > 100:
            raise SystemExit(3)
        return np.where(frame.sex == "m", 0.9, 0.1)

    with pytest.raises(SystemExit):
        probity.audit(model, data, ["sex"], classes=["n", "y"], out="run", **QUICK)


def _fits(queue):
    try:
        probity.KMeans(2).fit(np.arange(20.0).reshape(-1, 1))
        queue.put("fitted")
    except probity.ProbityError as error:
        queue.put(str(error))


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_processes_refuse_rather_than_hang():
    probity.KMeans(2).fit(np.arange(20.0).reshape(-1, 1))
    for way, said in (("fork", "was forked"), ("spawn", "fitted")):
        context = multiprocessing.get_context(way)
        queue = context.Queue()
        process = context.Process(target=_fits, args=(queue,))
        process.start()
        assert said in queue.get(timeout=600), f"a process that was made by {way} says nothing"
        process.join(600)
        assert process.exitcode == 0, f"a process that was made by {way} does not end"


def test_ids_of_every_kind():
    X = np.array([[0.0, 0], [10, 10], [1, 1], [9, 9], [5, 5]])
    for ids in (np.array([9, 7, 5, 3, 1], dtype=np.uint64), ["a", "b", "c", "d", "e"], [0.5, 1, 2, 3, 4]):
        with pytest.raises(probity.OptionError, match="row_ids"):
            probity.KMeans(2, bounds=(0, 10)).fit(X, row_ids=ids)
    model = probity.KMeans(2, bounds=(0, 10)).fit(X, row_ids=np.array([1, 3, 5, 7, 9], dtype=np.uint64))
    assert model.delete({1, 3}).row_ids_.tolist() == [5, 7, 9]
    assert model.delete([]).row_ids_.tolist() == [5, 7, 9]
