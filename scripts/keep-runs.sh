#!/usr/bin/env bash
# Keeps what the command wrote as version VERSION, for the tests of the versions after it:
# scripts/keep-runs.sh VERSION
#
# In tests/data/releases/VERSION it makes small tables, texts and models, and in runs/ a run of each kind that
# docs/stability.md promises to read. Done once for each release, by its own binary (target/release/probity, or
# $PROBITY), and never again: what lies there is what an older version wrote.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?a version, such as 0.1.0}
probity=$(realpath "${PROBITY:-target/release/probity}")
[ "$("$probity" --version)" = "probity $version" ] || { echo "$probity is $("$probity" --version)" >&2; exit 1; }
kept=$PWD/tests/data/releases/$version
[ ! -e "$kept" ] || { echo "$kept is there already" >&2; exit 1; }
# Runs name their files by absolute paths; the tests put another folder in the place of this one.
made=/tmp/probity-$version
mkdir "$made"
trap 'rm -rf "$made"' EXIT
cd "$made"

# A repair that does not help exits with 1, and is a run all the same.
make() { "$probity" "$@" -q >/dev/null || [ $? = 1 ]; }
table=(--data people.csv --schema people.toml)
network=(--model model --data people.csv --protected sex)
texts=(--texts comments.csv --text-column comment_text)

make data generate people --rows 300 --seed 5 --out people.csv
make data generate comments --rows 120 --seed 5 --out comments.csv
make schema infer people.csv --label-column income --protected sex,origin --favourable high --out people.toml
cat > network.toml <<'TOML'
hidden = [6]

[[layout]]
weight = "layers.{n}.weight"
bias = "layers.{n}.bias"
orientation = "in-out"
TOML
make train "${table[@]}" --hidden 6 --epochs 10 --out model
make train "${texts[@]}" --label-column toxic --cell gru --units 2 --layers 1 --epochs 2 --max-length 20 --out text-model
make kmeans fit "${table[@]}" --clusters 3 --out clusters
make spn fit "${table[@]}" --out density
make predict --model model --data people.csv --out predictions.csv

mkdir runs
make audit "${network[@]}" --seeds 20 --local 20 --max-found 30 --estimate 200 --samples csv --out runs/audit
make audit --model text-model "${texts[@]}" --protected country --seeds 5 --local 5 --estimate 20 --out runs/audit-of-texts
make compare "${network[@]}" --strategies adf,frontier --seeds 5 --local 5 --repeats 2 --out runs/compare
make repair --model model --data people.csv --run runs/audit --share 0.1 --repeats 2 --estimate 100 --epochs 2 --save-anyway --out runs/repair
make certify "${network[@]}" --out runs/certify
make prove --model model --protected sex --max-boxes 20 --out runs/prove
make groups --model model --data people.csv --protected sex --out runs/groups
make groups --model text-model "${texts[@]}" --label-column toxic --protected country --resamples 20 --out runs/groups-of-texts
make situations --model model --data people.csv --protected sex=female --k 5 --out runs/situations
make counterparts --model model --data people.csv --protected sex=female --out runs/counterparts
make proxies "${table[@]}" --protected sex=female --out runs/proxies
make knn --train people.csv --test people.csv --inputs 5 --schema people.toml --sweep 1,2 --max-k 5 --folds 3 --out runs/knn
make kmeans bench "${table[@]}" --clusters 3 --deletions 3 --repeats 1 --out runs/kmeans-bench
make spn bench "${table[@]}" --rows 60 --deletions 3 --repeats 1 --out runs/spn-bench
make import --weights model/weights.safetensors --config network.toml --schema people.toml --out runs/import
make outliers budget --ledger budget.toml --data people.csv --epsilon 10 --delta 0.1
make outliers count --data people.csv --columns age --range age=18,67 --radius 0.1 --k 3 --epsilon 1 --delta 0.01 --ledger budget.toml --out runs/outliers-count
make outliers subspaces --data people.csv --columns age,hours_per_week --range age=18,67 --range hours_per_week=0,60 --dims 1 --top 1 --radius 0.1 --k 3 --epsilon 1 --ledger budget.toml --out runs/outliers-subspaces
mkdir -p "$kept"
cp -r . "$kept"
du -sh "$kept"
