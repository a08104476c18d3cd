"""People beside those most like them, whatever the model sees, and beside a count by hand."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import probity
from probity._rust import ask_network

K = 20


def applicants(rows=400):
    """People of whom the women need more skill; their field tells the sex, and no number comes twice."""
    draw = np.random.default_rng(5)
    female = draw.random(rows) < 0.5
    frame = pd.DataFrame(
        {
            "skill": draw.normal(size=rows),
            "field": draw.normal(np.where(female, 0.0, 2.0)),
            "sex": np.where(female, "female", "male"),
            "origin": draw.choice(["north", "south"], rows),
        }
    )
    frame["loan"] = np.where(frame.skill + 1.5 * ~female > 0.8, "granted", "refused")
    return frame


FRAME = applicants()
INPUTS = FRAME[["skill", "field"]]

SCHEMA = """name = "applicants"
[label]
name = "loan"
classes = ["refused", "granted"]
[[attribute]]
name = "skill"
kind = "numeric"
bins = [-9.0, 0.0, 9.0]
[[attribute]]
name = "field"
kind = "numeric"
bins = [-9.0, 0.0, 9.0]
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["female", "male", "other"]
protected = true
[[attribute]]
name = "origin"
kind = "categorical"
levels = ["north", "south"]
protected = true
"""


@pytest.fixture(scope="module")
def model():
    """An estimator that never sees the sex."""
    linear = pytest.importorskip("sklearn.linear_model")
    return linear.LogisticRegression().fit(INPUTS, FRAME.loan)


def count_around(columns, refused, row, members):
    """How many of the `K` nearest to `row` among `members`, the person left out, are refused."""
    values = FRAME[columns].to_numpy()
    places = (values - values.mean(axis=0)) / values.std(axis=0)
    distances = np.abs(places - places[row]).mean(axis=1)
    nearest = [other for other in np.argsort(distances) if members[other] and other != row][:K]
    return int(refused[nearest].sum())


def expect_counts(run, columns, refused):
    """Holds the listed women against a count by hand; returns the summary of their group."""
    assert run.summary["compared"] == columns
    (group,) = run.summary["groups"]
    assert group["protected"] == [{"attribute": "sex", "value": "female"}]
    female = (FRAME.sex == "female").to_numpy()
    for side, members in (("members", female), ("others", ~female)):
        assert group[side]["people"] == members.sum()
        assert group[side]["unfavourable"]["count"] == (refused & members).sum()
    listed = pd.read_csv(run.directory / "persons.csv")
    assert (listed.row - 1).tolist() == np.flatnonzero(female).tolist()
    for person in listed.itertuples():
        row = person.row - 1
        assert person.decision == ("refused" if refused[row] else "granted")
        assert (person.own, person.others) == (K, K)
        assert person.own_unfavourable == count_around(columns, refused, row, female)
        assert person.others_unfavourable == count_around(columns, refused, row, ~female)
    worse = listed.own_unfavourable > listed.others_unfavourable
    assert group["against"]["cases"] == worse.sum()
    assert group["against"]["discoveries"] == (listed.against_q <= 0.05).sum()
    return group


def test_an_estimator_that_never_sees_the_attribute(model):
    asked = dict(label="loan", favourable="granted", k=K)
    refused = model.predict(INPUTS) == "refused"
    run = probity.situations(model, FRAME, ["sex=female"], **asked)
    alike = expect_counts(run, ["skill", "field"], refused)
    assert not run.summary["is_label"] and run.summary["is_favourable_given"]
    # The field stands for the sex: among people of the same skill alone the women lose more.
    run = probity.situations(model, FRAME, ["sex=female"], weights=["field=0"], **asked)
    group = expect_counts(run, ["skill"], refused)
    assert group["against"]["discoveries"] > max(20, alike["against"]["discoveries"])
    assert "nearest" in run.report(format="markdown")


def test_a_function_is_not_asked_with_what_it_does_not_take(model):
    def ask(frame):
        assert list(frame.columns) == ["skill", "field"]
        return model.predict_proba(frame)

    asked = dict(favourable="granted", k=K)
    by_model = probity.situations(model, FRAME, "sex=female", "loan", **asked).summary
    classes = list(model.classes_)
    function = dict(classes=classes, ignore=["sex", "origin"], **asked)
    by_function = probity.situations(ask, FRAME, "sex=female", "loan", **function).summary
    assert by_function["groups"] == by_model["groups"]


def test_a_model_directory_with_fewer_columns_than_the_schema():
    network = probity.train(FRAME.drop(columns=["sex", "origin"]), "loan", hidden=[8], epochs=20)
    classes = np.array(probity.schema_of(network.specification["schema"])["label"]["classes"])
    table = pa.Table.from_pandas(INPUTS, preserve_index=False)
    decided = classes[ask_network(network.directory, "asked", table).reshape(-1, 2).argmax(axis=1)]
    groups, asked = ["sex=female", "origin=south"], dict(schema=SCHEMA, k=15)
    by_model = probity.situations(network, FRAME, groups, **asked, favourable="granted").summary
    by_label = probity.situations(None, FRAME.assign(loan=decided), groups, **asked).summary
    assert by_model["groups"] == by_label["groups"] and by_model["multiple"] == by_label["multiple"]
    # Each group, and those who are in both.
    assert [len(group["protected"]) for group in by_model["groups"]] == [1, 1, 2]
    assert by_model["model_sha256"] and "model_sha256" not in by_label


def test_recorded_outcomes_need_no_model():
    refused = (FRAME.loan == "refused").to_numpy()
    asked = dict(protected=["sex=female"], label="loan", ignore=["origin"], k=K)
    run = probity.situations(data=FRAME, favourable="granted", **asked)
    group = expect_counts(run, ["skill", "field"], refused)
    assert run.summary["is_label"] and group["against"]["discoveries"] > 0
    # A file, by its own path, and a schema that somebody wrote.
    FRAME.to_csv("applicants.csv", index=False)
    of_file = probity.situations(data="applicants.csv", favourable="granted", **asked)
    assert of_file.summary["groups"] == run.summary["groups"]
    assert of_file.specification["data"].endswith("applicants.csv")
    told = probity.situations(None, FRAME, "sex=female", schema=SCHEMA, k=K).summary
    for way in ("against", "favouring"):
        assert told["groups"][0][way] == group[way]
    # Of an attribute alone each value that people have is a group.
    both = probity.situations(None, FRAME, "sex", schema=SCHEMA, k=K).summary["groups"]
    assert [of["protected"][0]["value"] for of in both] == ["female", "male"]


def test_others_are_looked_for_around_the_counterfactuals(model):
    plain = probity.situations(None, FRAME, "sex=female", schema=SCHEMA, k=K).summary["groups"][0]
    # Men of more skill, all of whom would have been granted a loan.
    swapped = FRAME.assign(sex=FRAME.sex.map({"female": "male", "male": "female"}))
    moved = swapped.assign(skill=FRAME.skill + 0.8, loan="granted")
    asked = dict(schema=SCHEMA, k=K, counterfactuals=moved)
    run = probity.situations(None, FRAME, "sex=female", **asked)
    assert run.summary["groups"][0]["others_share"] < plain["others_share"]
    assert run.summary["groups"][0]["own_share"] == plain["own_share"]
    assert run.summary["counterfactuals_sha256"] != run.summary["data_sha256"]
    with_centres = probity.situations(None, FRAME, "sex=female", centres=True, **asked).summary
    assert with_centres["groups"][0]["others_share"] == 0
    # Whoever would have been the same is compared as without.
    same = dict(label="loan", favourable="granted", k=K)
    around_self = probity.situations(model, FRAME, "sex=female", **same, counterfactuals=swapped).summary
    without = probity.situations(model, FRAME, "sex=female", **same).summary
    assert around_self["groups"] == without["groups"]
    with pytest.raises(probity.ProbityError, match="not counterfactuals of the 400 people"):
        probity.situations(None, FRAME, "sex=female", schema=SCHEMA, counterfactuals=moved.iloc[1:])


def test_what_cannot_be_compared_is_refused(model):
    of_label = dict(schema=SCHEMA, k=K)
    for groups, more, expected in (
        ("sex=nobody", {}, "a value of sex: female, male"),
        ("sex=female", {"k": 0}, "k is 0"),
        ("sex=female", {"weights": ["sex=2"]}, "not protected"),
        ("sex=female", {"label": "pay"}, "label is 'pay', but the schema has the outcomes in 'loan'"),
        ("sex=female", {"gives": "logits"}, "gives has no meaning"),
        ("sex=female", {"schema": None}, "label is needed"),
        ("sex=female", {"nothing": 1}, "nothing"),
    ):
        with pytest.raises(probity.OptionError, match=expected):
            probity.situations(None, FRAME, groups, **{**of_label, **more})
    with pytest.raises(probity.OptionError, match="data is needed"):
        probity.situations(model)
    with pytest.raises(probity.OptionError, match="a value of sex"):
        probity.situations(model, FRAME, ["sex=nobody"], "loan", k=K)
    with pytest.raises(probity.OptionError, match="label has no meaning for a model directory"):
        probity.situations("somewhere", FRAME, ["sex=female"], "loan")
    with pytest.raises(probity.DataError, match="hat"):
        probity.situations(None, FRAME, ["hat=red"], **of_label)
    # What is neither an option that is wrong nor data that cannot be read.
    women = FRAME[FRAME.sex == "female"]
    for data, groups, k, expected in (
        (FRAME, "sex=other", K, "there is nobody with sex=other"),
        (women, "sex=female", K, "everybody has sex=female"),
        (FRAME, "sex=female", 300, "too few for 300 neighbours"),
    ):
        with pytest.raises(probity.ProbityError, match=expected) as caught:
            probity.situations(None, data, groups, schema=SCHEMA, k=k)
        assert type(caught.value) is probity.ProbityError
