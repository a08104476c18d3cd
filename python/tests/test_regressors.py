"""Audits of models of Python that give numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import probity

GAP = 300.0


def payroll(rows=400):
    draw = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": draw.integers(18, 65, rows),
            "sex": draw.choice(["f", "m"], rows),
            "grade": draw.integers(0, 8, rows),
        }
    )
    more = np.where((frame.sex == "m") & (frame.grade > 3), 700, 0)
    frame["wage"] = 900 + 12.5 * frame.age + 250 * frame.grade + more + draw.normal(0, 40, rows)
    return frame


FRAME = payroll()
INPUTS = FRAME.drop(columns="wage")


def fitted(last):
    words = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    return make_pipeline(words, last).fit(INPUTS, FRAME.wage)


def moved(predict):
    """How far the number of each row moves with the sex, by the definition."""
    return np.abs(predict(INPUTS.assign(sex="f")) - predict(INPUTS.assign(sex="m")))


def audited(model, **options):
    quick = {"seeds": 30, "local": 20, "estimate": 200}
    return probity.audit(model, FRAME, label="wage", **{"protected": ["sex"], **options}, gap=GAP, **quick)


@pytest.mark.parametrize("last", [RandomForestRegressor(20, random_state=1), LinearRegression()])
def test_a_regressor_is_asked_for_its_numbers(last):
    model = fitted(last)
    audit = audited(model)
    expected = moved(model.predict)
    people = audit.summary["population"]
    assert people["shares"][0]["discriminatory"] == int((expected > GAP).sum())
    assert people["number"] == "wage"
    assert people["changes"]["largest"] == pytest.approx(expected.max(), rel=1e-5)
    pairs = audit.pairs().to_pandas()
    if isinstance(last, LinearRegression):
        # The same for everybody: a little more than half of 700, or nobody's.
        assert len(pairs) == 0 or (expected > GAP).all()
        return
    assert len(pairs) > 20
    gaps = (pairs.number_x - pairs.number_other).abs()
    assert (gaps > GAP).all()


def test_a_function_gives_numbers_where_it_is_said():
    def grades(frame):
        return np.where(frame.sex == "m", 500.0, 100.0) * (frame.grade.to_numpy() > 3)

    schema = probity.infer_schema(FRAME, "wage", protected=["sex"], number=True)
    audit = audited(grades, schema=schema, gives="numbers")
    assert audit.summary["population"]["shares"][0]["discriminatory"] == int((FRAME.grade > 3).sum())
    with pytest.raises(probity.OptionError, match="classes"):
        audited(grades, schema=schema)
    with pytest.raises(probity.ModelError, match="a number for each"):
        audited(lambda frame: np.ones((len(frame), 2)), schema=schema, gives="numbers")


def test_what_is_missing_is_said():
    model = fitted(LinearRegression())
    with pytest.raises(probity.ProbityError, match="gap"):
        probity.audit(model, FRAME, label="wage", protected=["sex"])
    with pytest.raises(probity.OptionError, match="give label"):
        probity.audit(model, INPUTS, protected=["sex"], gap=GAP)


def test_low_numbers_may_be_the_favourable_ones():
    model = fitted(LinearRegression())
    schema = probity.infer_schema(FRAME, "wage", protected=["sex"], number=True)
    for options in ({}, {"schema": schema, "protected": ()}):
        low = audited(model, **options, favourable="lower")
        assert low.summary["population"]["favourable"] == "lower"
        assert low.disadvantaged == audited(model, **options, population={"favourable": "lower"}).disadvantaged
        assert low.disadvantaged != audited(model, **options, favourable="higher").disadvantaged
    with pytest.raises(probity.OptionError, match="'nonsense', but must be one of the classes lower, higher"):
        audited(model, favourable="nonsense")
