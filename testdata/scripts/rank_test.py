"""Quantiles of ln((V - delta) / B) for independent Beta laws V and B, to testdata/rank_test.toml.

usage: python3 testdata/scripts/rank_test.py     needs mpmath
"""
from pathlib import Path

import mpmath as mp

mp.mp.dps = 30


def beta_log_density(a, b):
    scale = mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b)
    return lambda x: mp.exp(scale + a * x - (a + b) * mp.log1p(mp.exp(x)))  # of the logit


def probability(k, n, r, m, delta, epsilon, points=1200):
    """P(V <= e^epsilon B + delta): a fine double sum in the logits, by the trapezoidal rule, which converges at once."""
    density = beta_log_density(mp.mpf(k), mp.mpf(n - k + 1))
    width = mp.sqrt(mp.mpf(n + 1) / (k * (n - k + 1)))
    mode = mp.log(mp.mpf(k) / (n - k + 1))
    low, high = -12 * width - mp.mpf(40) / k, 12 * width + mp.mpf(40) / (n - k + 1)

    def survival(b):
        if b <= 0:
            return mp.mpf(1)
        return 1 - mp.betainc(r, m - r + 1, 0, b, regularized=True) if r < 400 else None

    total = mp.mpf(0)
    start = mode + low
    if delta > 0:
        start = max(start, mp.log(mp.mpf(delta) / (1 - mp.mpf(delta))))
        total += mp.betainc(k, n - k + 1, 0, delta, regularized=True)
    value = lambda x: density(x) * survival((1 / (1 + mp.exp(-x)) - delta) * mp.exp(-epsilon))
    cuts = [start] + [c for c in (mode + low / 4, mode - 4 * width, mode - 2 * width, mode, mode + 2 * width, mode + 4 * width) if c > start] + [mode + high]
    return total + mp.quad(value, cuts, maxdegree=6)


def epsilon(k, n, r, m, delta, significance):
    goal = lambda e: mp.log(probability(k, n, r, m, delta, e)) - mp.log(significance)
    if goal(mp.mpf(0)) >= 0:
        return mp.mpf(0)
    low, high = mp.mpf(0), mp.mpf(1)
    while goal(high) < 0:
        low, high = high, 2 * high
    return mp.findroot(goal, (low, high), solver="anderson", tol=1e-24)


def main():
    cases = []
    for k, n, r, m in [(1, 1, 1, 1), (3, 10, 1, 10), (10, 10, 1, 10), (100, 100, 1, 100), (600, 1000, 20, 1000), (50, 1000, 1, 1000),
                       (900, 50000, 25, 50000), (200, 5000, 16, 9000), (30, 700, 33, 300), (7, 400, 4, 400)]:
        for delta, significance in [(0, 0.05), (1e-5, 0.001), (0.01, 0.0004), (0.002, 0.02)]:
            cases.append([k, n, r, m, delta, significance, float(epsilon(k, n, r, m, delta, significance))])
    lines = ["# reaching, observations, rank, reference, delta, significance, epsilon; written by testdata/scripts/rank_test.py", "cases = ["]
    lines += ["    [" + ", ".join(repr(float(number)) for number in case) + "]," for case in cases]
    path = Path(__file__).resolve().parents[1] / "rank_test.toml"
    path.write_text("\n".join(lines + ["]"]) + "\n")


main()
