"""Estimators beside jax-privacy on the same scores: seconds from scores in memory to epsilon.

usage: python3 bench/estimators.py     needs numpy and jax-privacy==2.0.0 (left out if it is not installed)

Two normal laws one standard deviation apart: 1e7 scores for Clopper-Pearson (the peer's constructor and estimate with Bonferroni,
misdeal's band), 1e6 for one-run and for the joint Bayesian estimate.
"""
import tempfile
import time
from pathlib import Path

import numpy as np

import measuring

DELTA, SIGNIFICANCE = 1e-5, 0.05


def ours(folder, estimator, choice):
    report = measuring.misdeal(
        "estimate", "--scores-in", folder / "in.npy", "--scores-out", folder / "out.npy", "--estimator", estimator,
        "--threshold-choice", choice, "--threads", 1,
    )
    return report["seconds"], report["empirical_epsilon"]


def peer(scores_in, scores_out, method):
    from jax_privacy import auditing

    start = time.perf_counter()
    epsilon = getattr(auditing.CanaryScoreAuditor(scores_in, scores_out), method)(SIGNIFICANCE, DELTA)
    return time.perf_counter() - start, float(epsilon)


def main():
    measuring.build()
    generator = np.random.default_rng(0)
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for count, method, programs in (
            (10_000_000, "epsilon_clopper_pearson", [("clopper-pearson", "band"), ("clopper-pearson", "hold-out")]),
            (1_000_000, "epsilon_one_run", [("one-run", "band"), ("one-run", "hold-out"), ("one-run", "max"), ("joint-bayesian", "hold-out")]),
        ):
            scores_in, scores_out = generator.standard_normal(count // 2) + 0.5, generator.standard_normal(count // 2) - 0.5
            np.save(folder / "in.npy", scores_in)
            np.save(folder / "out.npy", scores_out)
            rows = {}
            for estimator, choice in programs:
                rows[f"misdeal {estimator}, {choice}"] = min(ours(folder, estimator, choice) for _ in range(3))
            try:
                rows[f"jax-privacy {method}"] = min(peer(scores_in, scores_out, method) for _ in range(2))
            except ImportError as missing:
                print(f"  jax-privacy left out: {missing}")
            print(f"{count:.0e} scores:")
            for name, (seconds, epsilon) in rows.items():
                print(f"  {name:40} {seconds:8.3f} s   epsilon {epsilon:.4f}")
            results[f"{count} scores"] = {name: {"seconds": seconds, "epsilon": epsilon} for name, (seconds, epsilon) in rows.items()}
    measuring.keep("estimators", delta=DELTA, significance=SIGNIFICANCE, results=results)


main()
