#!/usr/bin/env bash
# Renews the two locks that say what the checks install: scripts/renew-locks.sh [PACKAGE…]
#
#   .ci/requirements.txt        Python, from .ci/requirements.in, .ci/excluded.txt and python/pyproject.toml
#   .ci/npm/package-lock.json   npm, from .ci/npm/package.json, whose own versions are changed by hand
#
# Without arguments everything becomes the newest version that fits. With names of Python's packages only these
# do, and all others keep their versions: that is the way after a line of a .in file was added or removed, too
# (`scripts/renew-locks.sh THE-NEW-PACKAGE`). Both locks hold a hash for each file, and no address of a
# registry. They are for CPython 3.11 and later, on any system.
#
# It needs python3, npm and the network. Afterwards run the whole check, and commit both locks with what it
# takes for the tests to pass.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools"
"$tools/bin/pip" install --quiet --disable-pip-version-check uv

newer=(--upgrade)
if [ $# -gt 0 ]; then
    newer=()
    for package in "$@"; do
        newer+=(--upgrade-package "$package")
    done
fi
"$tools/bin/uv" pip compile --quiet --generate-hashes --universal --python-version 3.11 "${newer[@]}" \
    --excludes .ci/excluded.txt --custom-compile-command scripts/renew-locks.sh \
    .ci/requirements.in python/pyproject.toml --extra test --output-file .ci/requirements.txt

[ $# -gt 0 ] || rm -f .ci/npm/package-lock.json
# In a folder of its own, where no `node_modules` is left.
cp .ci/npm/package*.json .ci/npm/.npmrc "$tools"
(cd "$tools" && npm install --silent --package-lock-only)
cp "$tools/package-lock.json" .ci/npm/

if grep -nE -e '--(extra-)?index-url|"resolved"' .ci/requirements.txt .ci/npm/package-lock.json; then
    echo "a lock names a registry" >&2
    exit 1
fi
