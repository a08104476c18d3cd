"""What a user with types writes; mypy --strict has nothing to say of it."""

from datetime import timedelta

import probity


def unfair(path: str) -> float:
    audit = probity.audit(path, "people.csv", ["sex"], seeds=10, time=20)
    share: probity.Share = audit.share
    uniform: probity.Share | None = audit.uniform
    of: str = share.of
    probity.prove(path, time=0.5)
    probity.compare(path, "people.csv", time=timedelta(minutes=1))
    probity.knn("people.csv", time_limit="none")
    probity.situations(data="people.csv", protected=["sex=female"], label="income", k=20)
    probity.proxies(data="people.csv", protected=["sex=female"], label="income")
    probity.counterparts(data="people.csv", protected=["sex=female"], label="income")
    counts: dict[str, object] = audit.verify()
    text: str = audit.report("r.html")
    rows: int = audit.pairs().num_rows
    again: probity.Run = probity.repair(path, "people.csv", [audit])
    print(counts, len(text), rows, again.directory, probity.KMeans(3).n_clusters)
    print(of, None if uniform is None else uniform.inputs)
    return float(share) + share.low
