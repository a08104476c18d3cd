"""Sum-product networks against counting, and deletions against learning anew."""

import math

import numpy as np
import pandas as pd
import pytest

import probity

DRAW = np.random.default_rng(4)
SEX = DRAW.choice(["f", "m"], 3000)
FRAME = pd.DataFrame(
    {
        "id": np.arange(3000) + 10,
        "sex": SEX,
        "job": np.where(DRAW.random(3000) < np.where(SEX == "m", 0.7, 0.2), "engineer", "nurse"),
        "paid": DRAW.choice(["no", "yes"], 3000),
    }
)


def learnt(frame=FRAME):
    return probity.SPN.fit(frame, schema=SCHEMA, id_column="id")


SCHEMA = probity.infer_schema(FRAME, "paid", ignore=["id"])


def test_probabilities_are_near_the_counts():
    network = learnt()
    for sex in ("f", "m"):
        share = (FRAME[FRAME.sex == sex].job == "engineer").mean()
        asked = network.log_probability({"job": "engineer"}, {"sex": sex})
        assert abs(math.exp(asked) - share) < 0.03
    rows = FRAME.drop_duplicates(["sex", "job", "paid"])
    assert abs(np.exp(network.log_likelihood(rows)).sum() - 1) < 1e-6
    drawn = network.sample(500, {"sex": "m"}).to_pandas()
    assert set(drawn.sex) == {"m"} and abs((drawn.job == "engineer").mean() - 0.7) < 0.1
    for wrong in ({"jobs": "nurse"}, {"job": "pilot"}):
        with pytest.raises(probity.ProbityError, match="job"):
            network.log_probability(wrong)


def test_deleted_rows_were_never_there():
    network = learnt()
    gone = [10, 11, 500, 3009]
    assert network.delete(gone) == learnt(FRAME[~FRAME.id.isin(gone)])
    assert network != learnt() and len(network.row_ids) == 2996 and 500 not in network.row_ids
    with pytest.raises(probity.ProbityError, match="500"):
        network.delete(500)
    network.save("spn")
    assert probity.SPN.load("spn") == network
