"""Writes tagging.txt from tagged texts: what crates/text/english/README.md says the tagger knows.

    python3 crates/text/english/train.py TAGGED... | xz -9e > crates/text/english/tagging.txt.xz

A line of a tagged file is a text: its source, a tab, then `word\\x01TAG` separated by spaces. Every
tenth text is left out: it measures what the others teach.
"""

import math
import re
import sys
from collections import Counter, defaultdict

# The order of `Tag` in crates/text/src/english/tag.rs.
TAGS = ("NN NNS NNP NNPS VB VBD VBG VBN VBP VBZ JJ JJR JJS RB RBR RBS PRP PRP$ DT PDT IN RP CC TO "
        "MD CD WDT WP WP$ WRB EX POS UH . , : X").split()
NUMBER = {tag: i for i, tag in enumerate(TAGS)}
OPEN = {"NN", "NNS", "NNP", "NNPS", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "JJ", "JJR", "JJS",
        "RB", "RBR", "RBS", "UH"}
FOREIGN = {"ADD", "AFX", "FW", "GW", "LS", "XX", "_SP"}
STEP, LAST = 0.125, 90
LEAST_LOWER, LEAST_CAPITAL, RARE, LEAST_SUFFIX = 5, 12, 8, 20


def tag_of(word, tag):
    if not any(c.isalnum() for c in word) and word != "&":
        return "." if word in ".!?" else "," if word == "," else ":"
    if tag in FOREIGN or tag not in NUMBER or tag in (".", ",", ":"):
        return "X"
    return tag


def case_of(word):
    letters = [c for c in word if c.isalpha()]
    if not letters or not letters[0].isupper():
        return 0
    return 2 if len(letters) > 1 and all(c.isupper() for c in letters) else 1


def level(probability):
    return chr(33 + min(LAST, round(-math.log(max(probability, 1e-12)) / STEP)))


def shares(counts, least):
    total = sum(counts.values())
    kept = [(t, n) for t, n in counts.most_common() if n >= least and n / total >= 0.003] or \
        counts.most_common(1)
    whole = sum(n for _, n in kept)
    return "".join(chr(33 + NUMBER[t]) + level(n / whole) for t, n in kept)


def main():
    one, two, three = Counter(), Counter(), Counter()
    lower, capital = defaultdict(Counter), defaultdict(Counter)
    cases = defaultdict(Counter)
    for file in sys.argv[1:]:
        for number, line in enumerate(open(file, encoding="utf-8")):
            pairs = [p.split("\x01") for p in line.rstrip("\n").split("\t", 1)[1].split(" ")]
            pairs = [(p[0], tag_of(p[0], p[1])) for p in pairs if len(p) == 2]
            words = {word for word, _ in pairs}
            if number % 10 == 0 or len(pairs) > 40 and len(words) < 0.3 * len(pairs):
                continue
            letters = [word for word, _ in pairs if len(word) > 1 and word.isalpha()]
            if sum(word.isupper() for word in letters) > 0.4 * len(letters):
                continue
            mixed = any(case_of(word) for word, _ in pairs)
            a = b = "."
            for word, tag in pairs:
                one[tag] += 1
                two[b, tag] += 1
                three[a, b, tag] += 1
                initial = b in (".", ":")
                if any(c.isalpha() for c in word):
                    lower[word.lower()][tag] += 1
                    if mixed:
                        cases[initial, tag][case_of(word)] += 1
                        if case_of(word) and not initial:
                            capital[word][tag] += 1
                a, b = b, tag

    total = sum(one.values())
    # Deleted interpolation (Brants, 2000): each trigram votes for the order that foretells it best.
    votes = [0, 0, 0]
    ones = Counter()
    pairs_before = Counter()
    for (a, b), n in two.items():
        ones[a] += n
    for (a, b, c), n in three.items():
        pairs_before[a, b] += n
    for (a, b, c), n in three.items():
        ratio = lambda part, whole: (part - 1) / (whole - 1) if whole > 1 else 0
        by = [ratio(one[c], total), ratio(two[b, c], ones[b]), ratio(n, pairs_before[a, b])]
        votes[by.index(max(by))] += n
    weights = [v / sum(votes) for v in votes]

    print("=tags")
    print(" ".join(TAGS))
    print("".join(level(one[tag] / total) for tag in TAGS))
    print("=cases")
    for initial in (False, True):
        for tag in TAGS:
            n = cases[initial, tag]
            print("".join(level((n[case] + 0.5) / (sum(n.values()) + 1.5)) for case in range(3)))
    print("=transitions")
    for a in TAGS:
        for b in TAGS:
            print("".join(level(weights[0] * one[c] / total
                                + weights[1] * two[b, c] / max(1, ones[b])
                                + weights[2] * three[a, b, c] / max(1, pairs_before[a, b]))
                          for c in TAGS))

    def entries(table):
        before = ""
        for word, text in sorted(table.items(), key=lambda entry: entry[0].encode()):
            shared = 0
            while shared < min(len(word), len(before), 25) and word[shared] == before[shared]:
                shared += 1
            yield f"{chr(97 + shared)}{word[shared:]}\t{text}"
            before = word

    words = {}
    for table, least in ((lower, LEAST_LOWER), (capital, LEAST_CAPITAL)):
        for word, counts in table.items():
            n = sum(counts.values())
            # Stretched words (`soooo`) are read as the words they stretch.
            if n >= least and word.isascii() and not re.search(r"(.)\1\1", word):
                words[word] = chr(48 + min(20, n.bit_length())) + shares(counts, 1 if n < 16 else 2)
    print("=words")
    print("\n".join(entries(words)))

    by_suffix = defaultdict(Counter)
    for word, counts in lower.items():
        if sum(counts.values()) <= RARE and word.isascii() and word.isalpha() and len(word) > 3:
            for length in range(0, min(5, len(word) - 2) + 1):
                for tag, n in counts.items():
                    if tag in OPEN:
                        by_suffix[word[len(word) - length:]][tag] += n
    smoothed, table = {}, {}
    for suffix in sorted(by_suffix, key=len):
        counts = by_suffix[suffix]
        n = sum(counts.values())
        if suffix and (n < LEAST_SUFFIX or suffix[1:] not in smoothed):
            continue
        shorter = smoothed.get(suffix[1:], {}) if suffix else {}
        mix = 0.15 if shorter else 0
        smoothed[suffix] = {t: (counts[t] / n + mix * shorter.get(t, 0)) / (1 + mix)
                            for t in set(counts) | set(shorter)}
        kept = {t: p for t, p in smoothed[suffix].items() if p >= 0.004}
        longer = smoothed.get(suffix[1:]) if suffix else None
        # A suffix that says what the shorter one says is left out.
        if longer and sum(abs(p - longer.get(t, 0)) for t, p in smoothed[suffix].items()) < 0.1:
            continue
        table[suffix[::-1]] = "".join(
            chr(33 + NUMBER[t]) + level(p) for t, p in sorted(kept.items(), key=lambda e: (-e[1], e[0])))
    print("=suffixes")
    print("\n".join(entries(table)))


if __name__ == "__main__":
    main()
