#!/usr/bin/env bash
# What is slow and statistical, in one command: attacks, kills, random settings and coverage, an hour or two on two cores.
# The test suite has a quick version of each: out_of_reach, bad_input, bad_days, engines_agree and coverage.
# usage: bench/nightly.sh [FOLDER for the results, target/nightly if not given]
set -euo pipefail
cd "$(dirname "$0")/.."
results=${1:-target/nightly}
mkdir -p "$results"
cargo build --release
program=$PWD/target/release/misdeal
failures=0
try() {
    echo "== $*"
    "$@" || failures=$((failures + 1))
}
try python3 bench/attack.py --program "$program" --calls 2000
try python3 bench/kills.py --program "$program" --output "$results/kills.json"
try python3 bench/soak.py --minutes 20 --program "$program" --output "$results/soak.json"
try python3 bench/coverage.py --audits 1000 --slow-audits 100 --other-audits 100 --rows "$results/coverage.jsonl"
echo "$failures failed"
exit $((failures > 0))
