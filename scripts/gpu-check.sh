#!/usr/bin/env bash
# Holds a GPU against the CPU of the same machine, and prints the rows of a table for
# docs/benchmarks.md: what takes how long on each, and whether both come to the same.
#
#   scripts/gpu-check.sh [PROBITY [DEVICE [TESTS]]]
#
# PROBITY is the command, built with `--features cuda` or `--features wgpu`, by default
# target/release/probity. DEVICE is by default the first of cuda and wgpu that answers. TESTS is the
# test program networks_on_devices of such a build, if it is at hand:
#   cargo test --release --workspace --features probity-tensor/cuda --test networks_on_devices --no-run
# Nothing else is needed than bash, awk and the usual programs of Linux: no compiler, no network. All
# steps together end after eight minutes. GPU_CHECK_SCALE=0.001 makes the inputs as much smaller, to
# try the script; with DEVICE flex it then needs no GPU.
# The functions that compare two runs are called by their names.
# shellcheck disable=SC2317
set -euo pipefail
# Seconds with a point, whatever the language.
export LC_ALL=C
cd "$(dirname "$0")/.."
probity=$(realpath "${1:-target/release/probity}")
tests=${3:+$(realpath "$3")}
scale=${GPU_CHECK_SCALE:-1}
ends=$((SECONDS + 480))
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Whole numbers in proportion to the scale, at least $2.
scaled() { awk -v n="$1" -v least="$2" -v scale="$scale" 'BEGIN { n = int(n * scale); print (n < least) ? least : n }'; }
# The first number called $2 in the file $1, behind the line with $3.
number() { awk -v name="\"$2\":" -v behind="${3:-}" 'index($0, behind) { on = 1 } on && $1 == name { gsub(",", "", $2); print $2; exit }' "$1"; }
answers() { "$probity" devices --json | awk -v name="\"$1\"," '$2 == name { on = 1 } on && $1 == "\"answers\":" { exit $2 == "true," ? 0 : 1 }'; }

device=${2:-}
for name in cuda wgpu; do
  if [ -z "$device" ] && answers "$name"; then device=$name; fi
done
if [ -z "$device" ] || ! answers "$device"; then
  echo "no GPU answers: build with --features cuda or wgpu, and see probity devices" >&2
  exit 3
fi
says=$("$probity" devices --json | awk -v name="\"$device\"," '$2 == name { on = 1 } on && $1 == "\"says\":" { gsub(/.*": "|".*/, ""); print; exit }')

# Runs the command behind $1 for at most what is left of the time, and prints its seconds.
timed() {
  local log=$1 left=$((ends - SECONDS)) begun=$EPOCHREALTIME
  shift
  if [ "$left" -lt 1 ]; then echo "no time left"; return 1; fi
  if timeout "$left" "$@" > "$log" 2>&1; then
    awk -v from="$begun" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.2f", to - from }'
  else
    echo "failed: $(tail -n 1 "$log" | cut -c 1-120)"
    return 1
  fi
}

row() { echo "| $1 | $2 | $3 | $4 |"; }

