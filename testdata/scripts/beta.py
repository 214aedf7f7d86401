"""Tails of Beta laws at 60 digits, to testdata/beta.toml.

usage: python3 testdata/scripts/beta.py     needs mpmath
"""
from pathlib import Path

import mpmath as mp

mp.mp.dps = 60


def mass_below(a, b, odds):
    """P(X <= p) by quadrature of the log-concave density of the logit, in units of its standard deviation."""
    m = a + b
    mode, width = mp.log(a / b), mp.sqrt(m / (a * b))
    log_norm = mp.loggamma(m) - mp.loggamma(a) - mp.loggamma(b)

    def density(x):
        return mp.exp(log_norm + a * x - m * mp.log1p(mp.exp(x)))

    x = mp.log(odds)
    cuts = [x - k * width for k in (400, 150, 60, 30, 15, 8, 4, 2, 1, mp.mpf(1) / 2, mp.mpf(1) / 8, 0)]
    below = mp.quad(density, cuts)
    above = mp.quad(density, [2 * x - cut for cut in reversed(cuts)])
    assert abs(below + above - 1) < mp.mpf(10) ** -25, (a, b, odds, below + above)
    return below, above


def main():
    lines = ["# a, b, odds p/(1-p), P(X <= p), P(X > p); written by testdata/scripts/beta.py", "tails = ["]
    shapes = [(0.5, 0.5), (0.5, 1000.5), (1, 1), (1, 50000), (1.5, 3), (7, 0.5), (20, 49981), (10.5, 12.5), (33, 999968), (499999.5, 0.5), (700.5, 299.5), (5e5, 4.5e6), (25.5, 4999975.5), (2e6, 3e6)]
    for a, b in shapes:
        a, b = mp.mpf(a), mp.mpf(b)
        width = mp.sqrt((a + b) / (a * b))
        for z in (-6, -3, -1.5, -0.5, -0.01, 0, 0.1, 0.7, 1, 2, 4, 7):
            odds = mp.mpf(float(a / b * mp.exp(z * min(width, 2))))
            below, above = mass_below(a, b, odds)
            if min(below, above) > mp.mpf(10) ** -40:
                numbers = [float(a), float(b), float(odds), float(below), float(above)]
                lines.append("    [" + ", ".join(map(repr, numbers)) + "],")
    lines.append("]")
    path = Path(__file__).resolve().parents[1] / "beta.toml"
    path.write_text("\n".join(lines) + "\n")


main()
