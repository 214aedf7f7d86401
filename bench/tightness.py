"""The best valid estimate beside jax-privacy's on the same scores: N(1, 1) against N(0, 1), delta 1e-5, whose epsilon is 4.377.

usage: python3 bench/tightness.py [--seeds 100] [--large-seeds 100]     needs numpy and jax-privacy==2.0.0

For 1e5, 1e6 and (large) 1e7 scores in total: means over the seeds of misdeal's band and hold-out and of jax-privacy's Clopper-Pearson bound with
Bonferroni's correction, and the number of seeds in which the band is the larger.
"""
import argparse
import statistics
import tempfile
from pathlib import Path

import numpy as np
from jax_privacy import auditing

import measuring

DELTA, SIGNIFICANCE, TRUTH = 1e-5, 0.05, 4.377


def estimates(folder, seed, count):
    generator = np.random.default_rng([seed, count])
    scores = {world: generator.standard_normal(count // 2) + mean for world, mean in (("in", 1.0), ("out", 0.0))}
    for world, values in scores.items():
        np.save(folder / f"{world}.npy", values)

    def ours(choice):
        return measuring.misdeal("estimate", "--scores-in", folder / "in.npy", "--scores-out", folder / "out.npy", "--delta", DELTA,
                                 "--significance", SIGNIFICANCE, "--threshold-choice", choice)["empirical_epsilon"]

    peer = auditing.CanaryScoreAuditor(scores["in"], scores["out"]).epsilon_clopper_pearson(SIGNIFICANCE, DELTA)
    return {"band": ours("band"), "hold-out": ours("hold-out"), "jax-privacy": float(peer)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--large-seeds", type=int, default=100)
    options = parser.parse_args()
    measuring.build()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for count in (100_000, 1_000_000, 10_000_000):
            seeds = options.large_seeds if count == 10_000_000 else options.seeds
            found = [estimates(Path(folder), seed, count) for seed in range(seeds)]
            row = {"observations": count, "seeds": seeds, "true_epsilon": TRUTH,
                   **{name: {"mean": statistics.mean(one[name] for one in found), "standard_deviation": statistics.stdev(one[name] for one in found)}
                      for name in found[0]},
                   "band_above_jax_privacy": sum(one["band"] > one["jax-privacy"] for one in found),
                   "band_above_the_truth": sum(one["band"] > TRUTH for one in found)}
            rows.append(row)
            print(f"{count:.0e} scores: " + ", ".join(f"{name} {row[name]['mean']:.3f}" for name in found[0])
                  + f"; the band is larger in {row['band_above_jax_privacy']} of {seeds}", flush=True)
    measuring.keep("tightness", delta=DELTA, significance=SIGNIFICANCE, rows=rows)


if __name__ == "__main__":
    main()
