#!/usr/bin/env bash
# Fuzzes every parser: campaign.sh EXECUTIONS [SUMMARY.json]
#
# EXECUTIONS are those of each target. Needs nothing but bash and the binary `parsers`, which lies beside this script or is named by PARSERS
# (cargo +nightly fuzz build -O -a --sanitizer none parsers). Further settings, all from the environment:
#   JOBS      processes at a time (all cores)
#   PARTS     processes for each target, which share its executions (1)
#   LIMIT     seconds for each process at most (none)
#   TARGETS   those to fuzz (all that have a corpus)
#   OUT       where logs and findings go (a new temporary folder)
# Ends with 1 if anything crashed, hung or took more than a gigabyte; the summary names the inputs that did it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
executions=${1:?"campaign.sh EXECUTIONS [SUMMARY.json]"}
out=${OUT:-$(mktemp -d -t misdeal-fuzz.XXXXXX)}
summary=${2:-$out/summary.json}
export PARSERS=${PARSERS:-$here/parsers} PARTS=${PARTS:-1} LIMIT=${LIMIT:-0} here out
export RUNS=$(((executions + PARTS - 1) / PARTS))
targets=${TARGETS:-$(ls "$here/corpus")}
mkdir -p "$out"

fuzz_part() {
    local target=$1 part=$2 work=$out/$1.$2 words
    mkdir -p "$work/new" "$work/found"
    case $target in
        *npy | npz) words=npy ;; *toml) words=toml ;; *json* | notebook) words=json ;; python*) words=python ;; *) words= ;;
    esac
    local left=$RUNS start=$SECONDS
    # What is found ends the process; the rest of the executions are made by another, up to twenty times.
    for attempt in {1..20}; do
        local spent=$((SECONDS - start)) time=0
        if ((LIMIT > 0)); then
            time=$((LIMIT - spent))
            ((time > 0)) || break
        fi
        TARGET=$target "$PARSERS" -runs="$left" -max_total_time="$time" -seed="$((100 * attempt + part))" -rss_limit_mb=1024 -timeout=10 -max_len=8192 \
            -verbosity=1 -print_final_stats=1 ${words:+-dict="$here/dictionaries/$words.dict"} -artifact_prefix="$work/found/" \
            "$work/new" "$here/corpus/$target" >"$work/log.$attempt" 2>&1 && break
        local made
        made=$(sed -n 's/^#\([0-9]*\).*/\1/p; s/^stat::number_of_executed_units: *//p' "$work/log.$attempt" | tail -1)
        left=$((left - ${made:-0}))
        ((left > 0)) || break
    done
    echo "$((SECONDS - start))" >"$work/seconds"
}
export -f fuzz_part

for part in $(seq "$PARTS"); do
    for target in $targets; do echo "$target $part"; done
done | xargs -P "${JOBS:-$(nproc)}" -L 1 bash -c 'fuzz_part "$0" "$1"'

# The last number of executions that each process told, over all attempts.
executed() {
    local total=0 log
    for log in "$out/$1".*/log.*; do
        local made
        made=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
        [[ -n $made ]] || made=$(sed -n 's/^#\([0-9]*\).*/\1/p' "$log" | tail -1)
        total=$((total + ${made:-0}))
    done
    echo "$total"
}
all=0 crashes=0 separator=""
{
    echo "{\"targets\": {"
    for target in $targets; do
        made=$(executed "$target")
        found=$(find "$out/$target".*/found -type f | sort)
        seconds=$(cat "$out/$target".*/seconds | paste -sd+ | bc 2>/dev/null || awk '{s += $1} END {print s}' "$out/$target".*/seconds)
        rss=$(sed -n 's/^stat::peak_rss_mb: *//p' "$out/$target".*/log.* | sort -n | tail -1)
        edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$out/$target".*/log.* | sort -n | tail -1)
        names=$(for file in $found; do printf '"%s", ' "${file#"$out/"}"; done)
        printf '%s  "%s": {"executions": %s, "process_seconds": %s, "executions_per_second": %s, "edges": %s, "peak_rss_mb": %s, "findings": [%s]}' \
            "$separator" "$target" "$made" "${seconds:-0}" "$((made / (${seconds:-0} > 0 ? ${seconds:-0} : 1)))" "${edges:-0}" "${rss:-0}" "${names%, }"
        separator=$',\n'
        all=$((all + made))
        [[ -z $found ]] || crashes=$((crashes + $(wc -w <<<"$found")))
    done
    printf '\n}, "executions": %s, "findings": %s, "rss_limit_mb": 1024, "timeout_seconds": 10}\n' "$all" "$crashes"
} >"$summary"
echo "$all executions, $crashes findings: $summary"
((crashes == 0))
