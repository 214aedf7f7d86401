#!/usr/bin/env bash
# Tests the Python package as a user gets it: installs it with everything that it works with into an environment of its own under
# target/, and runs pytest. Needs Python 3.10 or later and the network; what is installed already is kept.
#
#   crates/python/test.sh                  all tests, on all cores
#   crates/python/test.sh -k words         arguments go to pytest
set -euo pipefail
cd "$(dirname "$0")/../.."
target="${CARGO_TARGET_DIR:-$PWD/target}"
environment="$target/python-tests"
[[ -x "$environment/bin/python" ]] || "${PYTHON:-python3}" -m venv "$environment"
bin="$environment/bin"
# uv fetches PyTorch's gigabytes in half a minute, where pip takes minutes.
"$bin/pip" install --quiet --disable-pip-version-check uv
install=("$bin/uv" pip install --quiet --python "$bin/python")
"${install[@]}" "maturin>=1.9,<2" pytest pytest-xdist numpy pandas mypy nbclient ipykernel torch opacus ray jax "jax-privacy==2.0.0" datasets selenium \
    lightning transformers accelerate wandb
# The extension is built into the same folder as everything else, so that little is compiled twice.
CARGO_TARGET_DIR="$target" "${install[@]}" --no-build-isolation --no-deps --reinstall-package misdeal \
    --config-settings "build-args=--profile tested" .
CARGO_TARGET_DIR="$target" cargo build --profile tested --quiet -p misdeal-cli
"$bin/mypy" --ignore-missing-imports --disable-error-code import-untyped --python-executable "$bin/python" crates/python/misdeal
CARGO_TARGET_DIR="$target" "$bin/python" -m pytest -q -n auto --dist worksteal -p no:cacheprovider crates/python/tests "$@"
