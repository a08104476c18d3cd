"""The same people, whatever they come in: one summary, in Python and from the command."""

import gzip
import json
import shutil
import subprocess
import sysconfig

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import probity
from people import QUICK
from probity._frames import Data

#: What depends on the clock, on names and on the form of the samples.
NAMES = ("ended", "samples_file", "seal", "predictor")


def applicants(rows: int = 600) -> pd.DataFrame:
    """People with truths, thousands with decimals, words, and hours that some do not tell."""
    draw = np.random.default_rng(37)
    frame = pd.DataFrame(
        {
            "age": draw.integers(18, 80, rows),
            "sex": draw.choice(["female", "male"], rows),
            "income": draw.integers(90_000, 900_000, rows) / 100,
            "member": draw.random(rows) < 0.4,
            "hours": np.where(draw.random(rows) < 0.1, np.nan, draw.integers(10, 60, rows)),
        }
    )
    score = frame.income / 2000 + 1.5 * (frame.sex == "male") + frame.member
    frame["loan"] = np.where(score > 3.4, "granted", "refused")
    return frame


def german(value: float) -> str:
    """2345.67 as 2.345,67."""
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def files(frame: pd.DataFrame, folder) -> dict[str, str]:
    """The people in files of every sort."""
    plain = frame.assign(hours=frame.hours.astype("Int64"))
    plain.to_csv(folder / "plain.csv", index=False)
    (folder / "packed.csv.gz").write_bytes(gzip.compress((folder / "plain.csv").read_bytes()))
    local = plain.assign(income=frame.income.map(german))
    local.to_csv(folder / "german.csv", index=False, sep=";", encoding="utf-8-sig")
    local.to_csv(folder / "wide.csv", index=False, sep="\t", encoding="utf-16")
    plain.to_csv(folder / "bars.csv", index=False, sep="|")
    lower = plain.assign(member=frame.member.map({True: "TRUE", False: "FALSE"}))
    lower.to_csv(folder / "upper.csv", index=False)
    pq.write_table(pa.Table.from_pandas(plain, preserve_index=False), folder / "people.parquet")
    names = ["plain.csv", "packed.csv.gz", "german.csv", "wide.csv", "bars.csv", "upper.csv"]
    return {name: str(folder / name) for name in [*names, "people.parquet"]}


def frames(frame: pd.DataFrame) -> dict[str, object]:
    """The people in memory, in every sort of table."""
    duckdb, pl = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    plain = frame.assign(hours=frame.hours.astype("Int64"))
    nullable = plain.convert_dtypes()
    arrow = pa.Table.from_pandas(plain, preserve_index=False)
    connection = duckdb.connect()
    connection.register("people", arrow)
    return {
        "pandas": frame,
        "pandas, object": plain.assign(sex=frame.sex.astype(object), member=frame.member.astype(object)),
        "pandas, string": plain.assign(sex=frame.sex.astype("string")),
        "pandas, categorical": plain.assign(sex=frame.sex.astype("category")),
        "pandas, nullable": nullable,
        "arrow": arrow,
        "polars": pl.from_arrow(arrow),
        "duckdb": connection.sql("select * from people"),
    }


def told(summary: dict) -> str:
    """A summary without names and times."""

    def kept(value):
        if isinstance(value, dict):
            return {
                key: kept(inner)
                for key, inner in value.items()
                if key not in NAMES and not key.endswith(("seconds", "per_second", "sha256"))
            }
        return [kept(inner) for inner in value] if isinstance(value, list) else value

    return json.dumps(kept(summary), sort_keys=True)


