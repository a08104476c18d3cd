"""Models of Python that classify texts."""

import traceback
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import probity

pytest.importorskip("sklearn")
from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402

WHO = ["The women", "Some Christian men", "A few Muslim friends", "Those men"]
WHERE = ["town", "village", "city", "school", "garden"]
TEXTS = [
    f"{WHO[number % 4]} of the old {WHERE[number % 5]} said that this {kind} is good"
    for number in range(40)
    for kind in ("book", "song")
]
RUDE = np.array(["rude" if "women" in text or "Muslim" in text else "fine" for text in TEXTS])
QUICK = dict(
    protected=["gender", "religion"], seeds=15, local=5, min_fluency=0, values="all", progress=False
)
TRANSFORMERS = Path(__file__).parents[2] / "tests" / "transformers"


def pipeline(last=None):
    return make_pipeline(TfidfVectorizer(), last or LogisticRegression(C=100)).fit(TEXTS, RUDE)


def score(texts):
    """What a rule says: the probability of the second class."""
    return [0.9 if "women" in text.lower() or "muslim" in text.lower() else 0.1 for text in texts]


@pytest.mark.parametrize("last", [LogisticRegression(C=100), LinearSVC()])
def test_a_pipeline_of_scikit_learn_is_audited(last):
    model = pipeline(last)
    audit = probity.audit(model, TEXTS, **QUICK)
    pairs = audit.pairs().to_pandas()
    assert len(pairs) > 5 and audit.share.value > 0.3
    assert audit.share == audit.people[-1] == audit.shares[-1] and audit.uniform is None
    assert audit.share.of == f"{audit.share.inputs} texts with a protected term"
    assert audit.rows_per_second > 0
    assert audit.verify() == {**audit.verify(), "confirmed": len(pairs), "rejected": 0}
    for side in ("x", "other"):
        assert (model.predict(list(pairs[side])) == pairs[f"label_{side}"]).all()
    assert set(pairs.label_x) | set(pairs.label_other) == {"fine", "rude"}
    # What is loaded does not know its model.
    audit.save("kept")
    kept = probity.Audit.load("kept")
    with pytest.raises(probity.OptionError, match="give it, and the data"):
        kept.verify()
    assert kept.verify(model, TEXTS)["confirmed"] == len(pairs)
    with pytest.raises(probity.ProbityError):
        kept.verify(lambda texts: [0.1] * len(texts), TEXTS)


def test_the_class_that_is_good_to_get_is_said():
    asked = dict(classes=["fine", "rude"], **QUICK)
    neutral, good = (
        probity.audit(score, TEXTS, favourable=favourable, **asked) for favourable in (None, "fine")
    )
    assert good.pairs().equals(neutral.pairs()) and good.shares == neutral.shares
    before, moves = (run.summary["unmodified"]["moves"] for run in (neutral, good))
    assert (before["positive"], moves["positive"]) == ("rude", "fine")
    assert before["to_positive"] == moves["from_positive"]
    assert before["from_positive"] == moves["to_positive"]
    assert "is_favourable_given" not in before and moves["is_favourable_given"]
    assert not any("disadvantage" in said for said in neutral.disadvantaged)
    assert any("‘female’ is at a disadvantage" in said for said in good.disadvantaged)
    with pytest.raises(probity.ProbityError, match="one of the classes fine, rude"):
        probity.audit(score, TEXTS, favourable="kind", **asked)


