"""Jeffreys' and the joint Bayesian epsilon at given error counts, to testdata/posterior.toml.

usage: python3 testdata/scripts/posterior.py     needs numpy and scipy

The posterior probability is a plain sum over forty thousand quantiles of the false positive rate, which is slow, obvious and good to about
1e-4; the code under test integrates in another variable and by another rule.
"""
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta

CELLS = 40_000
LEVELS = (np.arange(CELLS) + 0.5) / CELLS


def jeffreys(fp, fn, n_in, n_out, delta, significance):
    upper = lambda k, n: 1.0 if k >= n else beta.isf(significance / 2, k + 0.5, n - k + 0.5)
    fpr, fnr = upper(fp, n_out), upper(fn, n_in)
    ratios = [(1 - fpr - delta) / fnr, (1 - fnr - delta) / fpr]
    return max(np.log(max(*ratios, 1.0)), 0.0)


def joint(fp, fn, n_in, n_out, delta, significance):
    fpr = beta.ppf(LEVELS, fp + 0.5, n_out - fp + 0.5)

    def excess(epsilon):
        factor = np.exp(epsilon)
        demanded = np.maximum((1 - delta - fpr) / factor, 1 - delta - factor * fpr)
        return np.mean(beta.sf(demanded, fn + 0.5, n_in - fn + 0.5)) - significance

    return 0.0 if excess(0.0) >= 0 else brentq(excess, 0.0, 40.0, xtol=1e-7)


def main():
    lines = ["# fp, fn, in, out, delta, significance, jeffreys, joint-bayesian; written by testdata/scripts/posterior.py", "cases = ["]
    for fp, fn, n_in, n_out in [(0, 0, 50, 60), (0, 30, 50, 50), (3, 900, 1000, 1000), (40, 60, 200, 300), (900, 2, 1000, 1000),
                                (12, 49_000, 50_000, 50_000), (20, 499_000, 500_000, 500_000), (100_000, 30_000, 500_000, 500_000)]:
        for delta, significance in [(1e-5, 0.05), (0.01, 0.01)]:
            case = (fp, fn, n_in, n_out, delta, significance)
            lines.append("    [" + ", ".join(repr(float(x)) for x in (*case, jeffreys(*case), joint(*case))) + "],")
    path = Path(__file__).resolve().parents[1] / "posterior.toml"
    path.write_text("\n".join(lines + ["]"]) + "\n")


main()
