"""Estimation alone: scores in memory to epsilon, beside NumPy.

usage: python3 bench/estimation.py [SCORES_PER_WORLD]     needs numpy and scipy; 1e8 takes 12 GB of memory and 2 GB of disk

NumPy sorts the scores and evaluates Clopper-Pearson bounds at 6,000 chosen thresholds; misdeal finds the exact maximum over
all thresholds (`exact`), or over the edges of its grid (`counts`, where the counting was done while the scores were drawn).
"""
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.stats import beta

import measuring

DELTA, SIGNIFICANCE = 1e-5, 0.05


def upper(k, n):
    return np.where(k >= n, 1.0, beta.ppf(1 - SIGNIFICANCE / 2, k + 1, np.maximum(n - k, 1)))


def numpy_chosen_thresholds(scores_in, scores_out, thresholds=6000):
    n = len(scores_in)
    scores_in, scores_out = np.sort(scores_in), np.sort(scores_out)
    # Half of them spread evenly over the ranks, half over the two tails, where the best threshold tends to be.
    ranks = np.unique(np.concatenate([
        np.linspace(0, n - 1, thresholds // 2).astype(int),
        np.geomspace(1, n - 1, thresholds // 4).astype(int),
        n - 1 - np.geomspace(1, n - 1, thresholds // 4).astype(int),
    ]))
    candidates = scores_out[ranks]
    false_positives = n - np.searchsorted(scores_out, candidates, side="left")
    false_negatives = np.searchsorted(scores_in, candidates, side="left")
    fpr, fnr = upper(false_positives, n), upper(false_negatives, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = np.log((1 - fpr - DELTA) / fnr), np.log((1 - fnr - DELTA) / fpr)
    return max(np.nanmax(one), np.nanmax(other), 0.0)


def main():
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000_000
    measuring.build()
    generator = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        scores_in = generator.standard_normal(n) + 0.5
        scores_out = generator.standard_normal(n) - 0.5
        np.save(folder / "in.npy", scores_in)
        np.save(folder / "out.npy", scores_out)
        times, epsilons = {}, {}

        def note(name, seconds, epsilon):
            times.setdefault(name, []).append(seconds)
            epsilons[name] = epsilon

        # A store of as many scores of the same law: fixed order, noise multiplier 1.
        store = ["audit", "mechanism", "--scheme", "fixed-order", "--observations", 2 * n, "--store", folder / "counts"]
        store += ["--threshold-choice", "max", "--threads", 1]
        measuring.misdeal(*store)
        for _ in range(3):
            start = time.perf_counter()
            epsilon = numpy_chosen_thresholds(scores_in, scores_out)
            note("numpy, 6000 chosen thresholds", time.perf_counter() - start, epsilon)
            report = measuring.misdeal(
                "estimate", "--scores-in", folder / "in.npy", "--scores-out", folder / "out.npy",
                "--threshold-choice", "max", "--threads", 1,
            )
            note("misdeal exact", report["seconds"], report["empirical_epsilon"])
            report = measuring.misdeal(*store, "--resume")
            note("misdeal counts", report["seconds"], report["empirical_epsilon"])
    best = {name: min(values) for name, values in times.items()}
    print(f"{n:.0e} scores a world, one thread, seconds from scores to epsilon:")
    for name, value in best.items():
        print(f"  {name:32} {value:8.3f}   {best['numpy, 6000 chosen thresholds'] / value:6.1f} times as fast as numpy   epsilon {epsilons[name]:.4f}")
    measuring.keep("estimation", scores_per_world=n, unit="seconds", best=best, rounds=times, epsilons=epsilons)


main()
