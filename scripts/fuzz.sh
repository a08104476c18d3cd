#!/usr/bin/env bash
# Gives broken input to every reader for so many hours: scripts/fuzz.sh HOURS [OPTIONS of `run`].
# What it finds is in target/fuzz, and is run again by `target/release/probity-fuzz replay`.
set -euo pipefail
cd "$(dirname "$0")/.."
hours=${1:?hours, such as 8 or 0.5}
shift
cargo build --release --bins
exec target/release/probity-fuzz run --minutes "$(awk "BEGIN { print 60 * $hours }")" "$@"
