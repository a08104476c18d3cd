#!/usr/bin/env bash
# Makes what a release is made of, on Linux, in target/release-VERSION: scripts/release.sh VERSION
#
#   probity_audit-VERSION-cp310-abi3-….whl       the wheel that the checks build, named by what it runs on
#   probity_audit-VERSION.tar.gz                 the source distribution
#   probity-VERSION-x86_64-linux.tar.gz          the command, completions, manual pages, licences
#   probity-VERSION.cdx.json                     the bill of materials of all of them, CycloneDX
#   NOTES.md                                     the part of the changelog
#   crates/                                      a package of every published crate, each compiled from itself
#   SHA256SUMS
#
# The checkout must be clean, and VERSION the one that Cargo.toml and the changelog name. It does no check but
# building: `.ci/run` comes before, and spares it most of the time.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?a version, such as 0.1.0}
fail() { echo "$1" >&2; exit 1; }

[ -z "$(git status --porcelain)" ] || fail "the checkout is not clean"
declared=$(cargo pkgid -p probity | sed 's/.*[#@]//')
[ "$declared" = "$version" ] || fail "Cargo.toml says $declared"
notes=$(awk -v version="$version" '/^## /{ inside = $2 == version; next } inside' CHANGELOG.md)
[ -n "$notes" ] || fail "CHANGELOG.md has no part '## $version'"

out=target/release-$version
rm -rf "$out"
mkdir -p "$out"
echo "$notes" > "$out/NOTES.md"

.ci/run wheel
cp target/checked-wheel/*.whl "$out"
export PATH=$PWD/target/python/bin:$PATH
(cd python && PYTHONPATH=backend python -c "import build_probity; build_probity.build_sdist('../$out')")
python scripts/bill-of-materials.py "$out"/*.whl > "$out/probity-$version.cdx.json"
scripts/pack-command.sh "$version" "$out"

unpublished=$(cargo metadata --no-deps --format-version 1 | python -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] == []:
        print("--exclude", package["name"])')
# shellcheck disable=SC2086  # These are several words.
cargo package --workspace --locked $unpublished
mkdir "$out/crates"
cp target/package/*-"$version".crate "$out/crates"

sums=$(cd "$out" && find . -type f -printf '%P\n' | LC_ALL=C sort | xargs sha256sum)
echo "$sums" > "$out/SHA256SUMS"
ls -l "$out"
