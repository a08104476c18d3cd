"""Writes dictionary.txt from an unpacked WordNet 3.1 and the exception files of WordNet 3.0.

    python3 crates/text/english/derive.py FOLDER_OF_DATA_AND_INDEX FOLDER_OF_EXC | xz -9e > crates/text/english/dictionary.txt.xz

See crates/text/english/README.md for what the lines hold.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

TOPS, PERSON, ANIMAL, GROUP, PLANT = 3, 18, 5, 14, 20
CLASS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")
# A word stands against another in one of its first senses only: the rare ones mislead.
SENSES_OF_CLUSTERS = 2


def synsets(folder, pos):
    """Of one class: offset, words, pointers (symbol, offset, class, words of both ends), kind."""
    for line in open(folder / f"data.{FILES[pos]}", encoding="utf-8"):
        if line.startswith("  "):
            continue
        field = line.split(" | ")[0].split()
        count = int(field[3], 16)
        words = [re.sub(r"\(\w+\)$", "", word) for word in field[4 : 4 + 2 * count : 2]]
        at = 4 + 2 * count
        pointers = [
            (field[i], int(field[i + 1]), field[i + 2], int(field[i + 3][:2], 16), int(field[i + 3][2:], 16))
            for i in range(at + 1, at + 1 + 4 * int(field[at]), 4)
        ]
        yield int(field[0]), words, pointers, field[2]


def main():
    wordnet, exceptions = Path(sys.argv[1]), Path(sys.argv[2])
    read = {pos: {s[0]: s[1:] for s in synsets(wordnet, pos)} for pos in FILES}

    # Senses: (class, file of the lexicographer, number, uses, synset) of each single word.
    senses = defaultdict(list)
    for line in open(wordnet / "index.sense", encoding="utf-8"):
        key, offset, number, uses = line.split()
        word, rest = key.split("%")
        kind, file = rest.split(":")[:2]
        if WORD.fullmatch(word):
            senses[word].append((CLASS[kind], int(file), int(number), int(uses), int(offset)))

    capitals = defaultdict(set)
    for pos, sets in read.items():
        for words, _, _ in sets.values():
            for word in words:
                capitals[word.lower()].add((pos, word != word.lower()))

    # What "people" covers is of persons, whatever file it lies in.
    people = next(s[4] for s in senses["people"] if s[:3] == ("n", GROUP, 1))
    below, waiting = set(), [people]
    while waiting:
        offset = waiting.pop()
        if offset not in below:
            below.add(offset)
            waiting += [p[1] for p in read["n"][offset][1] if p[0] in ("~", "~i")]

    def is_person(word):
        nouns = sorted((s for s in senses[word] if s[0] == "n"), key=lambda s: s[2])
        if not nouns:
            return False
        human = [s[1] == PERSON or s[4] in below for s in nouns]
        uses = sum(s[3] for s in nouns)
        # The first sense is the most frequent one; where all are counted, most uses decide.
        return 2 * sum(s[3] for s, h in zip(nouns, human) if h) > uses if uses > 4 else human[0]

    # Pairs of opposite clusters of adjectives: 2k is against 2k + 1.
    antonyms, clusters = set(), {}
    for pos, sets in read.items():
        for offset, (words, pointers, _) in sets.items():
            for symbol, other, other_pos, here, there in pointers:
                if symbol != "!":
                    continue
                target = sets[other][0]
                if other_pos.replace("s", "a") == pos and here and there:
                    pair = tuple(sorted((words[here - 1].lower(), target[there - 1].lower())))
                    if all(WORD.fullmatch(word) for word in pair) and pair[0] != pair[1]:
                        antonyms.add(pair)
                if pos == "a":
                    clusters.setdefault(tuple(sorted((offset, other))), len(clusters))
    heads = defaultdict(set)
    for (one, two), number in clusters.items():
        heads[one].add(2 * number)
        heads[two].add(2 * number + 1)
    against = {}
    for offset, (_, pointers, kind) in read["a"].items():
        near = [offset] + [p[1] for p in pointers if p[0] == "&" and kind == "s"]
        against[offset] = set().union(*(heads.get(head, set()) for head in near))

    out, before = [], ""
    for word in sorted(senses):
        cases = capitals[word]
        nouns = [s for s in senses[word] if s[0] == "n"]
        proper = bool(cases) and all(capital for _, capital in cases)
        if proper and nouns and all(s[1] in (ANIMAL, PLANT) for s in nouns):
            continue  # names of genera and families
        code = ""
        for pos in FILES:
            of_class = [s for s in senses[word] if s[0] == pos]
            if of_class:
                code += pos + str(min(9, sum(s[3] for s in of_class).bit_length()))
            if of_class and pos == "n":
                code += chr(ord("a") + min(of_class, key=lambda s: s[2])[1] - TOPS)
        if proper:
            code += "P"
        elif ("n", True) in cases:
            code += "p"
        if is_person(word):
            code += "H"
        sides = sorted(set().union(*(against[s[4]] for s in senses[word]
                                     if s[0] == "a" and s[2] <= SENSES_OF_CLUSTERS), set()))
        code += ";" + ",".join(map(str, sides)) if sides else ""
        shared = 0
        while shared < min(len(word), len(before), 25) and word[shared] == before[shared]:
            shared += 1
        out.append(f"{chr(97 + shared)}{word[shared:]}\t{code}")
        before = word
    out.append("=irregular")
    for pos, name in FILES.items():
        for line in open(exceptions / f"{name}.exc", encoding="utf-8"):
            form, *lemmas = line.split()
            for lemma in lemmas:
                if lemma != form and lemma in senses and WORD.fullmatch(form):
                    out.append(f"{pos}{form} {lemma}")
    out.append("=antonyms")
    out += [f"{one} {two}" for one, two in sorted(antonyms)]
    print("\n".join(out))


if __name__ == "__main__":
    main()
