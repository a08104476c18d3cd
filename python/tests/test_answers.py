"""What functions answer: probabilities, numbers of classes, dictionaries, and what is none of these."""

import numpy as np
import pytest

import probity
from people import QUICK, people


def share(answer, labels, **options):
    """The share of the rows, whose loans are the `labels` (refused, granted)."""
    data = people(400)[["age", "sex", "loan"]]
    data["loan"] = np.where(data.loan == "granted", labels[1], labels[0])
    return probity.audit(answer, data, ["sex"], "loan", **QUICK, **options).share.value


def is_granted(frame):
    return (frame["age"] / 20 + (frame["sex"] == "male") > 3.2).to_numpy()


def probabilities(frame):
    return np.where(is_granted(frame), 0.9, 0.1)


@pytest.mark.parametrize("labels", [(0, 1), (1, 2), (-1, 1), (1.0, 2.0), ("1", "2")])
def test_numbers_of_classes_are_decisions(labels):
    expected = share(probabilities, labels)
    assert expected > 0.1
    numbers = [float(label) for label in labels]
    assert share(lambda frame: np.where(is_granted(frame), *numbers[::-1]), labels) == expected
    column = lambda frame: np.where(is_granted(frame), *numbers[::-1]).reshape(-1, 1)
    assert share(column, labels) == expected


def test_what_the_outputs_are_said_to_be_holds():
    with pytest.raises(probity.ModelError, match="as the probability of '2'"):
        share(lambda frame: np.where(is_granted(frame), 2, 1), (1, 2), gives="probabilities")


def test_numbers_of_three_classes_are_decisions():
    data = people(400)[["age", "sex", "loan"]]
    bands = lambda frame: (frame["age"] // 30 + (frame["sex"] == "male")).clip(0, 2).to_numpy()
    data["loan"] = bands(data)
    marks = lambda frame: np.eye(3)[bands(frame)]
    asked = dict(protected=["sex"], label="loan", **QUICK)
    assert probity.audit(bands, data, **asked).share.value == probity.audit(marks, data, **asked).share.value
    with pytest.raises(probity.ModelError, match=r"or \(400,\) of names of classes"):
        probity.audit(lambda frame: bands(frame) / 2, data, **asked)


def test_a_class_that_comes_late_is_no_probability():
    late = lambda frame: np.ones(len(frame)) if len(frame) == 400 else np.full(len(frame), 2)
    with pytest.raises(probity.ModelError, match="^the model gave 2, which is a class"):
        share(late, (1, 2))


def test_dictionaries_are_read_by_their_keys():
    def rows(*names):
        pairs = {1: lambda p: 1 - p, 2: lambda p: p}
        return lambda frame: [{name: pairs[name](p) for name in names} for p in probabilities(frame)]

    expected = share(probabilities, (1, 2))
    for names in ((1, 2), (2, 1), (2,), (1,)):
        assert share(rows(*names), (1, 2)) == expected
    with pytest.raises(probity.ModelError, match="dictionaries of different keys"):
        share(lambda frame: [{1: 0.5, 2: 0.5}, *[{1: 0.5}] * (len(frame) - 1)], (1, 2))


def test_an_answer_that_cannot_be_read_is_no_exception_of_the_model():
    pair = lambda frame: (is_granted(frame), np.stack([probabilities(frame)] * 2, axis=1))
    for kind in (tuple, list):
        said = f"^the model gave a {kind.__name__} of ndarray, ndarray .* alone$"
        with pytest.raises(probity.ModelError, match=said):
            share(lambda frame: kind(pair(frame)), (1, 2))
    with pytest.raises(probity.ModelError, match="^the model gave a dict"):
        share(lambda frame: {1: probabilities(frame)}, (1, 2))
