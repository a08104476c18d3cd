#!/usr/bin/env python3
"""Draws pairs of texts from an audit for people to judge.

    python3 scripts/draw-pairs.py RUN/samples.csv --count 200 --seed 1 --kind unmodified --out sheet.csv

At most one pair is drawn of each source text, all sources equally likely; of the pairs of a source
the nearest to it, as in reports: with the fewest words changed, of those the most similar. The sheet has a number, x and x', and an empty column for the verdict; long texts are
cut to what surrounds the words that differ from the source or between the sides. Which
strategy found a pair, and what it changed, is not in the sheet. With the same run and the same
seed the sheet is the same.
"""

import argparse
import csv
import difflib
import random
import re
import sys

WHOLE = 500
AROUND = 150
#: What a formula begins with; docs/exports.md says what becomes of such a text.
FORMULA = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")


def original(cell):
    """A text of samples.csv as it was before it was made safe for spreadsheets."""
    return cell[1:] if FORMULA.match(cell) else cell


def words(text):
    return [match.span() for match in re.finditer(r"\S+", text)]


def changed(one, other):
    """Spans of characters in `one` whose words are not those of `other`."""
    spans = words(one)
    matcher = difflib.SequenceMatcher(
        a=[one[a:b] for a, b in spans],
        b=[other[a:b] for a, b in words(other)],
        autojunk=False,
    )
    places = []
    for kind, start, end, _, _ in matcher.get_opcodes():
        if kind != "equal" and spans:
            first = spans[min(start, len(spans) - 1)][0]
            last = spans[max(start, end - 1)][1] if end > start else first
            places.append((first, last))
    return places


def cut(text, places):
    """`text`, or what surrounds `places` where it is long."""
    if len(text) <= WHOLE or not places:
        return text
    pieces = []
    for start, end in sorted((max(0, a - AROUND), min(len(text), b + AROUND)) for a, b in places):
        if pieces and start <= pieces[-1][1]:
            pieces[-1][1] = max(pieces[-1][1], end)
        else:
            pieces.append([start, end])
    shown = " […] ".join(text[a:b] for a, b in pieces)
    return ("… " if pieces[0][0] else "") + shown + (" …" if pieces[-1][1] < len(text) else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("samples", help="samples.csv of an audit of texts (--samples csv)")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=["unmodified", "searched"], required=True)
    parser.add_argument("--out", required=True)
    given = parser.parse_args()
    csv.field_size_limit(sys.maxsize)
    sources = {}
    with open(given.samples, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if (row["l0"] == "0") == (given.kind == "unmodified"):
                sources.setdefault(int(row["source_row"]), []).append(row)
    chosen = sorted(sources)
    random.Random(given.seed).shuffle(chosen)
    nearness = lambda row: (int(row["l0"]), -float(row["similarity"]))
    drawn = [min(sources[source], key=nearness) for source in chosen[: given.count]]
    with open(given.out, "w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(["number", "x", "other", "verdict", "reason"])
        for number, row in enumerate(drawn, 1):
            x, other, source = (original(row[column]) for column in ("x", "other", "text"))
            left = cut(x, changed(x, other) + changed(x, source))
            right = cut(other, changed(other, x) + changed(other, source))
            sheet.writerow([number, left, right, "", ""])
    print(f"{len(drawn)} of {len(sources)} source texts: {given.out}")


if __name__ == "__main__":
    main()
