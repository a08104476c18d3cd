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
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import probity
from people import people

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
    assert audit.uniform.low - 0.03 <= 1 / len(known) <= audit.uniform.high + 0.03
    assert audit.verify()["rejected"] == 0


@pytest.mark.parametrize("column", [["a", " a"], ["1", "1.0"]])
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
        assert abs(audit.uniform.value - 0.5) < 0.05


def test_a_pipeline_of_categories_that_are_numbers():
    data = pd.DataFrame({"race": pd.Categorical(drawn([1, 2, 3])), "age": AGE})
    y = np.where(data.race.astype(int) + DRAW.normal(0, 0.5, ROWS) > 2, "yes", "no")
    columns = make_column_transformer((OneHotEncoder(), ["race"]), ("passthrough", ["age"]))
    model = make_pipeline(columns, LogisticRegression(max_iter=500)).fit(data, y)
    audit = probity.audit(model, data.assign(y=y), ["race"], "y", **QUICK)
    assert audit.uniform.value > 0.5 and audit.verify()["rejected"] == 0
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


def test_words_that_look_like_marks_are_levels_where_nothing_is_null(caplog):
    frame = pd.DataFrame({"race": ["W", "NA", "B", "W"] * 20, "age": [20, 30, 40, 50] * 20, "hired": ["yes", "no", None, "yes"] * 20})
    levels = lambda text: {part["name"]: part for part in probity.schema_of(text)["attribute"]}["race"]  # noqa: E731
    with caplog.at_level(logging.INFO, logger="probity"):
        text = probity.infer_schema(frame, "hired", protected=["race"])
    assert levels(text)["levels"] == ["W", "B", "NA"] and "missing" not in levels(text)
    assert any('missing={"race": ["NA"]}' in record.message for record in caplog.records)
    assert probity.schema_of(text)["label"] == {"name": "hired", "classes": ["no", "yes"], "missing": ""}
    text = probity.infer_schema(frame, "hired", missing={"race": "NA"})
    assert levels(text)["levels"] == ["W", "B"] and levels(text)["missing"] == "NA"
    frame.loc[0, "race"] = None
    text = probity.infer_schema(frame, "hired")
    assert levels(text)["missing"] == ["", "NA"]
    text = probity.infer_schema(frame, "hired", level={"race": ["NA"]})
    assert levels(text)["missing"] == "" and "NA" in levels(text)["levels"]
    frame["race"] = frame["race"].replace({"B": "w"})
    text = probity.infer_schema(frame, "hired", merge=["race"], level={"race": ["NA"]})
    assert levels(text)["merge"] == {"w": "W"}
    with pytest.raises(probity.DataError, match="no cell"):
        probity.infer_schema(frame, "hired", level={"race": ["N/A"]})


def test_people_without_an_outcome_are_audited():
    frame = pd.DataFrame({"score": np.arange(300) // 2, "sex": ["f", "m"] * 150, "granted": ["yes", "no", np.nan] * 100})
    model = lambda rows: ((rows["score"] + 60 * (rows["sex"] == "m")) > 100).astype(float) * 0.8 + 0.1  # noqa: E731
    audit = probity.audit(model, frame, ["sex"], "granted", favourable="yes", **QUICK)
    # Those of a score of 41 to 100 are decided otherwise as the other sex: 120 of 300.
    assert abs(audit.people[-1].value - 0.4) < 1e-9


class Tuned(ClassifierMixin, BaseEstimator):
    """Says yes from a probability of `cut` on."""

    classes_ = np.array(["no", "yes"])

    def __init__(self, cut=0.1):
        self.cut = cut

    def fit(self, X, y=None):
        return self

    def predict_proba(self, X):
        p = np.clip(X["risk"].to_numpy() / 100 + 0.05 * (X["sex"] == "m").to_numpy(), 0, 1)
        return np.stack([1 - p, p], axis=1)

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] >= self.cut).astype(int)]


def flips_of(model, frame):
    """Rows that predict decides otherwise of the other sex, by brute force."""
    own = model.predict(frame)
    return np.mean([model.predict(frame.assign(sex=sex)) != own for sex in "fm"], axis=0) > 0


