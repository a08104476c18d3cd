#!/usr/bin/env bash
# Builds the wheel of the Python package into target/wheels; `build-wheel.sh wgpu` one with GPUs.
set -euo pipefail
cd "$(dirname "$0")/.."
PROBITY_FEATURES="$*" python3 -m pip wheel --no-deps --wheel-dir target/wheels ./python
