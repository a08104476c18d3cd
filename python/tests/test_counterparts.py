"""People beside their counterparts, and the columns that tell a group."""

import numpy as np
import pandas as pd
import pytest

import probity

ROWS = 300


def applicants():
    """People of whom the women need more skill; hair tells the sex."""
    draw = np.random.default_rng(7)
    female = draw.random(ROWS) < 0.5
    frame = pd.DataFrame(
        {
            "skill": draw.normal(size=ROWS).round(2),
            "hair": draw.normal(np.where(female, 1.0, -1.0)).round(2),
            "sex": np.where(female, "female", "male"),
        }
    )
    frame["loan"] = np.where(frame.skill + 1.0 * ~female > 0.5, "granted", "refused")
    return frame


FRAME = applicants()
ASKED = dict(protected=["sex=female"], label="loan", favourable="granted")


def test_pairs_are_those_of_the_best_matching():
    optimize = pytest.importorskip("scipy.optimize")
    equal = pd.concat([FRAME[FRAME.sex == sex].iloc[:120] for sex in ("female", "male")])
    run = probity.counterparts(data=equal.reset_index(drop=True), **ASKED)
    (group,) = run.summary["groups"]
    values = equal[["skill", "hair"]].to_numpy()
    places = (values - values.mean(axis=0)) / values.std(axis=0)
    costs = np.abs(places[:120, None] - places[None, 120:]).mean(axis=2)
    best = costs[optimize.linear_sum_assignment(costs)].mean()
    matching = group["matching"]
    assert matching["is_exact"] and abs(matching["mean_distance"] - best) <= matching["rounding"]
    pairs = pd.read_csv(run.directory / "pairs.csv")
    assert len(pairs) == 120 and pairs.counterpart.is_unique
    assert abs(pairs.distance.mean() - best) <= matching["rounding"]
    worse = (pairs.decision == "refused") & (pairs.counterpart_decision == "granted")
    assert group["against"]["members"] == worse.sum() == (pairs.worse_off == "member").sum()
    assert group["comparison"]["test"] == "fisher"
    # Both groups are used up, so the two directions differ as the rates do.
    granted = equal.loan == "granted"
    rates = [granted[equal.sex == sex].mean() for sex in ("male", "female")]
    difference = group["against"]["share"] - group["favouring"]["share"]
    assert abs(difference - (rates[0] - rates[1])) < 1e-12


def test_shares_have_intervals_and_groups_may_have_a_reference():
    (group,) = probity.counterparts(data=FRAME, reference="sex=male", resamples=20, **ASKED).summary["groups"]
    assert group["reference"] == [{"attribute": "sex", "value": "male"}] and group["halves"] == 20
    low, high = group["against"]["ci95"]
    assert 0 <= low < group["against"]["share"] < high <= 1
    # There are no others than men.
    (same,) = probity.counterparts(data=FRAME, resamples=0, **ASKED).summary["groups"]
    assert same["against"]["share"] == group["against"]["share"] and "ci95" not in same["against"]
    (near,) = probity.situations(data=FRAME, reference=["sex=male"], k=10, **ASKED).summary["groups"]
    assert near["others"] == group["others"]


def test_an_estimator_that_never_sees_the_attribute_and_given_counterparts():
    linear = pytest.importorskip("sklearn.linear_model")
    model = linear.LogisticRegression().fit(FRAME[["skill", "hair"]], FRAME.loan)
    run = probity.counterparts(model, FRAME, **ASKED)
    shares = [pair.share.sum() for _, pair in pd.read_csv(run.directory / "pairs.csv").groupby("row")]
    assert np.allclose(shares, 1)
    assert run.summary["groups"][0]["against"]["transparency"][0]["attribute"] in ("skill", "hair")
    scored = probity.counterparts(model, FRAME, gap=0.05, **ASKED).summary
    assert scored["gap"] == 0.05
    swapped = FRAME.assign(sex=FRAME.sex.map({"female": "male", "male": "female"}))
    same = probity.counterparts(model, FRAME, counterfactuals=swapped, **ASKED).summary["groups"][0]
    assert same["against"]["share"] == same["favouring"]["share"] == 0
    assert same["comparison"] == {"test": "mcnemar", "p": 1}
    # Every woman would be a woman still.
    with pytest.raises(probity.ProbityError, match="with sex=female have it there too"):
        probity.counterparts(model, FRAME, counterfactuals=FRAME, **ASKED)
    with pytest.raises(probity.OptionError, match="gap"):
        probity.counterparts(data=FRAME, gap=0.1, **ASKED)


def test_the_column_that_tells_the_group_is_named():
    run = probity.proxies(data=FRAME, **ASKED)
    (group,) = run.summary["groups"]
    assert group["columns"][0]["attribute"] == "hair"
    assert group["smallest"]["attributes"] == ["hair"]
    assert group["auc"]["ci95"][0] > 0.5
    assert "hair" in run.report(format="markdown")


def test_counterparts_are_drawn_with_what_is_unaffected():
    def decide(frame):
        return np.where(frame.skill + 0.5 * frame.hair > 0.3, 0.9, 0.1)

    run = probity.counterparts(
        decide, FRAME, **ASKED, counterpart="density", unaffected="skill", classes=["refused", "granted"]
    )
    (group,) = run.summary["groups"]
    assert "comparison" not in group and run.summary["drawn"]["unaffected"] == ["skill"]
    drawn, pairs = (
        pd.read_csv(run.directory / name, float_precision="round_trip") for name in ("drawn.csv", "pairs.csv")
    )
    own = FRAME.loc[drawn.row - 1].reset_index(drop=True)
    assert (drawn.sex == "male").all() and (drawn.skill == own.skill).all()
    # The hair of men: nobody here has hair of their own.
    assert drawn.hair.isin(FRAME.hair[FRAME.sex == "male"]).all() and drawn.hair.mean() < 0 < own.hair.mean()
    said = np.where(decide(drawn) > 0.5, "granted", "refused")
    assert (pairs.counterpart_decision == said).all()
    worse = (np.where(decide(own) > 0.5, "granted", "refused") == "refused") & (said == "granted")
    assert group["against"]["members"] == worse.sum()
    with pytest.raises(probity.OptionError, match="unaffected"):
        probity.counterparts(decide, FRAME, **ASKED, unaffected="skill", classes=["refused", "granted"])


def test_numbers_are_compared_by_a_gap():
    years = np.arange(400) // 2 % 40
    female = np.arange(400) % 2 == 0
    pay = pd.DataFrame({"years": years, "sex": np.where(female, "f", "m")})
    pay["wage"] = 1000.0 + 100 * years - 300 * female
    asked = dict(protected=["sex=f"], label="wage", gap=299)
    (group,) = probity.counterparts(data=pay, **asked).summary["groups"]
    assert group["against"]["share"] == 1 and group["members"]["mean"] == pay.wage[female].mean()

    def predict(frame):
        return 900.0 + 100 * frame.years - 300 * (frame.sex == "f")

    run = probity.counterparts(predict, pay, **asked, gives="numbers", favourable="lower")
    (group,) = run.summary["groups"]
    assert run.summary["number"] == "wage" and group["favouring"]["share"] == 1
    assert abs(group["others"]["mean"] - predict(pay)[~female].mean()) < 1e-3
    with pytest.raises(probity.ProbityError, match="holds numbers"):
        probity.counterparts(predict, pay, protected=["sex=f"], label="wage", gives="numbers")
