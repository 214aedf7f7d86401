"""Scores a second of trainings with one canary and with many, on a CUDA device. Called from the repository's root; binaries are in gpu-carry (bench/gpu.sh build).

For each model and threat model it runs `models_per_second` with one canary and with many, and prints both and their ratios. Everything goes to $OUT/gpu-canaries.json. Three repetitions
each; the median counts. With the word `tests`, the device's agreement tests with many canaries run first.
"""

import json
import os
import pathlib
import subprocess
import sys

CARRY = pathlib.Path("gpu-carry")
# Model, threat model, canary's kind, numbers of canaries, models to train with each.
CASES = [
    ("mlp", "worst-case", "dirac", [1, 100], 60_000),
    ("lenet", "worst-case", "dirac", [1, 100], 40_000),
    ("mlp", "partially-informed", "dirac", [1, 100], 40_000),
    ("lenet", "partially-informed", "dirac", [1, 100], 6_000),
    ("mlp", "partially-informed", "null-space", [1, 32], 40_000),
    ("lenet", "partially-informed", "null-space", [1, 50, 85], 4_000),
    ("lenet", "target-canary", "null-space", [1, 50], 4_000),
]


def measured(words):
    """One measurement of models_per_second, or None."""
    done = subprocess.run([str(CARRY / "models_per_second"), *words], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        print(*words, "ended with", done.returncode, done.stderr[-2000:], flush=True)
        return None
    return json.loads(done.stdout)


def main():
    """Runs all cases and keeps what they gave."""
    result = {"machine": "one NVIDIA H200 and 16 processor cores", "commit": os.environ.get("COMMIT", ""), "cases": []}
    if "tests" in sys.argv:
        names = ["c_many_canaries", "c_all_canaries_several_targets_and_debiasing", "a_lenet", "a_perceptrons_on_bits", "e_a_model_does_not_depend_on_its_company"]
        result["tests"] = {}
        for name in names:
            command = [str(CARRY / "device-tests"), "--exact", f"training_device::{name}", "--nocapture"]
            done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MISDEAL_NEEDS_CUDA": "1"}, timeout=200, check=False)
            result["tests"][name] = done.returncode == 0
            print("PASSED" if done.returncode == 0 else f"FAILED {done.stdout[-3000:]} {done.stderr[-2000:]}", name, flush=True)
    for model, threat_model, canary, counts, models in CASES:
        rows = [measured([model, threat_model, canary, f"canaries={count}", f"models={models}"]) for count in counts]
        rows = [row for row in rows if row is not None]
        if not rows:
            continue
        one = rows[0]
        for row in rows:
            scores = row["models_per_second"] * row["canaries"]
            kept = {
                "model": model,
                "threat_model": threat_model,
                "canary": canary,
                "canaries": row["canaries"],
                "models_per_second": row["models_per_second"],
                "scores_per_second": scores,
                "models_beside_one_canary": row["models_per_second"] / one["models_per_second"],
                "scores_beside_one_canary": scores / one["models_per_second"],
                "seconds": row["seconds"],
            }
            result["cases"].append(kept)
            print(
                f"{model:6} {threat_model:19} {canary:10} K = {row['canaries']:3}: {row['models_per_second']:9.0f} models/s, {scores:11.0f} scores/s,"
                f" {kept['models_beside_one_canary']:.2f} and {kept['scores_beside_one_canary']:.1f} times one canary",
                flush=True,
            )
        if os.environ.get("OUT"):
            pathlib.Path(os.environ["OUT"], "gpu-canaries.json").write_text(json.dumps(result, indent=1) + "\n")


main()
