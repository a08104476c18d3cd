"""Runs on model directories, from a data frame to a repaired model."""

import logging
from datetime import timedelta

import numpy as np
import pytest
from people import QUICK, people

import probity

FRAME = people(2000)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    out = tmp_path_factory.mktemp("model") / "m"
    return probity.train(FRAME, "loan", ["sex"], hidden=[16], epochs=15, validation=0.2, out=out)


def test_from_a_frame_to_a_repaired_model(model):
    assert model.summary["train"]["accuracy"] > 0.8
    audit = probity.audit(model, FRAME, seeds=300, local=100, estimate=2000)
    assert audit.uniform.value > 0.1 and audit.verify()["rejected"] == 0
    assert audit.specification["strategy"] == "adf"
    repaired = probity.repair(model, FRAME, [audit], repeats=1, save_anyway=True, out="repaired")
    assert repaired.summary["command"] == "repair"
    again = probity.audit("repaired", FRAME, **QUICK)
    assert again.share.protected == ("sex",)


def test_groups_certify_compare(model):
    groups = probity.groups(model, FRAME).summary
    assert {name for found in groups["sets"] for name in found["protected"]} == {"sex"}
    certified = probity.certify(model, FRAME.iloc[:300]).summary
    assert certified["command"] == "certify"
    compared = probity.compare(model, FRAME, strategies=["adf", "themis"], seeds=10, local=5)
    assert len(compared.summary["strategies"]) == 2
    compared.report("compared.html")


def test_prove(model):
    whole = probity.prove(model, until_undecided=0, out="proof")
    low, high = whole.summary["bounds"]
    assert whole.summary["ending"] == "decided" and 0 < low <= high < 1
    of_people = probity.prove(model, marginals=FRAME, within=["age=20..40"])
    assert of_people.summary["is_weighted"] and of_people.summary["fair"]["share"] > 0
    probity.SPN.fit(FRAME, "loan", schema=model.specification["schema"]).save("network")
    fitted = probity.prove(model, population="spn:network", max_boxes=1, out="parts")
    assert fitted.summary["population"]["inside"] > 0.9 and fitted.summary["ending"] == "max-boxes"
    on = probity.prove(model, out="parts", resume=True, max_boxes=1_000_000)
    assert on.summary["ending"] == "decided"
    share = probity.audit(model, FRAME, **QUICK).shares[-1]
    assert share.low < high and share.high > low
    whole.report("proof.html")
    with pytest.raises(probity.OptionError, match="model is a DataFrame"):
        probity.prove(FRAME)
    with pytest.raises(probity.OptionError, match="population is nowhere"):
        probity.prove(model, population="nowhere")


def test_knn():
    numbers = FRAME[["age", "hours", "loan"]]
    run = probity.knn(
        numbers.iloc[:200], numbers.iloc[200:220], poison=[1], label_column="loan", max_k=5, folds=5
    )
    assert run.summary["inputs"] == 20


def test_every_span_of_time_may_be_a_number_of_seconds(model):
    numbers = FRAME[["age", "hours", "loan"]]
    small = {"poison": [1], "label_column": "loan", "max_k": 5, "folds": 5}

    def decided(limit):
        run = probity.knn(numbers.iloc[:200], numbers.iloc[200:205], time_limit=limit, **small)
        return run.specification["analysis"]["time_limit"]

    assert [decided(limit) for limit in (20, "20s", "none")] == ["20s", "20s", "none"]
    with pytest.raises(probity.OptionError, match="time_limit is 0, but must be a time above 0"):
        decided(0)
    proven = probity.prove(model, time=20, max_boxes=1)
    assert proven.specification["time"] == "20s"
    with pytest.raises(probity.OptionError, match="^time is -1, but must be a time above 0"):
        probity.prove(model, time=-1)
    searches = {"strategies": ["adf", "random-walk"], "seeds": 5, "local": 5}
    compared = probity.compare(model, FRAME, time=timedelta(minutes=1), **searches)
    assert compared.specification["budget"]["time"] == "1m"
    with pytest.raises(probity.OptionError, match="^time is nan, but must be a finite number"):
        probity.compare(model, FRAME, time=float("nan"), **searches)


