#!/usr/bin/env bash
# An audit spread over a Slurm array, for clusters without Ray: each task plays one part into a store of its own, on all cores
# that it is given, and the last command merges the parts. A part that was cut off goes on where it stopped when it is queued again.
#
#   sbatch --array=1-64 --cpus-per-task=16 --requeue --time=1:00:00 examples/slurm.sh
#   sbatch --dependency=afterok:JOB examples/slurm.sh merge
#
# The result is that of the same audit on one machine, bit for bit.
set -euo pipefail
folder="${MISDEAL_RUN:-misdeal-run}"
parts="${SLURM_ARRAY_TASK_COUNT:-${MISDEAL_PARTS:-64}}"
audit=(misdeal audit mechanism --noise-multiplier "${MISDEAL_NOISE:-0.5}" --observations "${MISDEAL_OBSERVATIONS:-1e12}" --device cpu --quiet)
mkdir -p "$folder"
if [[ "${1:-}" == merge ]]; then
    misdeal merge "$folder"/part-*[0-9] --output "$folder/all"
    "${audit[@]}" --store "$folder/all" --resume
    exit
fi
part="$SLURM_ARRAY_TASK_ID"
store="$folder/part-$part"
[[ -e "$store" ]] && audit+=(--resume)
"${audit[@]}" --shard "$part/$parts" --store "$store" --threads "${SLURM_CPUS_PER_TASK:-1}" --format json --output "$store.json"