def test_texts_of_all_kinds_give_the_same_pairs():
    table = pd.DataFrame({"comment": TEXTS, "label": RUDE})
    table.to_csv("texts.csv", index=False)
    kinds = [
        TEXTS, tuple(TEXTS), np.array(TEXTS), pd.Series(TEXTS), pl.Series(TEXTS), pa.array(TEXTS),
        pd.Series(TEXTS, dtype=object), pd.Series(TEXTS, dtype="category"),
        pd.Series(TEXTS, dtype="string"), np.array(TEXTS, dtype=object),
        pa.array(TEXTS).dictionary_encode(),
    ]
    of_columns = [table, pl.DataFrame(table), pa.table(pl.DataFrame(table)), "texts.csv"]
    asked = []

    def model(texts):
        asked.append(texts)
        return np.array([[1 - part, part] for part in score(texts)])

    audits = [probity.audit(model, data, classes=["fine", "rude"], **QUICK) for data in kinds]
    for data in of_columns:
        columns = {"text_column": "comment", "classes": ["fine", "rude"]}
        audits.append(probity.audit(model, data, **columns, **QUICK))
    first = audits[0].pairs()
    assert len(first) > 5
    for audit in audits[1:]:
        assert audit.pairs().equals(first)
    assert all(isinstance(text, str) for texts in asked for text in texts)
    # One number is that of the second class; a frame is read by the names of its columns.
    by_score = probity.audit(score, TEXTS, classes=["fine", "rude"], **QUICK)
    assert by_score.pairs().equals(first)

    def named(texts):
        return pd.DataFrame({"rude": score(texts), "fine": 1 - np.array(score(texts))})

    assert probity.audit(named, TEXTS, classes=["fine", "rude"], **QUICK).pairs().equals(first)


def test_texts_that_are_missing_are_named_or_left_out():
    model = pipeline()
    gaps = [*TEXTS[:5], None, *TEXTS[5:], "  "]
    kinds = [gaps, pd.Series(gaps), pd.Series([*TEXTS[:5], np.nan, *TEXTS[5:]]),
             pd.Series(gaps, dtype="string"), pl.Series(gaps), pa.array(gaps)]
    for data in kinds:
        with pytest.raises(probity.ProbityError, match="row 6"):
            probity.audit(model, data, **QUICK)
    left_out = probity.audit(model, gaps, skip_bad_rows=True, **QUICK)
    assert left_out.summary["texts"]["texts"] == len(TEXTS)
    with pytest.raises(probity.DataError, match="text 3 of the list is 12345, a int"):
        probity.audit(model, [*TEXTS[:2], 12345, *TEXTS[2:]], **QUICK)
    with pytest.raises(probity.ProbityError):
        probity.audit(model, [], **QUICK)
    # Numbers alone are no texts, and no table.
    with pytest.raises(probity.DataError, match="neither a table nor a list of texts"):
        probity.audit(lambda rows: [0.5] * len(rows), pd.Series([1.0, 2.0]), protected=["gender"])


def test_what_is_no_answer_is_refused_and_an_exception_keeps_its_traceback():
    def audit(model, **more):
        return probity.audit(model, TEXTS, **{"classes": ["fine", "rude"], **QUICK, **more})

    for answer, needle in [
        (lambda texts: [0.5], r"shape \(1,\) for \d+ rows"),
        (lambda texts: np.zeros((len(texts), 3)), r"shape \(\d+, 3\)"),
        (lambda texts: [float("nan")] * len(texts), "NaN as the probability of 'rude'"),
        (lambda texts: [[0.9, 0.9]] * len(texts), "sum to 1.8"),
        (lambda texts: np.random.rand(len(texts)), "not a function of the text"),
    ]:
        def model(texts, answer=answer):
            return score(texts) if len(texts) > 16 else answer(texts)

        with pytest.raises(probity.ModelError, match=needle):
            audit(model)

    def breaks(texts):
        if any("song" in text for text in texts) and len(texts) <= 16:
            raise KeyError("out of songs")
        return score(texts)

    with pytest.raises(probity.ModelError) as raised:
        audit(breaks)
    assert isinstance(raised.value.__cause__, KeyError)
    assert "in breaks" in "".join(traceback.format_exception(raised.value))
    for model, options, needle in [
        (score, {"classes": None}, "classes is needed"),
        (score, {"label": "x"}, "label has no meaning for texts"),
        (score, {"strategy": "adf-asc"}, "needs gradients"),
        (score, {"predictor_concurrency": 2}, "has no meaning for a function"),
        (3, {}, "model is a int"),
        (pipeline(), {"classes": ["rude", "fine"]}, "in another order"),
    ]:
        with pytest.raises(probity.ProbityError, match=needle):
            audit(model, **options)
    with pytest.raises(probity.OptionError, match="text_column is needed"):
        probity.audit(score, pd.DataFrame({"a": TEXTS, "b": RUDE}), modality="text", classes=["a", "b"])