# Whether all files of two runs but what they tell of themselves are the same.
same() {
  local file name
  for file in "$1"/*; do
    name=$(basename "$file")
    case $name in run.toml | summary.json | provenance.toml) continue ;; esac
    if ! cmp -s "$file" "$2/$name"; then echo "**$name differs**"; return 1; fi
  done
  echo "same bytes"
}

# Does a step $1 on both devices; $2 is the function that compares the two runs, the rest the command.
both() {
  local what=$1 compare=$2 here there verdict
  shift 2
  rm -rf flex there
  here=$(timed flex.log "$probity" "$@" --device flex --out flex) || failed=1
  there=$(timed there.log "$probity" "$@" --device "$device" --out there) || failed=1
  if [ -f flex/summary.json ] && [ -f there/summary.json ] || [ -d flex ] && [ -d there ]; then
    verdict=$("$compare" flex there) || failed=1
  else
    verdict="-"
  fi
  row "$what" "$here" "$there" "$verdict"
}

# The losses of two trainings, and whether they are near each other.
losses() {
  local here there
  here=$(awk '$1 == "\"loss\":" { gsub(",", "", $2); loss = $2 } END { print loss }' "$1/summary.json")
  there=$(awk '$1 == "\"loss\":" { gsub(",", "", $2); loss = $2 } END { print loss }' "$2/summary.json")
  if awk -v a="$here" -v b="$there" 'BEGIN { d = a - b; exit (d < 0.02 && d > -0.02) ? 0 : 1 }'; then
    printf 'losses %.4f and %.4f' "$here" "$there"
  else
    printf '**losses %.4f and %.4f**' "$here" "$there"
    return 1
  fi
}

# What two audits checked in a second, and how many finds of the device the CPU did not confirm.
searches() {
  local here there unconfirmed
  here=$(number "$1/summary.json" checks_per_second '"total"')
  there=$(number "$2/summary.json" checks_per_second '"total"')
  unconfirmed=$(number "$2/summary.json" unconfirmed '"total"')
  awk -v a="$here" -v b="$there" -v u="$unconfirmed" 'BEGIN { printf "%.0f and %.0f checks a second; %d not confirmed", a, b, u }'
}

echo "$("$probity" --version), $(nproc) cores of $(awk -F ': ' '/model name/ { print $2; exit }' /proc/cpuinfo), $device: $says, $(date -u +%Y-%m-%d), scale $scale"
echo
echo "| work | CPU (flex), s | $device, s | both |"
echo "|---|--:|--:|---|"
if [ -n "$tests" ]; then
  taken=$(PROBITY_REQUIRE=device timed tests.log "$tests") || failed=1
  row "networks of all kinds: answers, gradients, losses and bits (\`networks_on_devices\`)" "" "$taken" "$(tail -n 2 tests.log | head -n 1 | cut -c 1-60)"
fi

"$probity" data generate people --rows "$(scaled 50000 2000)" --out people.csv -q > log
"$probity" schema infer people.csv --label-column income --protected sex,origin --out people.toml -q > log
both "training a network for tables, 5 epochs" losses train --data people.csv --schema people.toml --epochs 5 -q
mv flex model || true
seeds=$(scaled 100000 50)
both "audit, sex, $seeds seeds and 1,000 trials, 60 s at most" searches audit --model model --data people.csv --protected sex --seeds "$seeds" --local "$(scaled 1000 50)" --time 60s -q
"$probity" audit --model model --data people.csv --protected sex --seeds 20 --local 1 --out chosen > log 2> chosen.log
chosen=$(sed -n 's/^note: device //p' chosen.log)
row "what \`auto\` takes for that network" "" "" "${chosen:-flex: no GPU is asked}"

"$probity" data generate comments --rows "$(scaled 20000 400)" --out comments.csv -q > log
texts=(--texts comments.csv --text-column comment_text --label-column toxic --epochs 1 -q)
both "training an LSTM, one epoch" losses train "${texts[@]}" --cell lstm --embeddings shipped
both "training a transformer, one epoch" losses train "${texts[@]}" --blocks 2
mv flex transformer || true
both "audit of the transformer, 40 texts" searches audit --model transformer --texts comments.csv --text-column comment_text --protected gender --seeds 40 --local 20 --time 30s -q

rows=$(scaled 10000000 3000)
cores=$(nproc)
for ((part = 0; part < cores; part++)); do
  awk -v seed="$part" -v rows="$((rows / cores + 1))" 'BEGIN {
    srand(seed + 1)
    for (row = 0; row < rows; row++) {
      line = ""
      for (column = 0; column < 25; column++) line = line (column ? "," : "") int(1000 * (rand() + row % 10))
      print line
    }
  }' > "part.$part" &
done
wait
{ awk 'BEGIN { for (c = 1; c <= 25; c++) printf("%sx%d", (c > 1 ? "," : ""), c); print "" }'; cat part.*; } > rows.csv
rm part.*
both "k-means, $rows × 25, quantized, 10 clusters" same kmeans fit --data rows.csv --bounds 0,11000 --algorithm quantized --clusters 10 -q
both "sum-product network of people" same spn fit --data people.csv --schema people.toml -q
exit "$failed"
