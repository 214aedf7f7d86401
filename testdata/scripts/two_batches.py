"""Writes testdata/two_batches.toml: divergences of pairs over two batches, by two-dimensional quadrature. Needs scipy.

delta(l) = integral of (p - e^l q)+ over the plane. In the inner variable the integrand is positive between the roots
of a quadratic in u = exp(y2/s^2), so that the inner integral is a closed form in normal distribution functions.
"""
from pathlib import Path

import numpy as np
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr


def interval(mean, s, low, high):
    """N(mean, s^2) of (low, high), from the nearer tail."""
    a, b = (low - mean) / s, (high - mean) / s
    return ndtr(-a) - ndtr(-b) if a > 0 else ndtr(b) - ndtr(a)


def divergence(s, weights, shifts, level, reverse):
    w1, w2 = weights
    a, b = shifts
    sign = -1 if reverse else 1
    scale = np.exp(-level) if reverse else 1.0

    def term(y):
        return np.exp((a * y - a * a / 2) / s**2) - np.exp(level + (b * y - b * b / 2) / s**2)

    def inner(y1):
        density = np.exp(-(y1**2) / (2 * s * s)) / (s * np.sqrt(2 * np.pi))
        fixed = w1 * term(y1)
        # w2 (A u^a - B u^b) + fixed, u = exp(y/s^2), for (a, b) = (2, 1) or (1, 0)
        A, B = w2 * np.exp(-a * a / 2 / s**2), w2 * np.exp(level - b * b / 2 / s**2)
        if (a, b) == (2, 1):
            disc = B * B - 4 * A * fixed
            roots = [] if disc < 0 else [(B - np.sqrt(disc)) / (2 * A), (B + np.sqrt(disc)) / (2 * A)]
            if roots and roots[0] < 0:
                roots[0] = 0.0
            elif roots:
                roots[0] = fixed / (A * roots[1]) if roots[1] > 0 else 0.0
            roots = [max(r, 0.0) for r in roots]
            cuts = [s * s * np.log(r) if r > 0 else -np.inf for r in roots]
            below = [] if not cuts else [(cuts[0], cuts[1])]
        else:
            r = (B - fixed) / A
            below = [] if r <= 0 else [(-np.inf, s * s * np.log(r))]
        def total(low, high):
            return (fixed * interval(0, s, low, high) + w2 * interval(a, s, low, high)
                    - w2 * np.exp(level) * interval(b, s, low, high))
        if reverse:
            return -density * sum(total(*c) for c in below) * scale
        if not below:
            return density * total(-np.inf, np.inf)
        low, high = below[0]
        return density * (total(-np.inf, low) + total(high, np.inf))

    edges = np.linspace(-12 * s, a + 12 * s, 400)
    return sum(quad(inner, x, y, epsabs=0, epsrel=1e-10, limit=200)[0] for x, y in zip(edges, edges[1:]))


with open(Path(__file__).parent.parent / "two_batches.toml", "w") as out:
    out.write("# noise_multiplier, weight of the first batch, present, absent, level, delta, reverse delta\n")
    out.write("# Quadrature to 1e-9 relative; written by scripts/two_batches.py\ndivergences = [\n")
    for s, w, shifts, level in [
        (1.0, 0.5, (2, 1), 0.0), (1.0, 0.5, (2, 1), 1.5), (1.0, 0.5, (2, 1), 4.0), (1.0, 0.5, (2, 1), -1.0),
        (1.0, 0.8, (2, 1), 1.0), (1.0, 0.8, (2, 1), -0.7), (0.5, 0.5, (2, 1), 6.0), (0.5, 0.3, (2, 1), -2.0),
        (3.0, 0.5, (2, 1), 0.3), (3.0, 0.5, (2, 1), -0.2), (1.0, 0.5, (1, 0), 1.0), (1.0, 0.5, (1, 0), -0.5),
        (0.6, 0.9, (1, 0), 3.0),
    ]:
        values = [divergence(s, (w, 1 - w), shifts, level, r) for r in (False, True)]
        out.write(f"  [{s}, {w}, {shifts[0]}.0, {shifts[1]}.0, {level}, {values[0]:.12e}, {values[1]:.12e}],\n")
    out.write("]\n")
