"""Writes testdata/gaussian.toml: delta and epsilon of the Gaussian pair at 60 digits and more. Needs mpmath."""
from pathlib import Path

from mpmath import erfc, exp, findroot, log, mp, mpf, sqrt


def cdf(x):
    return erfc(-x / sqrt(2)) / 2


def delta(mu, epsilon):
    return cdf(mu / 2 - epsilon / mu) - exp(epsilon) * cdf(-mu / 2 - epsilon / mu)


def epsilon(mu, target):
    low, high = mpf(0), mu * mu / 2 + mu * sqrt(-2 * log(target)) + 1
    if delta(mu, low) <= target:
        return None
    for _ in range(220):
        middle = (low + high) / 2
        if delta(mu, middle) > target:
            low = middle
        else:
            high = middle
    return low


mp.dps = 60
mus = [mpf(x) for x in ("1e-4", "0.003", "0.05", "0.3", "0.49", "0.51", "1", "2.5", "7", "20", "60", "150")]
deltas = [mpf(x) for x in ("1e-300", "1e-100", "1e-30", "1e-12", "1e-8", "1e-5", "1e-3", "0.02", "0.2", "0.5")]
with open(Path(__file__).parent.parent / "gaussian.toml", "w") as out:
    out.write("# mpmath, 60 digits; written by scripts/gaussian.py\n# mu, epsilon, ln delta\nlog_delta = [\n")
    for mu in mus:
        for x in ("0", "0.3", "1", "2", "4", "8", "16", "24", "36"):
            point = float(mu * mu / 2 + mpf(x) * mu)
            value = delta(mpf(float(mu)), mpf(point))
            out.write(f"  [{float(mu)!r}, {point!r}, {mp.nstr(log(value), 20)}],\n")
    out.write("]\n# mu, delta, epsilon\nepsilon = [\n")
    for mu in mus:
        for target in deltas:
            value = epsilon(mpf(float(mu)), mpf(float(target)))
            if value is not None:
                out.write(f"  [{float(mu)!r}, {float(target)!r}, {mp.nstr(value, 20)}],\n")
    out.write("]\n")