def test_a_threshold_counts_wherever_the_rows_stand_that_show_it(caplog):
    draw = np.random.default_rng(5)
    # A file that is sorted by risk: of its first 2,200 rows predict says the most probable class.
    risk = np.concatenate([np.sort(draw.integers(0, 5, 2200)), np.sort(draw.integers(5, 25, 800))])
    frame = pd.DataFrame({"risk": risk, "age": draw.integers(18, 80, 3000), "sex": draw.choice(["f", "m"], 3000)})
    with caplog.at_level(logging.WARNING, "probity"):
        audit = probity.audit(Tuned(), frame, ["sex"], **QUICK)
    assert "otherwise than the most probable class" in caplog.text
    right = flips_of(Tuned(), frame).mean()
    assert right > 0.05
    assert audit.people[-1].value == pytest.approx(right, abs=0.01)


def test_a_threshold_counts_that_no_row_of_the_data_shows(caplog):
    # Nobody of the data is between 45 and 50 but as the other sex.
    frame = pd.DataFrame({"risk": [43, 20, 43, 80] * 30, "sex": ["f", "m", "f", "f"] * 30})
    with caplog.at_level(logging.WARNING, "probity"):
        audit = probity.audit(Tuned(0.47), frame, ["sex"], **QUICK)
    assert caplog.text.count("otherwise than the most probable class") == 1
    right = flips_of(Tuned(0.47), frame).mean()
    assert right == 0.5
    assert audit.people[-1].value == right


def test_equal_probabilities_are_decided_as_predict_does(caplog):
    # Of a tie the estimator takes the first of its classes, which is the second of the schema.
    class Tied(Tuned):
        def predict_proba(self, X):
            p = np.where(X["sex"] == "m", 0.5, 0.25 + X["risk"] / 200)
            return np.stack([1 - p, p], axis=1)

        def predict(self, X):
            return self.classes_[self.predict_proba(X).argmax(axis=1)]

    frame = pd.DataFrame({"risk": [10, 90] * 60, "sex": ["f", "f", "m", "m"] * 30})
    with caplog.at_level(logging.WARNING, "probity"):
        audit = probity.audit(Tied(), frame, ["sex"], favourable="no", **QUICK)
    assert "otherwise than" not in caplog.text
    right = flips_of(Tied(), frame).mean()
    assert right == 0.5
    assert audit.people[-1].value == right


def noise(frame, draw=np.random.default_rng(1)):
    """Draws one answer in a hundred anew."""
    p = np.where(frame.age > 50, 0.9, 0.1)
    return np.where(draw.random(len(p)) < 0.01, 1 - p, p)


@pytest.mark.parametrize(
    "function",
    [
        lambda frame: 1 / (1 + np.exp(-(frame.age - frame.age.mean()) / (frame.age.std(ddof=0) or 1))),
        lambda frame: pd.get_dummies(frame.sex, drop_first=True).reindex(columns=["m"], fill_value=0)["m"] * 0.8,
        lambda frame: np.arange(len(frame)) / (len(frame) + 1),
        noise,
    ],
    ids=["scaled by the batch", "dummies of the batch", "by the place", "seldom by chance"],
)
def test_answers_that_hang_on_more_than_the_row_are_refused(function):
    data = pd.DataFrame({"sex": np.tile(SEX, 3), "age": np.tile(AGE, 3)})
    for ask in (probity.audit, probity.groups):
        with pytest.raises(probity.ProbityError, match="function of the row"):
            ask(function, data.assign(y=np.where(data.age > 50, "yes", "no")), ["sex"], "y", classes=["no", "yes"])


def test_a_column_of_truth_gets_what_the_words_of_a_schema_mean():
    data = pd.DataFrame({"sex": SEX, "member": drawn([True, False])})
    seen = set()

    def model(frame):
        seen.update(frame.member.tolist())
        assert frame.member.dtype == bool
        return np.where((frame.sex == "m") & frame.member, 0.9, 0.1)

    schema = """name = "people"
[label]
name = "y"
classes = ["no", "yes"]
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["f", "m"]
protected = true
[[attribute]]
name = "member"
kind = "categorical"
levels = LEVELS
"""
    audit = probity.audit(model, data, schema=schema.replace("LEVELS", '["true", "false"]'), **QUICK)
    assert seen == {True, False}
    assert abs(audit.uniform.value - 0.5) < 0.06
    from probity._frames import _parse_truth

    assert [_parse_truth(word) for word in ("TRUE", "Yes", "t", "y", "1")] == [True] * 5
    assert [_parse_truth(word) for word in ("False", "NO", "f", "n", "0")] == [False] * 5
    with pytest.raises(probity.OptionError, match="'maybe'.*means neither"):
        _parse_truth("maybe")


