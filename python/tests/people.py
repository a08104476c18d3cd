"""People whose loans are decided, for the tests: skill and hours count, and, unfairly, sex."""

import numpy as np
import pandas as pd


def people(rows: int = 1500, seed: int = 1) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": draw.integers(18, 80, rows),
            "sex": draw.choice(["female", "male"], rows),
            "hours": draw.normal(40, 10, rows).round(1),
            "member": draw.random(rows) < 0.3,
            "job": pd.Categorical(draw.choice(["office", "field", "none"], rows)),
        }
    )
    score = frame.age / 20 + (frame.sex == "male") + frame.hours / 20 + draw.normal(0, 0.4, rows)
    frame["loan"] = np.where(score > 5.2, "granted", "refused")
    return frame


QUICK = {"seeds": 20, "local": 10, "estimate": 1000}
