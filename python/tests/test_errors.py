"""Which exception an error is: the same in every kind of run, however deep it lies."""

import pytest
from people import QUICK, people

import probity

FRAME = people(500)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    out = tmp_path_factory.mktemp("model") / "m"
    return probity.train(FRAME, "loan", ["sex"], hidden=[4], epochs=2, out=out)


def test_options_tables_and_models_have_exceptions_of_their_own(model):
    audited = probity.audit(model, FRAME, **QUICK)
    runs = {
        "audit": probity.audit,
        "compare": probity.compare,
        "groups": probity.groups,
        "situations": probity.situations,
        "proxies": probity.proxies,
        "counterparts": probity.counterparts,
        "certify": probity.certify,
        "repair": lambda model, data, **options: probity.repair(model, data, [audited], **options),
    }
    for run in runs.values():
        with pytest.raises(probity.OptionError, match="nothing"):
            run(model, FRAME, nothing=1)
        with pytest.raises(probity.DataError, match="none.csv"):
            run(model, "none.csv")
        with pytest.raises(probity.ModelError, match="model.toml"):
            run("none", FRAME)
    # What is refused only when the data of an audit within another run are opened.
    for run in (probity.audit, probity.certify):
        with pytest.raises(probity.DataError, match="hat"):
            run(model, FRAME, protected=["hat"])


def by_age(frame):
    return (frame["age"] - 40) / 10


@pytest.mark.parametrize(
    "options, said",
    [
        ({"device": 3}, "device is 3, but must be a text"),
        ({"ignore": None}, "ignore is None, but must be a name, or a list of names"),
        ({"ignore": ["agee"]}, "ignore names 'agee', but the data have no such column"),
        ({"protected": None}, "protected is None, but must be a name, or a list of names"),
        ({"schema": 3}, "schema is 3, but must be a path, the name of a built-in schema, or TOML"),
        ({"seeds": 4, "search": {"seeds": 5}}, "seeds and search.seeds are one option, which is given twice"),
        ({"seeds": 4, "search.seeds": 5}, "seeds and search.seeds are one option, which is given twice"),
        ({"population": FRAME}, "population is a DataFrame, but must be a text, a number"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_option_is_named(options, said):
    with pytest.raises(probity.OptionError, match=said):
        probity.audit(by_age, FRAME, **{"protected": ["sex"], "label": "loan", **options})


def test_errors_name_arguments_of_python():
    with pytest.raises(probity.ModelError, match='if these are logits, say gives="logits"'):
        probity.audit(by_age, FRAME, ["sex"], "loan", **QUICK)
    schema = probity.infer_schema(FRAME, "loan", protected=["sex"])
    with pytest.raises(probity.DataError, match='outside="skip" leaves such rows out'):
        probity.audit(by_age, FRAME.assign(age=200), schema=schema, gives="logits", **QUICK)


def test_what_stands_in_place_of_a_model_or_a_name_is_said():
    class Rule:
        def predict(self, frame):
            return by_age(frame)

    with pytest.raises(probity.OptionError, match="model is the class Rule, but must be an instance"):
        probity.audit(Rule, FRAME, ["sex"], "loan")
    for given in ({"protected": FRAME.sex}, {"protected": FRAME.sex.to_numpy()}):
        with pytest.raises(probity.OptionError, match="protected is a .* of values, such as '(fe)?male', but"):
            probity.groups(by_age, FRAME, label="loan", **given)
    with pytest.raises(probity.OptionError, match="label is a Series, but must be the name .* such as 'loan'"):
        probity.groups(by_age, FRAME, ["sex"], FRAME.loan)
    with pytest.raises(probity.OptionError, match="label is a Series"):
        probity.infer_schema(FRAME, FRAME.loan)
    named = probity.groups(by_age, FRAME, FRAME.columns[[1]], "loan", gives="logits")
    assert named.specification["protected"] == ["sex"]