FITTED = LogisticRegression().fit(pd.DataFrame({"age": AGE}), np.where(AGE > 50, "yes", "no"))


@pytest.mark.parametrize(
    "model, options",
    [
        (FITTED, {"label": "y"}),
        (FITTED, {"label": "y", "ignore": ["sex"]}),
        (lambda frame: FITTED.predict_proba(frame[["age"]]), {"classes": ["no", "yes"]}),
        (
            lambda frame: np.full(len(frame), 0.9 if "sex" in frame else 0.2),
            {"classes": ["no", "yes"], "ignore": ["sex", "y"]},
        ),
    ],
    ids=["fitted without", "ignored too", "a function that does not look", "a function that is not given"],
)
def test_a_model_that_does_not_take_the_attribute_says_so(model, options, caplog):
    data = pd.DataFrame({"age": AGE, "sex": SEX, "y": np.where(AGE > 45, "yes", "no")})
    with caplog.at_level(logging.WARNING, "probity"):
        audit = probity.audit(model, data, ["sex"], **options, **QUICK)
    said = "the model does not take 'sex'; nothing here can flip, which says nothing about columns that stand for it"
    assert said in caplog.text
    assert audit.not_taken == ["sex"] == audit.summary["not_taken"]
    assert audit.people[-1].value == 0
    assert said[1:] in audit._repr_html_().replace("&#x27;", "'")
    assert "does not take sex" in repr(audit)
    assert audit.verify()["rejected"] == 0
    assert "does not take 'sex'" in audit.report(format="markdown")
    bound = {"fail_above": 0.5, **options, **QUICK}
    assert probity.audit(model, data, ["sex"], **bound).passed is False
    assert probity.audit(model, data, ["sex"], blind_ok=True, **bound).passed is True


def test_an_attribute_that_moves_a_score_is_taken():
    data = pd.DataFrame({"age": AGE, "sex": SEX})
    model = lambda frame: np.where(frame.age > 50, 0.8, 0.2) + 1e-3 * (frame.sex == "m")  # noqa: E731
    audit = probity.audit(model, data, ["sex"], classes=["no", "yes"], fail_above=0.5, **QUICK)
    assert audit.not_taken == [] and audit.people[-1].value == 0 and audit.passed is True


def test_what_a_model_takes_cannot_be_ignored():
    data = pd.DataFrame({"age": AGE, "sex": SEX, "y": np.where(AGE > 45, "yes", "no")})
    with pytest.raises(probity.OptionError, match="ignore names 'age', which the model takes"):
        probity.audit(FITTED, data, ["age"], "y", ignore=["age"], **QUICK)


def test_groups_of_a_model_that_does_not_take_the_attribute():
    data = pd.DataFrame({"age": AGE, "sex": SEX, "y": np.where(AGE > 45, "yes", "no")})
    found = probity.groups(FITTED, data, ["sex"], "y", progress=False).summary
    assert found["rows"] == ROWS
    decided = FITTED.predict(data[["age"]])
    [by_sex] = found["sets"]
    rates = {group["values"][0]: group["selection_rate"]["value"] for group in by_sex["groups"]}
    for sex in ("f", "m"):
        assert rates[sex] == pytest.approx((decided[SEX == sex] == "yes").mean())
    said = probity.explain(FITTED, data, 3, ["sex"], "y")
    assert said["not_taken"] == ["sex"] and said["flips"] == 0