def test_training_goes_on(tmp_path):
    stop = lambda phase, done, *_: 1 / 0 if done >= 1 else None  # noqa: E731
    with pytest.raises(ZeroDivisionError):
        probity.train(FRAME, "loan", epochs=6, out="m", progress=stop)
    schema = probity.Run.load("m").specification["schema"]
    resumed = probity.train(FRAME, schema=schema, epochs=6, out="m", resume=True)
    whole = probity.train(FRAME, schema=schema, epochs=6, out="whole")
    assert resumed.summary["train"] == whole.summary["train"]
    assert (resumed.directory / "weights.safetensors").read_bytes() == (
        whole.directory / "weights.safetensors"
    ).read_bytes()


def test_texts():
    words = "the a my our this old young kind rude good awful lovely man woman doctor nurse".split()
    draw = np.random.default_rng(1)
    texts = [" ".join(draw.choice(words, 8)) for _ in range(400)]
    labels = ["rude" if "rude" in text or "awful" in text else "fine" for text in texts]
    import pandas as pd

    corpus = pd.DataFrame({"text": texts, "label": labels})
    model = probity.train(
        corpus, modality="text", text_column="text", label_column="label", layers=1, epochs=2
    )
    audit = probity.audit(model, texts, ["gender"], seeds=20, local=5, estimate=100)
    assert audit.summary["modality"] == "text" and len(audit.pairs()) >= 0
    options = dict(strategies=["rp", "frontier"], protected=["gender"], seeds=20, local=5, repeats=2)
    compared = probity.compare(model, texts, **options).summary
    random = compared["strategies"][0]
    by_rp = probity.audit(model, texts, ["gender"], strategy="rp", seeds=20, local=5, estimate=100)
    assert random["runs"][0]["finds"] == by_rp.summary["finds"]
    assert compared["texts"]["texts"] == 400 and "l1" not in random["finds"]


def test_options_are_listed_and_said(model, caplog):
    listed = {option["path"]: option for option in probity.options("audit")}
    assert listed["search.seeds"]["name"] == "seeds" and listed["search.seeds"]["default"] == 1000
    with pytest.raises(probity.OptionError, match="hidden.*must be"):
        probity.train(FRAME, "loan", hidden=[-1])
    with pytest.raises(probity.OptionError, match="model is a LogisticRegression"):
        from sklearn.linear_model import LogisticRegression

        probity.repair(LogisticRegression(), FRAME)
    with pytest.raises(probity.ProbityError, match="nowhere"):
        probity.audit("nowhere", FRAME)
    with pytest.raises(probity.OptionError, match="holds a run of the kind 'train'"):
        probity.Audit.load(model.directory)
    with caplog.at_level(logging.INFO, logger="probity"):
        probity.infer_schema(FRAME, "loan")
    assert any("its last class is 'granted'" in record.message for record in caplog.records)


def test_rows_of_python_are_known_by_their_values(model):
    audit = probity.audit(model, FRAME, out="one", **QUICK)
    probity.audit(model, FRAME.iloc[:, ::-1], out="two", **QUICK)
    same = probity.audit(model, FRAME.copy(), out="three", **QUICK)
    hashes = {
        name: probity.Run.load(name).specification["record"]["sha256"]["data"]
        for name in ("one", "two", "three")
    }
    assert hashes["one"] == hashes["three"] != hashes["two"]
    assert same.pairs().equals(audit.pairs())


def test_pairs_are_read_from_csv_as_they_were_found():
    frame = FRAME.assign(sex=np.where(FRAME.sex == "male", "=cmd()", "'+7"))[["age", "sex", "loan"]]
    model = probity.train(frame, "loan", ["sex"], hidden=[8], epochs=8)
    read = [probity.audit(model, frame, samples=form, **QUICK) for form in ("csv", "parquet")]
    written = (read[0].directory / "samples.csv").read_text()
    assert ",'=cmd()," in written and ",''+7," in written
    csv, parquet = (audit.pairs().to_pandas() for audit in read)
    assert len(csv) > 5
    for name in ("x_sex", "other_sex", "label_x", "changed"):
        assert csv[name].tolist() == parquet[name].tolist()
    assert read[0].verify()["rejected"] == 0
