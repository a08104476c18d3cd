#!/usr/bin/env python3
"""Compares the default training of Probity with scikit-learn's MLPClassifier, on the same rows.

    pip install scikit-learn pandas
    python3 scripts/training_benchmark.py --seeds 5 iris digits people.csv:income ...

A data set is one that ships with scikit-learn (iris, wine, breast_cancer, digits), a made one
(`made:ROWS`, the problem by the number of rows) or a CSV file with its label column. Its schema is
the draft of `probity schema infer`. Of each seed the test part is that of Probity's training;
MLPClassifier, with its defaults, learns from all other rows, first with the numbers as they stand
(raw), then as the schema codes them (coded); categories are one-hot, numbers standardised. Prints a
row of a Markdown table a data set: mean accuracies in percent over the seeds, their standard
deviations, and seconds of a training.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import OneHotEncoder, StandardScaler

LABEL = "label"
# Enough to be dealt into parts as any table of as many rows is.
PARTS_SCHEMA = """name = "parts"
[label]
name = "label"
classes = ["p", "q"]
[[attribute]]
name = "a"
kind = "categorical"
levels = ["u", "v"]
protected = true
[[attribute]]
name = "b"
kind = "categorical"
levels = ["u", "v"]
"""


def table(name):
    """The data set `name` with its label column."""
    if ":" in name and not name.startswith("made:"):
        file, label = name.rsplit(":", 1)
        return Path(file).name.split(".")[0], pd.read_csv(file, dtype=str, keep_default_na=False), label
    if name.startswith("made:"):
        rows = int(name.removeprefix("made:"))
        inputs, classes = datasets.make_classification(
            rows, 12, n_informative=6, class_sep=1.2, flip_y=0.03, random_state=rows
        )
        inputs = inputs.round(4)
    else:
        bunch = getattr(datasets, f"load_{name}")()
        inputs, classes = bunch.data, bunch.target
        if (inputs == inputs.astype(int)).all():
            inputs = inputs.astype(int)
    frame = pd.DataFrame(inputs, columns=[f"x{i}" for i in range(inputs.shape[1])])
    frame[LABEL] = [f"c{value}" for value in classes]
    return name, frame.astype(str), LABEL


def probity(binary, *arguments):
    done = subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"probity {' '.join(map(str, arguments))}\n{done.stderr}")
    return done.stdout


def test_rows(binary, rows, seed, folder):
    """The test part of any table of so many rows: certificates name the rows that they are of."""
    data, schema, model = folder / "parts.csv", folder / "parts.toml", folder / f"parts-{seed}"
    lines = (f"{'uv'[row % 2]},{'uv'[row // 4 % 2]},{'pq'[row // 2 % 2]}\n" for row in range(rows))
    data.write_text("a,b,label\n" + "".join(lines))
    schema.write_text(PARTS_SCHEMA)
    short = ["--epochs", 1, "--batch", rows, "--hidden", 1, "--validation", 0, "--seed", seed]
    probity(binary, "train", "--data", data, "--schema", schema, *short, "--out", model)
    run = folder / f"certificates-{seed}"
    probity(binary, "certify", "--model", model, "--data", data, "--part", "test", "--out", run)
    return pd.read_csv(run / "certificates.csv")["row"].to_numpy() - 1


def columns(frame, schema):
    """Of each attribute: its numbers as they stand and as they are coded, whether it is unordered."""
    for attribute in schema["attribute"]:
        cells = frame[attribute["name"]].str.strip()
        if attribute["kind"] == "categorical":
            places = {level: place for place, level in enumerate(attribute["levels"])}
            codes = cells.map(places).fillna(len(places)).to_numpy(float)
            yield codes, codes, not attribute.get("ordered", False)
            continue
        numbers = pd.to_numeric(cells, errors="coerce")
        numbers = numbers.fillna(numbers.median()).to_numpy(float)
        codes = numbers
        if attribute["kind"] == "numeric":
            edges = np.array(attribute["bins"])
            codes = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 2)
        yield numbers, codes.astype(float), False


def features(columns, train):
    """Standardised numbers and one-hot categories, fitted on the rows `train`."""
    blocks = []
    for values, is_unordered in columns:
        values = values.reshape(-1, 1)
        coder = OneHotEncoder(handle_unknown="ignore", sparse_output=False) if is_unordered else StandardScaler()
        blocks.append(coder.fit(values[train]).transform(values))
    return np.hstack(blocks)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--probity", default="target/release/probity")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--options", default="", help="more options of `probity train`")
    parser.add_argument("--max-iter", type=int, default=200)
    parser.add_argument("data", nargs="+")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("| data | rows | Probity | MLP, coded | MLP, raw | s, Probity | s, MLP |")
    print("|------|-----:|--------:|-----------:|---------:|-----------:|-------:|", flush=True)
    for data in arguments.data:
        name, frame, label = table(data)
        scores = {"probity": [], "coded": [], "raw": []}
        seconds = {"probity": [], "coded": [], "raw": []}
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            file, draft = folder / "data.csv", folder / "schema.toml"
            frame.to_csv(file, index=False)
            probity(arguments.probity, "schema", "infer", file, "--label-column", label, "--out", draft)
            made = list(columns(frame, tomllib.loads(draft.read_text())))
            classes = frame[label].to_numpy()
            for seed in range(1, arguments.seeds + 1):
                line = ["--data", file, "--schema", draft, "--seed", seed, "--out", folder / f"model-{seed}"]
                trained = json.loads(probity(arguments.probity, "train", *line, "--json", *arguments.options.split()))
                scores["probity"].append(trained["test"]["accuracy"])
                seconds["probity"].append(trained["seconds"])
                test = test_rows(arguments.probity, len(frame), seed, folder)
                train = np.setdiff1d(np.arange(len(frame)), test)
                for place, kind in enumerate(["raw", "coded"]):
                    inputs = features([(column[place], column[2]) for column in made], train)
                    network = MLPClassifier(random_state=seed, max_iter=arguments.max_iter)
                    started = time.perf_counter()
                    network.fit(inputs[train], classes[train])
                    seconds[kind].append(time.perf_counter() - started)
                    scores[kind].append(network.score(inputs[test], classes[test]))
        cells = [name, f"{len(frame):,}"]
        cells += [f"{100 * statistics.mean(s):.1f} ± {100 * statistics.pstdev(s):.1f}" for s in scores.values()]
        cells += [f"{statistics.mean(seconds[kind]):.1f}" for kind in ("probity", "coded")]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