def test_several_marks_of_missing_values_are_asked_about_as_the_null(caplog):
    jobs = pd.Series(["a", None, "?", "b"] * 30, dtype=object)
    frame = pd.DataFrame({"job": jobs, "sex": ["f", "f", "m", "m"] * 30})

    def model(rows):
        return np.where((rows.sex == "m") & rows.job.isna(), 0.9, 0.1)

    with caplog.at_level(logging.WARNING, "probity"):
        audit = probity.audit(model, frame, ["sex"], classes=["no", "yes"], **QUICK)
    assert "'job' holds None and '?', which are one" in caplog.text
    # Those without a job flip: half of all.
    assert audit.people[-1].value == 0.5


def test_levels_that_are_merged_are_asked_about_as_the_level():
    frame = pd.DataFrame({"race": ["White", "white", "Black", "White"] * 30, "sex": ["f", "f", "m", "m"] * 30})
    schema = probity.infer_schema(frame, classes=["no", "yes"], protected=["sex"], merge=["race"])
    audit = probity.audit(lambda rows: np.where((rows.sex == "m") & (rows.race == "White"), 0.9, 0.1),
                          frame, schema=schema, **QUICK)
    # White and white are one, and flip: three of four.
    assert audit.people[-1].value == 0.75


@pytest.mark.parametrize("way", ["of the schema", "outside", "skip_bad_rows"])
def test_values_are_given_back_whatever_rows_are_left_out(way):
    data = pd.DataFrame({"age": AGE, "sex": np.where(SEX == "m", " Male", " Female"), "wage": 1.5 * AGE})
    model = lambda frame: np.where((frame.sex == " Male") & (frame.age > 50), 0.9, 0.1)  # noqa: E731
    right = (AGE > 50).mean()
    schema = probity.infer_schema(data, classes=["no", "yes"], protected=["sex"])
    left_out = data.iloc[:1].assign(age=200 if way != "skip_bad_rows" else np.nan)
    more = pd.concat([left_out, data], ignore_index=True)
    options = {"outside": "skip"} if way == "outside" else {"skip_bad_rows": way == "skip_bad_rows"}
    if way == "of the schema":
        schema = schema.replace('"reject"', '"skip"')
    seen = set()

    def watched(frame):
        seen.update(frame.sex)
        assert frame.age.between(18, 80).all()
        return model(frame)

    audit = probity.audit(watched, more, schema=schema, out="run", **options, **QUICK)
    assert seen == {" Male", " Female"}
    assert audit.share.value == pytest.approx(right) and audit.share.inputs == ROWS
    assert probity.Audit.load("run").verify(watched, more)["rejected"] == 0
    said = probity.explain(watched, more, 2, schema=schema, **options)
    assert said["class"] == ("yes" if AGE[0] > 50 and SEX[0] == "m" else "no")


@pytest.mark.parametrize("kind", [int, str, object])
def test_a_value_outside_is_moved_where_this_is_said(kind):
    data = pd.DataFrame({"age": AGE, "sex": SEX}).astype({"age": kind})
    schema = probity.infer_schema(data, classes=["no", "yes"], protected=["sex"])
    more = pd.concat([data, *(data.iloc[:1].assign(age=str(age) if kind is str else age) for age in (200, 201))])
    model = lambda frame: np.where((frame.sex == "m") & (frame.age.astype(int) > 50), 0.9, 0.1)  # noqa: E731
    audit = probity.audit(model, more, schema=schema, outside="clip", **QUICK)
    assert audit.share.value == pytest.approx((more.age.astype(int) > 50).mean())


def test_values_outside_of_a_category_are_one_level_where_this_is_said(caplog):
    data = pd.DataFrame({"job": drawn(["a", "b"]), "sex": SEX})
    schema = probity.infer_schema(data, classes=["no", "yes"], protected=["sex"])
    data.loc[:1, "job"] = ["y", "z"]
    model = lambda frame: np.where((frame.sex == "m") & (frame.job != "a"), 0.9, 0.1)  # noqa: E731
    with caplog.at_level(logging.WARNING, "probity"):
        audit = probity.audit(model, data, schema=schema.replace('"reject"', '"level"'), **QUICK)
    assert "'job' holds 'y' and 'z', which are one" in caplog.text
    assert audit.share.value == (data.job != "a").mean()


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_a_missing_value_stays_what_it_is(missing):
    data = pd.DataFrame({"sex": SEX, "job": pd.Series(drawn(["a", "b", missing]), dtype=object)})
    seen = set()

    def model(frame):
        seen.update(type(value) for value in frame.job)
        return np.where((frame.sex == "m") & frame.job.isna(), 0.9, 0.1)

    audit = probity.audit(model, data, ["sex"], classes=["no", "yes"], **QUICK)
    assert seen == {str, type(missing)}
    assert audit.share.value == data.job.isna().mean()


