#!/usr/bin/env bash
# Everything that is measured on a machine with a CUDA device, in one go: the agreement tests, the speed of the engine, JAX beside
# it if it is there, and one audit of 1e12 observations. Run from the repository's root.
#
#   bench/gpu.sh build   here: builds what the device's machine needs into gpu-carry/ (it has no Rust), with PROFILE=tested in a hurry
#   bench/gpu.sh training there: trainings, and the mechanism, with JAX in one go (bench/gpu_training.py)
#   bench/gpu.sh         there: runs it, prints a table, and writes JSON under $OUT if that is set
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = build ]; then
    mkdir -p gpu-carry
    profile="${PROFILE:-release}"
    messages=$(cargo test --profile "$profile" --no-run -p misdeal-cuda --test suite --message-format=json)
    cargo build --profile "$profile" -p misdeal-cli
    cargo build --profile "$profile" -p misdeal-cuda --example samples_per_second --example models_per_second
    target=$(cargo metadata --format-version 1 --no-deps | python3 -c 'import json,sys; print(json.load(sys.stdin)["target_directory"])')
    executable() {
        python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["target"]["name"] == sys.argv[1]:
        print(message["executable"])' "$1"
    }
    cp "$(executable suite <<<"$messages")" gpu-carry/device-tests
    cp "$target/$profile/misdeal" "$target/$profile/examples/"{samples_per_second,models_per_second} gpu-carry/
    strip gpu-carry/{misdeal,device-tests,samples_per_second,models_per_second}
    ls -l gpu-carry
    exit
fi

# The run-time compiler may lie in a toolkit or beside a Python package.
if [ -z "${MISDEAL_NVRTC:-}" ]; then
    found=$(find /usr/local/cuda*/lib64 /usr/local/cuda*/targets/*/lib /usr/lib/x86_64-linux-gnu /opt \
        "$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')" \
        \( -name 'libnvrtc.so.13' -o -name 'libnvrtc.so.12' \) 2>/dev/null | sort -r | head -1 || true)
    [ -n "$found" ] && export MISDEAL_NVRTC="$found"
fi
echo "NVRTC: ${MISDEAL_NVRTC:-where the loader finds it}"
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm --format=csv || true
if [ "${1:-}" = training ]; then
    exec env PYTHONUNBUFFERED=1 python3 bench/gpu_training.py "${2:-290}"
fi
exec env PYTHONUNBUFFERED=1 python3 bench/gpu.py
