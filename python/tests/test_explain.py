"""One decision explained, against all that could be asked."""

import numpy as np
import pandas as pd
import pytest
from people import people

import probity

FRAME = people(400)[["age", "sex", "member", "job"]]
SEXES = ["female", "male"]


def rule(frame):
    """Skill by age and membership; of the young without it, men alone are granted a loan."""
    score = frame["age"] / 20 + (frame["sex"] == "male") + 2 * frame["member"].astype(bool)
    return 1 / (1 + np.exp(4.2 - score))


def decided(rows):
    frame = pd.DataFrame(rows, columns=FRAME.columns)
    return ["granted" if part > 0.5 else "refused" for part in rule(frame)]


def with_sexes(row):
    return [{**row, "sex": sex} for sex in SEXES]


def test_the_smallest_change_of_a_function_is_that_of_all_changes():
    asked = dict(protected=["sex"], classes=["refused", "granted"], favourable="granted")
    flipping = [
        number for number, row in enumerate(FRAME.to_dict("records"), 1)
        if len(set(decided(with_sexes(row)))) == 2
    ]
    assert len(flipping) > 10
    for number in [*flipping[:5], next(n for n in range(1, 400) if n not in flipping)]:
        row = FRAME.iloc[number - 1].to_dict()
        said = probity.explain(rule, FRAME, number, alternatives=1, **asked)
        assert said["row"] == number and said["class"] == decided([row])[0]
        assert said["classes"] == ["refused", "granted"]
        by_sex = {one["values"][0]["value"]: one["class"] for one in said["variants"]}
        assert by_sex == dict(zip(SEXES, decided(with_sexes(row))))
        assert said["flips"] == (1 if number in flipping else 0)
        if number not in flipping:
            assert "undoing" not in said
            continue
        flip = next(one for one in said["variants"] if one["flips"])
        gains = flip["class"] == "granted"
        assert flip["direction"] == ("to_favourable" if gains else "from_favourable")
        # Another age, a membership or another job: the nearest that undoes it, by all of them.
        ages = sorted(FRAME.age.unique())
        changes = [("age", age, abs(age - row["age"]) / (ages[-1] - ages[0])) for age in ages]
        changes += [("member", not row["member"], 1.0)]
        changes += [("job", job, 1.0) for job in FRAME.job.unique() if job != row["job"]]
        undoes = [
            distance for name, value, distance in changes
            if distance and len(set(decided(with_sexes({**row, name: value})))) == 1
        ]
        smallest = said["undoing"]["changes"][0]
        assert len(smallest["changes"]) == 1 and said["undoing"]["proven"]
        assert smallest["distance"] == pytest.approx(min(undoes))


def test_all_kinds_of_models_are_explained(tmp_path):
    needed = pytest.importorskip("sklearn.linear_model")
    frame = people(600)[["age", "sex", "loan"]]
    directory = probity.train(frame, "loan", ["sex"], hidden=[8], epochs=5)
    by_directory = probity.explain(directory, frame, 3, threads=1)
    assert by_directory["protected"] == ["sex"] and len(by_directory["variants"]) == 2
    again = probity.explain(directory.directory, frame, np.int64(3))
    assert again == by_directory
    inputs = frame.assign(sex=(frame.sex == "male").astype(int))
    fitted = needed.LogisticRegression().fit(inputs[["age", "sex"]], inputs.loan)
    said = probity.explain(fitted, inputs, 3, ["sex"], "loan", gap=0.01, favourable="granted")
    expected = dict(zip(fitted.classes_, fitted.predict_proba(inputs[["age", "sex"]].iloc[2:3])[0]))
    for name, probability in zip(said["classes"], said["probabilities"]):
        assert probability == pytest.approx(expected[name], abs=1e-6)


def test_texts_are_explained():
    def rude(texts):
        return [0.9 if "women" in text.lower() else 0.1 for text in texts]

    texts = ["The women of the old town said that this book is good.", "A book."]
    asked = dict(protected=["gender"], classes=["fine", "rude"], min_fluency=0, alternatives=1)
    said = probity.explain(rude, texts, 1, **asked)
    assert said["modality"] == "text" and said["class"] == "rude" and said["flips"] >= 1
    for variant in said["variants"]:
        (shown,) = variant["values"]
        assert variant["class"] == ("rude" if "women" in shown["value"].lower() else "fine")
    with pytest.raises(probity.ProbityError):
        probity.explain(rude, texts, 2, **asked)


def test_what_is_wrong_is_refused():
    asked = dict(protected=["sex"], classes=["refused", "granted"])
    with pytest.raises(probity.ProbityError, match="row"):
        probity.explain(rule, FRAME, 401, **asked)
    for row, more in [(0, {}), (-1, {}), ("one", {}), (1, {"out": "run"}), (1, {"resume": True})]:
        with pytest.raises(probity.OptionError):
            probity.explain(rule, FRAME, row, **asked, **more)
    with pytest.raises(probity.OptionError, match="fixed"):
        probity.explain(rule, FRAME, 1, **asked, fixed=["sex"])
    with pytest.raises(probity.OptionError, match="classes has no meaning"):
        probity.explain("somewhere", FRAME, 1, **asked)

    def fails(frame):
        raise ConnectionError("the model server is gone")

    with pytest.raises(probity.ModelError) as caught:
        probity.explain(fails, FRAME, 1, **asked)
    assert "gone" in str(caught.value)
    names = [option["name"] for option in probity.options("explain")]
    assert {"row", "fixed", "alternatives", "max_calls"} <= set(names)
    # Nothing is left behind under a name.
    for number in (1, 2):
        assert probity.explain(rule, FRAME, number, **asked)["row"] == number