def test_kinds_of_missing_values_that_are_one_are_told(caplog):
    data = pd.DataFrame({"sex": SEX, "job": pd.Series(drawn(["a", np.nan, None]), dtype=object)})
    with caplog.at_level(logging.WARNING, "probity"):
        probity.audit(lambda frame: np.full(len(frame), 0.3), data, ["sex"], classes=["n", "y"], **QUICK)
    assert "holds nan and None, which are one: the model is asked with nan for both" in caplog.text


@pytest.mark.parametrize("kind", ["int64", "object", "category", "words", "categories of words"])
def test_labels_that_are_numbers_are_sorted_by_value(kind):
    y = pd.Series(drawn([9, 10]))
    y = y.astype(str).astype("category" if "categories" in kind else object) if "words" in kind else y.astype(kind)
    favour = lambda frame: np.where(frame.sex == "m", 0.9, 0.1)  # noqa: E731
    audit = probity.audit(favour, pd.DataFrame({"sex": SEX, "age": AGE, "y": y}), ["sex"], "y", **QUICK)
    # The probability is that of the last class, which is '9' of words.
    assert unfair(audit, "9" if "words" in kind else "10")


@pytest.mark.parametrize("names", [["my age", "is male", "paid hours"], ["age", "is male", "hours"]])
def test_columns_with_blanks_are_known_to_lightgbm(names):
    lightgbm = pytest.importorskip("lightgbm")
    columns = [AGE, (SEX == "m").astype(int), DRAW.integers(10, 60, ROWS)]
    frame = pd.DataFrame(dict(zip(names, columns)))
    y = (frame[names[0]] / 20 + frame["is male"] + frame[names[2]] / 30 > 4.5).astype(int)
    model = lightgbm.LGBMClassifier(verbose=-1, n_estimators=20).fit(frame, y)
    flips = model.predict(frame) != model.predict(frame.assign(**{"is male": 1 - frame["is male"]}))
    assert flips.any()
    for asked in (model, model.booster_):
        # LightGBM itself takes columns by their place.
        data = frame[names[::-1]].assign(y=y)
        assert probity.audit(asked, data, ["is male"], "y", **QUICK).share.value == flips.mean()


PAY = DRAW.normal(4000, 900, ROWS).round(2)
CENTS = [decimal.Decimal(f"{pay:.2f}") for pay in PAY]
PAYS = {
    "floats as objects": pd.Series(PAY, dtype=object),
    "decimals": pd.Series(CENTS, dtype=object),
    "decimals, some missing": pd.Series([None, *CENTS[1:]], dtype=object),
    "decimals of Arrow": pd.Series(CENTS, dtype=pd.ArrowDtype(pa.decimal128(10, 2))),
    "words": pd.Series([f"{pay:.2f}" for pay in PAY]),
    "words of Europe": pd.Series([f"{pay:_.2f}".replace(".", ",").replace("_", ".") for pay in PAY]),
    "words, some of which are none": pd.Series(["unpaid", *(f"{pay:.2f}" for pay in PAY[1:])]),
    "categories": pd.Series(PAY).astype("category"),
}