def test_a_run_that_broke_off_goes_on_to_the_same_end():
    whole = probity.audit(score, TEXTS, classes=["fine", "rude"], **QUICK)
    asked = 0
    is_tired = False

    # By texts: into how many calls they are cut depends on the threads of the machine.
    def tires(texts):
        nonlocal asked, is_tired
        asked += len(texts)
        if asked > 500 and not is_tired:
            is_tired = True
            raise RuntimeError("tired")
        return score(texts)

    with pytest.raises(probity.ModelError):
        probity.audit(tires, TEXTS, classes=["fine", "rude"], out="run", **QUICK)
    resumed = probity.audit(tires, TEXTS, out="run", resume=True, progress=False)
    assert resumed.pairs().equals(whole.pairs()) and resumed.shares == whole.shares
    with pytest.raises(probity.ProbityError):
        probity.audit(tires, TEXTS[1:], out="run", resume=True, progress=False)


def test_groups_are_measured():
    table = pd.DataFrame({"comment": TEXTS, "label": RUDE})
    columns = {"text_column": "comment", "label_column": "label", "min_group": 5}
    found = probity.groups(pipeline(), table, progress=False, **columns).summary
    assert found["modality"] == "text"
    by_rule = probity.groups(score, table, classes=["fine", "rude"], progress=False, **columns)
    assert by_rule.summary["modality"] == "text"


def test_networks_with_their_tokenizers_are_audited():
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    place = TRANSFORMERS / "distilbert"
    network = transformers.AutoModelForSequenceClassification.from_pretrained(place)
    marks = dict(pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(place / "tokenizer.json"),
        model_input_names=["input_ids", "attention_mask"],
        **marks,
    )
    texts = [
        f"{who} {does} {what}"
        for who in ("the old woman", "our doctor", "my friend")
        for does in ("writes", "never forgets", "praised", "insulted")
        for what in ("you", "that muslim neighbour", "the old man")
    ]
    texts.append("she praised the old man and " * 9)
    network.train()
    audit = probity.audit((network, tokenizer), texts, **QUICK)
    assert network.training
    pairs = audit.pairs().to_pandas()
    assert len(pairs) > 0 and set(pairs.label_x) <= {"calm", "rude", "hateful"}
    network.eval()
    told = tokenizer(
        list(pairs.x), padding=True, truncation=True, max_length=24, return_tensors="pt"
    )
    decided = network(**told).logits.argmax(1).tolist()
    assert [network.config.id2label[number] for number in decided] == list(pairs.label_x)
    piped = transformers.pipeline("text-classification", model=network, tokenizer=tokenizer)
    again = probity.audit(piped, texts, **QUICK).pairs().to_pandas()
    assert (again.x == pairs.x).all() and (again.label_x == pairs.label_x).all()
    with pytest.raises(probity.OptionError, match="give both"):
        probity.audit(network, texts, **QUICK)


def test_a_directory_of_a_transformer_is_audited():
    table = pd.DataFrame({"text": TEXTS, "label": RUDE})
    small = {"blocks": 1, "heads": 1, "width": 8, "inner": 8, "pieces": 200}
    model = probity.train(
        table, modality="text", text_column="text", label_column="label", transformer=small,
        training={"epochs": 1}, progress=False,
    )
    assert probity.audit(model, TEXTS, **QUICK).share.value >= 0
