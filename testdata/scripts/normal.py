"""Writes testdata/normal.toml: the normal quantile and ln Phi at 40 digits. Needs mpmath."""
from pathlib import Path

from mpmath import erfc, findroot, log, mp, mpf, sqrt

mp.dps = 40


def cdf(x):
    return erfc(-x / sqrt(2)) / 2


def quantile(p):
    guess = -sqrt(-2 * log(p)) if p < 0.1 else mpf(p) - mpf(1) / 2
    return findroot(lambda x: log(cdf(x)) - log(p), guess)


probabilities = [2.0**-k for k in range(2, 98, 3)] + [0.01 * k + 0.003 for k in range(49)]
points = [-60.0 + 1.7 * k for k in range(40)]
with open(Path(__file__).parent.parent / "normal.toml", "w") as out:
    out.write("# mpmath, 40 digits; written by scripts/normal.py\nquantile = [\n")
    for p in probabilities:
        out.write(f"  [{p!r}, {mp.nstr(quantile(mpf(p)), 20)}],\n")
    out.write("]\nlog_cdf = [\n")
    for x in points:
        out.write(f"  [{x!r}, {mp.nstr(log(cdf(mpf(x))), 20)}],\n")
    out.write("]\n")
