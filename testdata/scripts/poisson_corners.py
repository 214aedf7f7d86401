"""Epsilon of the Poisson-subsampled Gaussian where one rare large loss decides, by a contour integral.

For the pair P = (1-q) N(0, s^2) + q N(1, s^2) against Q = N(0, s^2) and any c > 0,

    delta(epsilon) = 1/(2 pi i) * integral over Re z = c of e^(-z epsilon) M(z)^n / (z (z + 1)) dz,   M(z) = E_P e^(z L),

with both integrals by the trapezoidal rule, which converges exponentially, in 80-bit arithmetic. No grid of losses,
no tilted law and no transform: nothing is shared with the accountant under test. Every value is computed twice, on
different contours and grids, and written only if both agree to 5e-6.

    python3 poisson_corners.py > ../poisson_corners.toml
"""

import sys

import numpy as np

REAL, COMPLEX = np.longdouble, np.clongdouble
# Each with a first guess of epsilon, good to 10 %. Where the variance of the whole sum is tiny (few steps), the integrand
# does not decay fast enough, and for the smallest deltas 80 bits do not suffice: such settings are left out.
CASES = [
    (0.5, 1e-6, 10**6, 1e-9, 0.563), (0.7, 1e-6, 10**6, 1e-9, 0.0128),
    (0.7, 1e-5, 10**6, 1e-12, 0.54), (0.7, 1e-5, 10**6, 1e-9, 0.168), (0.7, 1e-4, 10**6, 1e-12, 2.71),
    (0.7, 1e-4, 10**6, 1e-9, 1.61), (0.5, 1e-4, 10**6, 1e-12, 9.51),
    (0.7, 1e-5, 10**4, 1e-12, 0.245), (1.0, 1e-4, 10**4, 1e-12, 0.136),
]


def law(s, q, spacing):
    """Outputs' weights under P, and their losses."""
    s, q = REAL(s), REAL(q)
    y = np.arange(REAL(-14) * s, 1 + REAL(20) * s, REAL(spacing) * s)
    density = lambda z: np.exp(-z * z / 2) / np.sqrt(2 * np.arccos(REAL(-1)))
    weight = ((1 - q) * density(y / s) + q * density((y - 1) / s)) * REAL(spacing)
    return weight, np.log1p(q * np.expm1((y - REAL(0.5)) / (s * s)))


def log_moment(weight, loss, z):
    """ln M(z), through M - 1 so that the n-th power keeps its digits."""
    return np.log1p(np.sum(weight * np.expm1(z * loss)))


def epsilon(s, q, n, delta, guess, far, decay, spacing):
    weight, loss = law(s, q, spacing)
    # Spacing the contour's points by 2 pi / window adds e^(-c k window) delta(epsilon - k window) for all k != 0: small
    # below through c, above because no single loss is as large as the window but with probability e^-90 or less.
    window = np.log1p(REAL(q) * np.expm1(REAL(far) / REAL(s))) + guess
    c, step = REAL(decay) / window, 2 * np.arccos(REAL(-1)) / window
    z, log_power = [], []
    base = n * log_moment(weight, loss, c)
    for k in range(40_000):
        z.append(COMPLEX(complex(c, 0)) + 1j * (step * k))
        log_power.append(n * log_moment(weight, loss, z[-1]))
        if k > 20 and np.exp(np.real(log_power[-1]) - base) < 1e-22:
            break
    z, log_power = np.array(z), np.array(log_power)
    parts = np.where(np.arange(len(z)) == 0, REAL(0.5), REAL(1)) * step / np.arccos(REAL(-1))
    value = lambda e: np.sum(parts * np.real(np.exp(log_power - z * REAL(e)) / (z * (z + 1))))
    low, high = REAL(guess) * REAL(0.9), REAL(guess) * REAL(1.1)
    if not value(low) > delta > value(high):
        return float('nan')
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if value(middle) > delta else (low, middle)
    return float(low)


if __name__ == "__main__":
    print("# Written by scripts/poisson_corners.py: noise_multiplier, sampling_probability, steps, delta, epsilon.")
    print("epsilon = [")
    for s, q, n, delta, guess in CASES:
        first = epsilon(s, q, n, delta, guess, far=13.5, decay=43, spacing=0.01)
        second = epsilon(s, q, n, delta, guess, far=14.5, decay=46, spacing=0.007)
        print(s, q, n, delta, first, second, file=sys.stderr)
        if abs(first / second - 1) < 5e-6:
            print(f"  [{s}, {q}, {n}, {delta}, {second:.9g}],", flush=True)
    print("]")
