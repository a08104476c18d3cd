#!/usr/bin/env python3
"""Measures how many of the finds of each search strategy are plausible, on tables.

    pip install scipy
    python3 scripts/plausibility_benchmark.py census:CENSUS.csv:sex bank:BANK.csv:age ...

Each argument is a model directory, its data and a protected attribute. Audits it with each
strategy, and with those that can stay where the data are also so (--stay-plausible), with the seeds
1 to --repeats. Prints a Markdown table a model: means over the seeds with 95 % intervals (Student's
t, cut at 0) of the pairs that are found, of the share of them that at least 5 % of the real rows
are no likelier than, and of all and the plausible ones in 1,000 model calls; and the share of
discriminatory inputs among uniform ones and among those drawn from the network that grades the
pairs, from --estimate each.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from scipy.stats import t

STRATEGIES = ["adf", "eidig", "adf-zero-order", "sg", "aequitas-fully", "aequitas-semi"]
STRATEGIES += ["aequitas-random", "random-walk", "themis"]
STAYING = ["adf", "eidig", "adf-zero-order", "random-walk"]
# Only strategies with a local phase take a number of trials.
WITHOUT_TRIALS = ["themis"]


def interval(values, digits, factor=1.0):
    """`mean (low – high)` of the mean of `values`."""
    values = [factor * value for value in values]
    mean = statistics.fmean(values)
    half = t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5
    return f"{mean:,.{digits}f} ({max(mean - half, 0.0):,.{digits}f} – {mean + half:,.{digits}f})"


def audit(args, model, data, attribute, strategy, staying, seed):
    """The summary of one audit."""
    with tempfile.TemporaryDirectory() as folder:
        command = [args.probity, "audit", "--model", model, "--data", data]
        command += ["--protected", attribute, "--strategy", strategy]
        command += ["--seed", str(seed), "--seeds", str(args.seeds)]
        command += ["--plausibility", "fit", "--population-rows", str(args.rows)]
        command += ["--estimate", str(args.estimate), "--json", "-q"]
        command += ["--out", str(Path(folder, "run"))]
        if strategy not in WITHOUT_TRIALS:
            command += ["--local", str(args.local)]
        if staying:
            command.append("--stay-plausible")
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)


def row(name, runs):
    """A row of the table from the summaries of the repeats."""
    calls = [run["total"]["model_rows"] + run["total"]["model_gradients"] for run in runs]
    graded = [run["plausibility"] for run in runs]
    per = [1000 * it["plausible"] / call for it, call in zip(graded, calls)]
    cells = [
        interval([it["pairs"] for it in graded], 0),
        interval([it["share"] for it in graded], 1, 100.0) + " %",
        interval([1000 * it["pairs"] / call for it, call in zip(graded, calls)], 1),
        interval(per, 1),
    ]
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="+", metavar="MODEL:DATA:ATTRIBUTE")
    parser.add_argument("--probity", default="probity")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--local", type=int, default=200)
    parser.add_argument("--estimate", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=10_000, help="real rows that the network is of")
    args = parser.parse_args()
    seeds = range(1, args.repeats + 1)
    for case in args.cases:
        model, data, attribute = case.split(":")
        print(f"\n{Path(model).name}, {attribute}\n", flush=True)
        print("| strategy | pairs | plausible | pairs in 1,000 model calls | plausible ones |")
        print("|----------|------:|----------:|---------------------------:|---------------:|")
        runs = []
        for strategy in STRATEGIES:
            for staying in [False, True][: 1 + (strategy in STAYING)]:
                name = f"{strategy} --stay-plausible" if staying else strategy
                of = (model, data, attribute, strategy, staying)
                runs = [audit(args, *of, seed) for seed in seeds]
                row(name, runs)
        uniform = [run["fairness"][-1]["rate"] for run in runs]
        fitted = [run["plausibility"]["estimate"]["rate"] for run in runs]
        shares = [interval(rates, 2, 100.0) for rates in [uniform, fitted]]
        print(f"\nuniform {shares[0]} %, fitted {shares[1]} %", flush=True)


if __name__ == "__main__":
    main()
