"""How often honest loaders keep their certainty: 1,000 seeds of shuffling, Poisson sampling, balls-in-bins and sliding buffers.

    python3 bench/honest_loaders.py [--program target/release/misdeal] [--seeds 1000]

Sizes and numbers of epochs vary; all logs are long enough to be certain. Writes bench/runs/honest_loaders.json. Needs NumPy.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import tempfile

import numpy as np

import measuring

SHAPES = [(30, 20), (10, 50), (100, 5), (40, 32), (7, 100), (200, 10)]
EPOCHS = [2, 3, 5, 10]


def epoch_of(scheme, rng, steps, size):
    """The batches of an epoch."""
    records = steps * size
    if scheme == "shuffle":
        return np.split(rng.permutation(records), steps)
    if scheme == "poisson":
        return [np.flatnonzero(rng.random(records) < 1 / steps) for _ in range(steps)]
    if scheme == "balls-in-bins":
        bins = rng.integers(0, steps, records)
        return [np.flatnonzero(bins == step) for step in range(steps)]
    buffer, dealt = list(range(records // 5)), []
    for record in range(records // 5, records):
        slot = rng.integers(len(buffer))
        dealt.append(buffer[slot])
        buffer[slot] = record
    dealt.extend(rng.permutation(buffer))
    return np.split(np.array(dealt), steps)


def judge(program, scheme, seed):
    rng = np.random.default_rng([seed, len(scheme)])
    (steps, size), epochs = SHAPES[seed % len(SHAPES)], EPOCHS[seed // len(SHAPES) % len(EPOCHS)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "log.jsonl")
        with open(path, "w") as log:
            for epoch in range(epochs):
                log.writelines(json.dumps({"epoch": epoch, "batch": batch.tolist()}) + "\n" for batch in epoch_of(scheme, rng, steps, size))
        command = [program, "diagnose", str(path), "--dataset-size", str(steps * size), "--threads", "1", "--format", "json", "--quiet"]
        report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return report["scheme"], report["certain"], steps, size, epochs, report["explanation"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", default=str(measuring.MISDEAL))
    arguments.add_argument("--seeds", type=int, default=1000)
    asked = arguments.parse_args()
    rows, doubted = [], []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for scheme in ("shuffle", "poisson", "balls-in-bins", "stream-shuffle"):
            found = list(pool.map(lambda seed: judge(asked.program, scheme, seed), range(asked.seeds)))
            wrong = sum(name != scheme for name, *_ in found)
            kept = sum(certain and name == scheme for name, certain, *_ in found)
            rows.append({"scheme": scheme, "seeds": asked.seeds, "certain": kept, "share": kept / asked.seeds, "other_name": wrong})
            doubted += [{"scheme": scheme, "seed": seed, "steps": one[2], "batch_size": one[3], "epochs": one[4], "found": one[0], "why": one[5]}
                        for seed, one in enumerate(found) if not one[1] or one[0] != scheme]
            print(rows[-1], flush=True)
    measuring.keep("honest_loaders", rows=rows, doubted=doubted)


if __name__ == "__main__":
    main()
