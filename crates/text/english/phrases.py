"""Writes phrases.bin: which words stand in threes in general English.

    python3 crates/text/english/phrases.py en-us.lm.bin > crates/text/english/phrases.bin

The trigrams come from the general language model of CMU Sphinx (see crates/text/english/README.md), in the binary
form of its tries: a table of words, then for each word the words before it, then those before both.
Needs numpy and xxhash.
"""

import re
import struct
import sys

import numpy as np
import xxhash

NAME = b"Trie Language Model"
# Probabilities are powers of it, and quantized to two bytes.
BASE, STEPS = 1.0001, 1 << 16
# Trigrams as likely as this or more, in natural logarithms.
LEAST = -17.0
# Words so frequent stay as they are: of three such ones nothing is to be known.
FREQUENT = 200
# Numbers are below 2^26, so that what was never seen is taken for a phrase once in 100 times.
BITS = 26
WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
SPLIT = re.compile(r"(?=n't$)|(?='(?:s|re|ve|ll|d|m)$)")


def field(data, entries, width, at, bits):
    """A number of `bits` at bit `at` of each of `entries` of `width` bits."""
    start = entries.astype(np.uint64) * np.uint64(width) + np.uint64(at)
    byte = (start >> np.uint64(3)).astype(np.int64)
    value = np.zeros(len(entries), np.uint64)
    for place in range(8):
        value |= data[byte + place].astype(np.uint64) << np.uint64(8 * place)
    return ((value >> (start & np.uint64(7))) & np.uint64((1 << bits) - 1)).astype(np.int64)


def read(path):
    """Words, the logarithms of their probabilities, and trigrams with those of theirs."""
    data = open(path, "rb").read()
    order, words, pairs, triples = struct.unpack("<B3I", data[len(NAME) : len(NAME) + 13])
    if data[: len(NAME)] != NAME or order != 3:
        sys.exit(f"{path}: no trigram model of CMU Sphinx")
    at = len(NAME) + 13 + 4
    tables = np.frombuffer(data, "<f4", 3 * STEPS, at).astype(float) * np.log(BASE)
    at += 12 * STEPS
    single = np.frombuffer(data, np.dtype([("p", "<f4"), ("rest", "<f4"), ("next", "<u4")]), words + 1, at)
    at += 12 * (words + 1)
    of_word, of_next = words.bit_length(), triples.bit_length()
    width = of_word + 32 + of_next
    size = ((1 + pairs) * width + 7) // 8 + 8
    bits, every = np.frombuffer(data, np.uint8, size, at), np.arange(int(single["next"][-1]))
    two = field(bits, every, width, 0, of_word)
    of_two = tables[:STEPS][field(bits, every, width, of_word, 32) >> 16]
    after = field(bits, np.arange(len(every) + 1), width, of_word + 32, of_next)
    at += size
    width = of_word + 16
    size = ((1 + triples) * width + 7) // 8 + 8
    bits, every = np.frombuffer(data, np.uint8, size, at), np.arange(int(after[-1]))
    three = field(bits, every, width, 0, of_word)
    of_three = tables[2 * STEPS :][field(bits, every, width, of_word, 16)]
    names = data[at + size + 4 :].split(b"\0")[:words]
    names = [name.decode("latin1") for name in names]
    last = np.repeat(np.arange(words), np.diff(single["next"].astype(np.int64)[: words + 1]))
    place = np.repeat(np.arange(len(two)), np.diff(after))
    alone = single["p"][:words] * np.log(BASE)
    rest = single["rest"][:words] * np.log(BASE)
    # p(abc) = p(a) p(b | a) p(c | a b); where b after a is not there, the model backs off.
    key = last * words + two
    wanted = two[place] * words + three
    found = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    second = np.where(key[found] == wanted, of_two[found], rest[three] + alone[two[place]])
    return names, alone, np.stack([three, two[place], last[place]], 1), alone[three] + second + of_three


def main():
    names, alone, triples, likely = read(sys.argv[1])
    is_word = np.array([bool(WORD.fullmatch(name)) for name in names])
    is_rare = np.ones(len(names), bool)
    is_rare[np.argsort(-alone)[:FREQUENT]] = False
    kept = is_word[triples].all(1) & is_rare[triples].any(1) & (likely >= LEAST)
    tokens = [SPLIT.split(name) for name in names]
    numbers = set()
    for triple in triples[kept]:
        words = [token for word in triple for token in tokens[word]]
        for at in range(len(words) - 2):
            hashed = xxhash.xxh3_64_intdigest(" ".join(words[at : at + 3]).encode())
            numbers.add(hashed >> 64 - BITS)
    out, before = bytearray(), 0
    for number in sorted(numbers):
        step, before = number - before, number
        out += b"\xff" * (step // 255) + bytes([step % 255])
    sys.stdout.buffer.write(out)
    print(f"{kept.sum()} trigrams, {len(numbers)} numbers, {len(out)} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
