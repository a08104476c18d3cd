#!/usr/bin/env bash
# Builds the wheel of the Python package, with GPUs through wgpu, into target/wheels;
# `build-wheel.sh cuda` and `build-wheel.sh wgpu,cuda` build one with NVIDIA's CUDA.
set -euo pipefail
cd "$(dirname "$0")/.."
PROBITY_FEATURES="${1:-wgpu}" python3 -m pip wheel --no-deps --wheel-dir target/wheels ./python
