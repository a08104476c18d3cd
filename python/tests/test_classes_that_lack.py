"""Data that lack classes of the model."""

import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import probity
from people import QUICK, people


def fitted(data):
    """A model of the age and the sex of people, fitted to the labels in `data`."""
    columns = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    return make_pipeline(columns, LogisticRegression()).fit(data[["age", "sex"]], data.loan)


def loans(rows: int = 400) -> pd.DataFrame:
    return people(rows)[["age", "sex", "loan"]]


def classes_of(run):
    return probity.schema_of(run.specification["predictor"]["schema"])["label"]["classes"]


def test_a_month_of_one_class_is_audited():
    data = loans()
    model, month = fitted(data), data[data.loan == "granted"]
    assert classes_of(probity.groups(model, month, ["sex"], "loan")) == ["refused", "granted"]
    assert probity.audit(model, month, ["sex"], "loan", **QUICK).share.value > 0
    ask = model.predict_proba
    named = probity.groups(ask, month, ["sex"], "loan", classes=model.classes_)
    assert classes_of(named) == ["refused", "granted"]
    listed = data.astype({"loan": "category"})[data.loan == "granted"]
    assert classes_of(probity.groups(ask, listed, ["sex"], "loan")) == ["refused", "granted"]
    with pytest.raises(probity.OptionError, match="holds one class alone, 'granted'; name those"):
        probity.groups(ask, month, ["sex"], "loan")
    with pytest.raises(probity.OptionError, match="are granted, refused, but the label 'loan' holds 'x'"):
        probity.groups(model, month.assign(loan="x"), ["sex"], "loan")


def test_labels_that_are_missing_stay_so():
    data = loans()
    model = fitted(data)
    data["loan"] = data.loan.where(data.loan == "granted", None)
    assert probity.groups(model, data, ["sex"], "loan").summary["rows"] == len(data)


def test_of_floats_the_favourable_class_is_found():
    data = loans()
    data["loan"] = (data.loan == "granted").astype(float)
    model = fitted(data)
    groups = probity.groups(model, data[data.loan == 1], ["sex"], "loan", favourable=0)
    assert classes_of(groups) == ["1", "0"]


def test_one_of_three_classes_may_lack():
    data = loans()
    data["loan"] = pd.cut(data.age, 3, labels=["low", "mid", "high"]).astype(str)
    model = fitted(data)
    asked = dict(protected=["sex"], label="loan")
    groups = probity.groups(model, data[data.loan != "mid"], **asked)
    assert sorted(classes_of(groups)) == ["high", "low", "mid"]
    probity.groups(model.predict_proba, data[data.loan != "mid"], classes=model.classes_, **asked)
