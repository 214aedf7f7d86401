"""The mechanism, from drawing to epsilon, beside NumPy on one core: ns per observation and batch.

usage: python3 bench/mechanism.py        needs numpy and scipy: pip install numpy scipy

Three NumPy programs (float64, vectorised over observations) draw and score shuffled one-epoch games at noise
multiplier 1; misdeal does the same and also estimates epsilon. Each is run in turn, in several rounds, in one go; the best
round of each counts, because a busy machine only ever adds time.
"""
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
import time

import numpy as np
from scipy.special import logsumexp

import measuring

ROUNDS = 5
NOISE = 1.0
generator = np.random.default_rng(0)


def numpy_with_logsumexp(observations, steps):
    y = NOISE * generator.standard_normal((observations, steps))
    y[:, 0] += 2
    return logsumexp((2 * y - 2) / NOISE**2, axis=1) - logsumexp((y - 0.5) / NOISE**2, axis=1)


def numpy_plain(observations, steps):
    y = NOISE * generator.standard_normal((observations, steps))
    y[:, 0] += 2
    u = np.exp(y / NOISE**2)
    return np.log((u * u).sum(axis=1) / u.sum(axis=1)) - 1.5 / NOISE**2


def numpy_tuned(observations, steps, workspace={}):
    u = workspace.setdefault((observations, steps), np.empty((observations, steps)))
    generator.standard_normal(out=u)
    if NOISE != 1:
        u /= NOISE
    u[:, 0] += 2 / NOISE**2
    np.exp(u, out=u)
    return np.log(np.einsum("ij,ij->i", u, u) / u.sum(axis=1)) - 1.5 / NOISE**2


def time_numpy(program, steps):
    observations = 1_000_000 // steps
    repetitions = 10
    program(observations, steps)
    start = time.perf_counter()
    for _ in range(repetitions):
        program(observations, steps)
    return (time.perf_counter() - start) / (repetitions * observations * steps) * 1e9


def time_misdeal(engine, steps, draws):
    observations = int(draws // steps // 2 * 2)
    report = measuring.misdeal(
        "audit", "mechanism", "--noise-multiplier", NOISE, "--steps-per-epoch", steps,
        "--observations", observations, "--engine", engine, "--threads", 1,
    )
    return report["seconds"] / (observations * steps) * 1e9


def main():
    measuring.build()
    results = []
    for steps in (100, 1000):
        programs = {
            "numpy with scipy's logsumexp": lambda: time_numpy(numpy_with_logsumexp, steps),
            "numpy plain": lambda: time_numpy(numpy_plain, steps),
            "numpy tuned": lambda: time_numpy(numpy_tuned, steps),
            "misdeal": lambda: time_misdeal("auto", steps, 6e9),
            "misdeal cpu-avx2": lambda: time_misdeal("cpu-avx2", steps, 4e8),
            "misdeal cpu-portable": lambda: time_misdeal("cpu-portable", steps, 4e7),
        }
        rounds = [{name: program() for name, program in programs.items()} for _ in range(ROUNDS)]
        best = {name: min(one[name] for one in rounds) for name in programs}
        print(f"{steps} steps, one core, ns per observation and batch:")
        for name, value in best.items():
            print(f"  {name:30} {value:7.3f}   {value / best['misdeal']:6.1f} times misdeal")
        results.append({"steps_per_epoch": steps, "best": best, "rounds": rounds})
    measuring.keep("mechanism", noise_multiplier=NOISE, threads=1, unit="ns per observation and batch", results=results)


main()
