"""Is shuffling's epsilon closer to Poisson sampling's than to that of no shuffling? A map over noise, steps and epochs.

usage: python3 bench/closeness.py        MISDEAL names the program to use, else it is built; docs/figures.py draws the map

Each point asks `misdeal account` for Poisson sampling and no shuffling (upper bounds) and for shuffling (lower bound). `share` is how far
shuffling is proven to lie on the way from the first to the second, and null where Poisson sampling leaks more than no shuffling. The sentence is
false where `share` is null or above one half.
"""
import concurrent.futures
import json
import math
import os
import subprocess

import measuring

NOISE = [0.5, 0.6, 0.7, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0]
STEPS = [10, 30, 100, 300, 1000, 3000, 10000]
EPOCHS = [1, 10, 100]
DELTA = 1e-5
SCHEMES = ["poisson", "shuffle", "fixed-order"]


def bounds(program, noise, steps, epochs, scheme):
    command = [program, "account", "--noise-multiplier", noise, "--steps-per-epoch", steps, "--epochs", epochs, "--delta", DELTA,
               "--scheme", scheme, "--format", "json", "--quiet"]
    done = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["schemes"][scheme]


def rounded(number, towards):
    return towards(number * 1e4) / 1e4


def point(program, epochs, noise, steps):
    poisson, shuffle, worst = (bounds(program, noise, steps, epochs, scheme) for scheme in SCHEMES)
    low, high = poisson["epsilon_upper_bound"], worst["epsilon_upper_bound"]
    lower = shuffle["epsilon_lower_bound"]
    share = rounded((lower - low) / (high - low), math.floor) if low < high else None
    return {"epochs": epochs, "noise_multiplier": noise, "steps_per_epoch": steps, "poisson_at_most": rounded(low, math.ceil),
            "shuffle_at_least": rounded(lower, math.floor), "no_shuffling_at_most": rounded(high, math.ceil), "share": share}


def main():
    program = os.environ.get("MISDEAL")
    if program is None:
        measuring.build()
    program = program or measuring.MISDEAL
    points = [(epochs, noise, steps) for epochs in EPOCHS for noise in NOISE for steps in STEPS]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        rows = list(pool.map(lambda each: point(program, *each), points))
    measuring.keep("closeness", delta=DELTA, rows=rows)


if __name__ == "__main__":
    main()
