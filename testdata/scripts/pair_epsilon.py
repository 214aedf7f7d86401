"""Writes testdata/pair_epsilon.toml: the epsilon of the pair that the game plays, the larger of both directions.

One epoch of T steps, target's batch N(a, s^2) in world In and N(b, s^2) in world Out, other batches N(0, s^2).
Shuffle, (a, b) = (2, 1): L <= l is the event that a sum of independent terms g(exp(y/s^2)) is at most 0, with
g(u) = exp(-2/s^2) u^2 - exp(l - 1/(2 s^2)) u. Target canary, (1, 0): that a sum of exp((y - 1/2)/s^2) is at most T e^l.
Both laws are put on a grid by their distribution functions and composed by FFT; terms so large that they decide the event
alone are left out. Poisson: the loss of a step on a fine grid, composed by FFT. Good to about four digits. Needs numpy
and scipy, no arguments.
"""
from pathlib import Path

import numpy as np
from scipy.special import ndtr

CELLS = 1 << 21


def composed_probability(lowest, level, distributions):
    """P(sum <= level) of independent terms in [lowest, infinity); distributions: (function, how many)."""
    terms = sum(count for _, count in distributions)
    most = level - (terms - 1) * min(lowest, 0)  # a larger term decides alone
    h = (most - lowest) * 8 / CELLS
    edges = (np.arange(int((most - lowest) / h) + 1) - 0.5) * h + lowest
    product = 1
    for distribution, count in distributions:
        masses = np.zeros(CELLS)
        values = distribution(edges)
        masses[: len(edges) - 1] = np.diff(values)
        masses[0] += values[0]
        product = product * np.fft.rfft(masses) ** count
    law = np.fft.irfft(product, CELLS)
    # Cell i stands for terms * lowest + i h; a cell on the level counts half.
    cells = (level - terms * lowest) / h + 0.5
    whole = int(cells)
    return law[:whole].sum() + (cells - whole) * law[whole]


def shuffle_at_most(log_level, noise, steps, shift):
    """P(L <= log_level) with the target's batch at `shift`."""
    a, b = np.exp(-2 / noise**2), np.exp(log_level - 1 / (2 * noise**2))

    def distribution(mean):
        def at(x):
            root = np.sqrt(np.maximum(b * b + 4 * a * x, 0))
            with np.errstate(divide="ignore", invalid="ignore"):
                upper = ndtr((np.log((b + root) / (2 * a)) * noise**2 - mean) / noise)
                low = np.where(b > root, ndtr((np.log((b - root) / (2 * a)) * noise**2 - mean) / noise), 0)
            return np.where(4 * a * x < -b * b, 0, upper - low)
        return at

    return composed_probability(-b * b / (4 * a), 0.0, [(distribution(0), steps - 1), (distribution(shift), 1)])


def canary_at_most(log_level, noise, steps, shift):
    def distribution(mean):
        def at(x):
            with np.errstate(divide="ignore"):
                return ndtr((np.log(np.maximum(x, 0)) * noise**2 + 0.5 - mean) / noise)
        return at

    return composed_probability(0.0, steps * np.exp(log_level), [(distribution(0), steps - 1), (distribution(shift), 1)])


def root(delta_of, delta):
    low, high = 0.0, 12.0
    if delta_of(0.0) <= delta:
        return 0.0
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle) > delta else (low, middle)
    return (low + high) / 2


def level_epsilon(at_most, shifts, noise, steps, delta):
    present, zeroed = shifts

    def forwards(epsilon):
        p, q = (1 - at_most(epsilon, noise, steps, shift) for shift in (present, zeroed))
        return p - np.exp(epsilon) * q

    def backwards(epsilon):
        p, q = (at_most(-epsilon, noise, steps, shift) for shift in (present, zeroed))
        return q - np.exp(epsilon) * p

    return max(root(forwards, delta), root(backwards, delta))


def poisson_epsilon(noise, steps, delta):
    q, h = 1 / steps, 2e-5
    y = np.linspace(-12 * noise, 1 + 12 * noise, 2_000_001)
    loss = np.log1p(q * np.expm1((y - 0.5) / noise**2))
    zeroed = np.exp(-((y / noise) ** 2) / 2)
    zeroed /= zeroed.sum()
    cells = np.rint(loss / h).astype(np.int64)
    results = []
    for sign, masses in ((1, zeroed * np.exp(loss)), (-1, zeroed)):
        law = np.zeros(CELLS)
        np.add.at(law, sign * cells % CELLS, masses)
        law = np.fft.irfft(np.fft.rfft(law) ** steps, CELLS)
        points = np.fft.fftfreq(CELLS, 1 / CELLS) * h
        results.append(root(lambda e: -(law * np.expm1(np.minimum(e - points, 0))).sum(), delta))
    return max(results)


with open(Path(__file__).parent.parent / "pair_epsilon.toml", "w") as out:
    out.write("# numpy and scipy; written by scripts/pair_epsilon.py\n")
    for scheme, threat_model, noise, steps in [
        ("shuffle", "worst-case", 1.0, 100),
        ("shuffle", "target-canary", 1.0, 100),
        ("poisson", "worst-case", 1.0, 100),
        ("poisson", "worst-case", 1.5, 100),
    ]:
        out.write(f'\n[[case]]\nscheme = "{scheme}"\nthreat_model = "{threat_model}"\nnoise_multiplier = {noise}\n')
        out.write(f"steps_per_epoch = {steps}\n# delta, epsilon\nepsilon = [\n")
        for delta in (1e-5, 1e-3, 1e-2):
            if scheme == "poisson":
                epsilon = poisson_epsilon(noise, steps, delta)
            elif threat_model == "worst-case":
                epsilon = level_epsilon(shuffle_at_most, (2, 1), noise, steps, delta)
            else:
                epsilon = level_epsilon(canary_at_most, (1, 0), noise, steps, delta)
            out.write(f"  [{delta}, {epsilon:.5f}],\n")
            print(scheme, threat_model, noise, delta, epsilon, flush=True)
        out.write("]\n")
