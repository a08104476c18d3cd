#!/usr/bin/env bash
# Packs the command with completions, manual pages and the licences of all that it is made of:
# scripts/pack-command.sh VERSION FOLDER puts probity-VERSION-ARCHITECTURE-SYSTEM.tar.gz into FOLDER.
# It builds the command, unless PROBITY names one.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1
folder=$2
program=${PROBITY:-${CARGO_TARGET_DIR:-target}/release/probity}
# With the extension module of the wheel it has all libraries in common, which are then built already.
[ -n "${PROBITY:-}" ] || cargo build --release --locked -p probity -p probity-python
[ -f "$program" ] || program=$program.exe
target=$(rustc -vV | sed -n 's/^host: //p')
case $target in
    *-linux-*) system=linux ;;
    *-apple-*) system=macos ;;
    *-windows-*) system=windows ;;
    *) system=${target#*-} ;;
esac
name=probity-$version-${target%%-*}-$system

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
inside=$tools/$name
mkdir -p "$inside/completions" "$inside/man/man1"
cp "$program" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$inside"
for shell in bash elvish fish powershell zsh; do
    "$program" completions "$shell" > "$inside/completions/probity.$shell"
done
# Every command has a heading in the reference.
# shellcheck disable=SC2016  # Nothing expands.
sed -n 's/^## `\(probity.*\)`$/\1/p' docs/reference.md | while read -r command; do
    # shellcheck disable=SC2086  # A command is several words.
    "$program" man ${command#probity} > "$inside/man/man1/${command// /-}.1"
done
python3 scripts/licences.py --target "$target" > "$inside/THIRD-PARTY-LICENCES.txt"
tar -czf "$folder/$name.tar.gz" -C "$tools" "$name"
echo "$folder/$name.tar.gz"