def test_one_summary_whatever_the_people_come_in(tmp_path):
    program = shutil.which("probity", path=sysconfig.get_path("scripts"))
    if program is None:
        pytest.skip("the package is not installed")
    frame = applicants()
    ways = files(frame, tmp_path)

    def run(*arguments: str) -> None:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    # The command drafts, trains and audits.
    audits = {}
    for name, path in ways.items():
        draft = f"{name}.toml"
        run("schema", "infer", path, "--label-column", "loan", "--protected", "sex",
            "--favourable", "granted", "--out", draft)
    run("train", "--schema", "plain.csv.toml", "--data", ways["plain.csv"], "--epochs", "3", "--out", "model")
    options = ["--seeds", "20", "--local", "10", "--estimate", "1000"]
    for name in ("plain.csv", "packed.csv.gz", "upper.csv", "people.parquet"):
        run("audit", "--model", "model", "--data", ways[name], *options, "--out", f"audit-{name}")
        audits[name] = told(json.loads((tmp_path / f"audit-{name}" / "summary.json").read_text()))
    assert len(set(audits.values())) == 1, audits
    # Text that is laid out in another way is trained and audited by its own draft.
    for name in ("german.csv", "wide.csv", "bars.csv"):
        run("train", "--schema", f"{name}.toml", "--data", ways[name], "--epochs", "3", "--out", f"model-{name}")
        run("audit", "--model", f"model-{name}", "--data", ways[name], *options, "--out", f"audit-{name}")
        audits[name] = told(json.loads((tmp_path / f"audit-{name}" / "summary.json").read_text()))
    assert len(set(audits.values())) == 1, audits

    # Python takes the model of the command, and every table.
    in_python = {
        name: told(probity.audit("model", data, seeds=20, local=10, estimate=1000).summary)
        for name, data in {**frames(frame), "path": ways["plain.csv"], "parquet": ways["people.parquet"]}.items()
    }
    assert len(set(in_python.values())) == 1, in_python
    assert set(in_python.values()) == set(audits.values())


def test_a_path_is_read_as_the_frame_of_its_rows(tmp_path):
    frame = applicants()
    ways = files(frame, tmp_path)

    def rule(asked):
        score = asked["income"].astype(float) / 2000 + 1.5 * (asked["sex"] == "male")
        return 1 / (1 + np.exp(3.4 - score - asked["member"].astype(float)))

    found = {}
    for name, data in {"frame": frame, **ways}.items():
        audit = probity.audit(rule, data, ["sex"], "loan", classes=["refused", "granted"], **QUICK)
        found[name] = told(audit.summary)
    assert len(set(found.values())) == 1, found


def test_what_may_be_two_numbers_is_asked_in_python_too(tmp_path):
    path = tmp_path / "loans.csv"
    rows = [f"{10 + row % 9}.500;{'mf'[row % 2]};{['no', 'yes'][row % 3 % 2]}" for row in range(40)]
    path.write_text("amount;sex;ok\n" + "\n".join(rows) + "\n")
    with pytest.raises(probity.DataError, match="10.5 or 10500.*thousands="):
        probity.infer_schema(path, "ok", protected=["sex"])
    drafted = probity.infer_schema(path, "ok", protected=["sex"], thousands=".")
    assert 'decimal = ","' in drafted and 'separator = ";"' in drafted
    with pytest.raises(probity.OptionError, match="separator has no meaning"):
        probity.infer_schema(applicants(20), "loan", separator=";")


def test_rows_that_a_schema_leaves_out_of_a_file_are_counted(tmp_path, caplog):
    path, schema = tmp_path / "loans.csv", tmp_path / "loans.toml"
    path.write_text("town,ok\nNA,no\nn/a,yes\nUlm,no\nUlm\n")
    schema.write_text(
        'name = "loans"\n[format]\nskip_bad_rows = true\n[label]\nname = "ok"\nclasses = ["no", "yes"]\n'
        '[[attribute]]\nname = "town"\nkind = "categorical"\nlevels = ["NA", "Ulm"]\nmerge = { "n/a" = "NA" }\n'
    )
    with caplog.at_level("WARNING", logger="probity"):
        data = Data(path, schema=schema)
    assert data.table.column("town").to_pylist() == ["NA", "n/a", "Ulm"]
    assert "1 bad row was left out" in caplog.text
