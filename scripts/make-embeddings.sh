#!/usr/bin/env bash
# Makes the word vectors that ship, crates/text/embeddings/comments.50d.txt.xz, from generated comments. A program that was
# built with another table makes the same one: neither step reads it.
set -euo pipefail
cd "$(dirname "$0")/.."

probity=${PROBITY:-target/release/probity}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$probity" data generate comments --rows 40000 --seed 1 --out "$folder/comments.csv"
"$probity" embeddings train "$folder/comments.csv" --text-column comment_text \
    --width 50 --min-count 2 --epochs 50 --digits 4 --seed 1 --force --out crates/text/embeddings/comments.50d.txt.xz
