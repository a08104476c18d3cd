"""Tags texts with spaCy, split as our tokenizer splits them: what crates/text/english/train.py counts.

    python3 crates/text/english/tag.py MODEL SOURCE=FILE:COLUMN... > tagged.tsv

MODEL is the folder of en_core_web_sm. A file is a table with a header, CSV or (.tsv) with tabs and
without quotes, also .gz and .xz. A line of the output is a text: the source, a tab, then
`word\\x01TAG` separated by spaces. Of a text 6,000 characters are read. Needs spacy and regex.
"""

import csv
import gzip
import lzma
import sys

import regex
import spacy
from spacy.tokens import Doc

TOKEN = regex.compile(
    r"'(?:s|m|d|re|ve|ll)\b|\p{N}+(?:[.,]\p{N}+)*\b|[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}\p{N}]+)*|\S",
    regex.I)
CLITIC = regex.compile(r"(?:n't|'(?:s|m|d|re|ve|ll))$", regex.I)
LONGEST = 6000


def split(text):
    """The tokens, each with whether a space follows."""
    text = text.replace("\u2019", "'").replace("<br />", " ")
    for old, new in (("-lrb-", "("), ("-rrb-", ")"), ("``", '"'), ("''", '"')):
        text = text.replace(old, new)
    tokens = []
    for match in TOKEN.finditer(text[:LONGEST]):
        word, end = match.group(), match.end()
        space = end < len(text) and text[end].isspace()
        clitic = CLITIC.search(word)
        if clitic and clitic.start() > 0:
            tokens += [(word[:clitic.start()], False), (word[clitic.start():], space)]
        else:
            tokens.append((word, space))
    return tokens


def texts(source):
    name, _, place = source.partition("=")
    file, _, column = place.rpartition(":")
    open_as = {"gz": gzip.open, "xz": lzma.open}.get(file.rsplit(".", 1)[-1], open)
    with open_as(file, "rt", encoding="utf-8", newline="") as lines:
        tabs = dict(delimiter="\t", quoting=csv.QUOTE_NONE) if ".tsv" in file else {}
        for row in csv.DictReader(lines, **tabs):
            yield name, row[column]


def main():
    csv.field_size_limit(10**9)
    nlp = spacy.load(sys.argv[1], exclude=["parser", "ner", "lemmatizer", "attribute_ruler", "senter"])

    def docs():
        for source in sys.argv[2:]:
            for name, text in texts(source):
                if tokens := split(text):
                    words, spaces = zip(*tokens)
                    yield Doc(nlp.vocab, list(words), list(spaces)), name

    for doc, name in nlp.pipe(docs(), as_tuples=True, batch_size=128):
        pairs = (f"{token.text.replace(' ', '_')}\x01{token.tag_}" for token in doc)
        print(name + "\t" + " ".join(pairs))


if __name__ == "__main__":
    main()