@pytest.mark.parametrize(
    "library, name",
    # Categories of numbers are of pandas.
    [(a, b) for a in ("pandas", "polars", "pyarrow") for b in PAYS if a == "pandas" or b != "categories"],
)
def test_numbers_of_any_type_are_given_as_they_are(library, name):
    plain = pd.DataFrame({"sex": SEX, "pay": np.where((np.arange(ROWS) == 0) & ("some" in name), np.nan, PAY)})
    data = plain.assign(pay=PAYS[name])
    known = set(PAYS[name].dropna())
    if library != "pandas":
        data = pa.Table.from_pandas(data) if library == "pyarrow" else pl.from_pandas(data)

    def model(frame):
        pay = pd.Series(list(frame["pay"]), dtype=object)
        assert {*pay.dropna()} <= known and {*pay.dropna().map(type)} <= {*map(type, known)}
        return rule(pay, frame["sex"])

    def rule(pay, sex):
        return np.where((np.asarray(sex) == "m") & (pay.map(str) > "4"), 0.9, 0.1)

    schema = probity.infer_schema(plain, classes=["n", "y"], protected=["sex"])
    expected = probity.audit(lambda frame: rule(frame.pay, frame.sex), plain, schema=schema, **QUICK)
    if name != "categories":
        # Categories are levels, if nobody says otherwise.
        schema = probity.infer_schema(data, classes=["n", "y"], protected=["sex"])
    audit = probity.audit(model, data, schema=schema, **QUICK)
    assert audit.share == expected.share and 0.3 < audit.share.value < 0.7


@pytest.mark.parametrize(
    "values, favourable",
    [([0.0, 1.0], 1.0), ([0.0, 1.0], 1), ([0, 1], 1.0), ([False, True], True), ([" <=50K", " >50K"], " >50K")],
    ids=str,
)
def test_a_favourable_class_is_named_by_its_value(values, favourable):
    data = pd.DataFrame({"sex": SEX, "age": AGE, "y": drawn(values)})
    model = lambda frame: np.where(frame.age / 20 + (frame.sex == "m") > 3, 0.9, 0.1)  # noqa: E731
    asked = {"protected": ["sex"], "label": "y", "favourable": favourable}
    named = probity.audit(model, data, **asked, **QUICK).summary["population"]["favourable"]
    assert named in (str(values[1]).strip(), "true")
    assert probity.groups(model, data, **asked, progress=False).summary["favourable"] == named
    assert probity.situations(model, data, **asked, progress=False).summary["favourable"] == named
    assert probity.situations(data=data, **asked, progress=False).summary["favourable"] == named
    assert probity.explain(model, data, 3, **asked)["favourable"] == named


def test_sparse_columns_and_lazy_frames_are_read():
    data = pd.DataFrame({"sex": SEX, "age": pd.arrays.SparseArray(AGE)})

    def model(frame):
        assert str(frame.dtypes["age"]).startswith("Sparse")
        return np.where((frame.sex == "m") & (frame.age > 50), 0.9, 0.1)

    right = pytest.approx((AGE > 50).mean())
    assert probity.audit(model, data, ["sex"], classes=["n", "y"], **QUICK).share.value == right
    lazy = pl.LazyFrame({"sex": SEX, "age": AGE})
    rule = lambda frame: ((frame["sex"] == "m") & (frame["age"] > 50)).cast(float) * 0.8 + 0.1  # noqa: E731
    assert probity.audit(rule, lazy, ["sex"], classes=["n", "y"], **QUICK).share.value == right


def test_decisions_alone_are_enough():
    data = pd.DataFrame({"age": AGE, "sex": SEX})
    y = np.where(AGE / 20 + (SEX == "m") + DRAW.normal(0, 0.3, ROWS) > 3, "yes", "no")
    columns = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    parts = [("tree", DecisionTreeClassifier(max_depth=4)), ("line", LogisticRegression(max_iter=500))]
    model = make_pipeline(columns, VotingClassifier(parts, voting="hard")).fit(data, y)
    right = pytest.approx((model.predict(data.assign(sex="m")) != model.predict(data.assign(sex="f"))).mean())
    assert right.expected > 0.05
    named = {"protected": ["sex"], "label": "y", "favourable": "yes"}
    for asked in (model, model.predict, lambda frame: list(model.predict(frame))):
        audit = probity.audit(asked, data.assign(y=y), **named, **QUICK)
        assert audit.share.value == right
        assert audit.verify()["rejected"] == 0
    # Names of classes that are numbers are numbers: probabilities of a function, decisions of an estimator.
    model.fit(data, np.where(y == "yes", 9, 10))
    audit = probity.audit(model, data.assign(y=np.where(y == "yes", 9, 10)), ["sex"], "y", **QUICK)
    assert audit.share.value == pytest.approx(
        (model.predict(data.assign(sex="m")) != model.predict(data.assign(sex="f"))).mean()
    )
    with pytest.raises(probity.ModelError, match="the model decided 'maybe', but its classes are no, yes"):
        probity.audit(lambda frame: ["maybe"] * len(frame), data, ["sex"], classes=["no", "yes"], **QUICK)


