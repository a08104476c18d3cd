"""The estimators, by scikit-learn's own checks and by brute force."""

import pickle

import numpy as np
import pytest
from people import people
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import probity


@parametrize_with_checks([probity.KMeans(), probity.Classifier()])
def test_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("algorithm", ["quantized", "lloyd", "divide-conquer"])
@pytest.mark.parametrize("bounds", [None, (-6.0, 6.0)])
def test_after_a_deletion_the_rows_were_never_there(algorithm, bounds):
    draw = np.random.default_rng(3)
    X = draw.normal(size=(240, 3)).clip(-5.9, 5.9)
    model = probity.KMeans(4, algorithm=algorithm, bounds=bounds, random_state=5)
    deleted = clone(model).fit(X)
    gone: list[int] = []
    # The extreme rows are among them, by which bounds would be read off.
    for rows in ([17], [int(X[:, 0].argmax()), int(X[:, 1].argmin())], [3, 99, 200]):
        rows = [row for row in rows if row not in gone]
        deleted.delete(rows)
        gone += rows
        left = np.setdiff1d(np.arange(240), gone)
        anew = clone(model).fit(X[left], row_ids=left)
        assert (deleted.row_ids_ == left).all()
        for name in ("cluster_centers_", "labels_", "bounds_"):
            assert np.array_equal(getattr(deleted, name), getattr(anew, name)), name
        assert deleted.inertia_ == anew.inertia_
        assert pickle.dumps(deleted.__getstate__()) == pickle.dumps(anew.__getstate__())
        assert (deleted.predict(X[left]) == deleted.labels_).all()
    with pytest.raises(probity.OptionError, match="row 17 is not there"):
        deleted.delete([17])
    with pytest.raises(probity.OptionError, match="left for 4 clusters"):
        deleted.delete(deleted.row_ids_[3:])
    again, row = pickle.loads(pickle.dumps(deleted)), deleted.row_ids_[0]
    assert np.array_equal(again.delete(row).cluster_centers_, deleted.delete(row).cluster_centers_)


def test_a_classifier_learns_words_and_is_audited():
    frame = people(1500)
    inputs = frame.drop(columns="loan")
    model = probity.Classifier(random_state=1).fit(inputs, frame.loan)
    assert model.score(inputs, frame.loan) > 0.85
    assert list(model.classes_) == ["granted", "refused"]
    audit = probity.audit(model, frame, ["sex"], "loan", seeds=20, local=10, estimate=500)
    assert audit.uniform.value > 0.05
    model.save("saved")
    same = probity.audit("saved", inputs, ["sex"], seeds=20, local=10, estimate=500)
    assert abs(same.uniform.value - audit.uniform.value) < 0.1