def test_three_classes_may_be_decided_by_name():
    data = pd.DataFrame({"age": AGE, "sex": SEX})
    rule = lambda frame: np.where(frame.age < 40, "low", np.where(frame.sex == "m", "high", "mid"))  # noqa: E731
    audit = probity.audit(rule, data, ["sex"], classes=["low", "mid", "high"], **QUICK)
    assert audit.share.value == (AGE >= 40).mean()


def test_a_function_whose_classes_are_turned_round_is_warned_of(caplog):
    rows = 200
    people = pd.DataFrame({"points": np.arange(rows) % 100, "sex": np.arange(rows) % 2})
    people["loan"] = np.where(people.points > 40, "granted", "refused")

    def grants(frame):
        return (np.asarray(frame["points"], dtype=float) > 40) * 0.8 + 0.1

    quick = dict(seeds=5, local=2, estimate=100)
    # By the alphabet 'refused' is the last class.
    with caplog.at_level(logging.INFO, "probity"):
        probity.audit(grants, people, ["sex"], "loan", favourable="granted", **quick)
    told = [record for record in caplog.records if "does not name its classes" in record.message]
    assert [record.levelname for record in told] == ["WARNING"]
    assert "0 is 'granted', 1 is 'refused'" in told[0].message
    assert "give classes" in told[0].message
    caplog.clear()
    with caplog.at_level(logging.INFO, "probity"):
        probity.audit(lambda frame: 1 - grants(frame), people, ["sex"], "loan", **quick)
    told = [record for record in caplog.records if "does not name its classes" in record.message]
    assert [record.levelname for record in told] == ["INFO"]
    caplog.clear()
    # Who names the classes, or one of the two, leaves nothing open.
    with caplog.at_level(logging.INFO, "probity"):
        classes = ["refused", "granted"]
        probity.audit(grants, people, ["sex"], "loan", classes=classes, **quick)
        named = probity.groups(
            lambda frame: pd.DataFrame({"granted": grants(frame)}), people, ["sex"], "loan"
        )
    assert "does not name its classes" not in caplog.text
    rates = [group["accuracy"]["value"] for group in named.summary["sets"][0]["groups"]]
    assert rates == [1.0, 1.0]


def test_periods_are_left_out_as_dates_are(caplog):
    caplog.set_level(logging.INFO, "probity")
    data = people(60)[["age", "sex", "loan"]]
    data["month"] = pd.period_range("2020-01", periods=60, freq="M")
    for given in (data, pa.Table.from_pandas(data)):
        caplog.clear()
        assert '"month"' not in probity.infer_schema(given, "loan").replace("ignore", "")
        assert "month: left out: it holds dates" in caplog.text
    asked = []
    probity.groups(
        lambda frame: asked.append(list(frame.columns)) or np.full(len(frame), 0.5), data, ["sex"], "loan"
    )
    assert asked[0] == ["age", "sex"]


def test_settings_may_be_numbers_and_dictionaries():
    data = people(200)[["age", "sex", "loan"]]
    asked = dict(data=data, protected=["age"], label="loan", classes=["refused", "granted"])

    def kept(**options):
        run = probity.groups(lambda frame: np.full(len(frame), 0.5), **asked, **options)
        return {**run.specification["decision"], **run.specification.get("groups", {})}

    for threshold in (0.8, [0.8], "0.8", ["0.8"], np.float64(0.8), {"granted": 0.8}):
        assert kept(threshold=threshold)["threshold"] in (["0.8"], ["granted:0.8"])
    assert kept(decision={"threshold": 0.8})["threshold"] == ["0.8"]
    assert kept(threshold={"refused": 0.4})["threshold"] == ["refused:0.4"]
    for edges in ({"age": [40, 65]}, ["age=40,65"], "age=40,65", {"age": "40,65"}):
        assert kept(threshold=0.8, edges=edges)["edges"] == ["age=40,65"]
    assert kept(threshold=0.8, groups={"edges": {"age": 40.5}})["edges"] == ["age=40.5"]
