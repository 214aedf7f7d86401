"""Writes testdata/clopper_pearson.toml: one-sided Clopper-Pearson upper bounds at 180 digits.

The bound solves P(Binomial(n, p) <= k) = tail. The distribution function is summed term by term where k or
n - 1 - k is at most 1000, and elsewhere the Beta density, normalised by log-gamma, is integrated by the tanh-sinh rule:
neither the saddle-point form nor the Gauss-Legendre rule of the Rust code. Where both apply they are compared, and
so is scipy where it is accurate. Run with mpmath and scipy installed, no arguments.
"""

import pathlib

from mpmath import mp, mpf
from scipy.stats import beta

mp.dps = 180
SUMMED_TERMS = 1000


def log_density(n, k, p):
    """Of Beta(k + 1, n - k) at p, which is minus the derivative of the distribution function in p."""
    log_normaliser = mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k)
    return log_normaliser + k * mp.log(p) + (n - k - 1) * mp.log1p(-p)


def summed(n, k, p):
    """P(Binomial(n, p) <= k), from the largest term down."""
    odds = p / (1 - p)
    log_term = mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)
    term = mp.exp(log_term + k * mp.log(p) + (n - k) * mp.log1p(-p))
    total = mpf(0)
    for j in range(k, -1, -1):
        total += term
        term *= mpf(j) / ((n - j + 1) * odds)
    return total


def integrated(n, k, p):
    """The same as the integral of the Beta density from p to 1."""
    deviation = mp.sqrt(p * (1 - p) / n)
    cuts = [p + 2 * i * deviation for i in range(0, 14)]
    cuts = [c for c in cuts if c < 1] + ([mpf(1)] if cuts[-1] >= 1 else [])
    at_p = k * mp.log(p) + (n - k - 1) * mp.log1p(-p)

    def ratio(t):
        # To the density at p: the quadrature stops at an absolute error, so the integral must be of ordinary size.
        return mp.exp(k * mp.log(t) + (n - k - 1) * mp.log1p(-t) - at_p) if t < 1 else mpf(0)

    with mp.workdps(60):
        integral = mp.quad(lambda s: ratio(p + s * deviation), [(c - p) / deviation for c in cuts])
    return integral * deviation * mp.exp(log_density(n, k, p))


def distribution(n, k, p):
    if k <= SUMMED_TERMS:
        return summed(n, k, p)
    if n - 1 - k <= SUMMED_TERMS:
        return 1 - summed(n, n - 1 - k, 1 - p)
    return integrated(n, k, p)


def upper_bound(n, k, tail):
    """Newton on the log of the distribution function, in the logit of p."""
    tail = mpf(tail)
    if k == n:
        return mpf(1)
    a, b = mpf(k + 1), mpf(n - k)
    z = -mp.sqrt(2) * mp.erfinv(2 * tail - 1)
    logit = mp.log(a / b) + z * mp.sqrt(1 / a + 1 / b)
    for _ in range(200):
        p = 1 / (1 + mp.exp(-logit))
        mass = distribution(n, k, p)
        slope = mp.exp(log_density(n, k, p)) * p * (1 - p) / mass
        step = mp.log(mass / tail) / slope
        step = max(-mpf(3), min(mpf(3), step))
        logit += step
        if abs(step) < mpf(10) ** -26:
            return 1 / (1 + mp.exp(-logit))
    raise ArithmeticError((n, k, tail))


def successes(n):
    fixed = [0, 1, 2, 5, 17, 100, 1000]
    middle = [n // 100, n // 3, n // 2, 9 * n // 10]
    from_top = [n - 1000, n - 17, n - 2, n - 1, n]
    return sorted({k for k in fixed + middle + from_top if 0 <= k <= n})


def main():
    # The two methods against each other.
    for n, k in [(5000, 900), (5000, 4200), (10**7, 1000), (10**9, 10**9 - 1000)]:
        p = upper_bound(n, k, 0.025)
        summed_mass = summed(n, k, p) if k <= SUMMED_TERMS else 1 - summed(n, n - 1 - k, 1 - p)
        assert abs(integrated(n, k, p) / summed_mass - 1) < mpf(10) ** -25, (n, k)

    lines, worst = [], 0
    trials = [1, 2, 10, 100, 10**3, 10**5, 2_500_000, 10**7, 10**9, 10**11, 10**13]
    for n in trials:
        for k in successes(n):
            tails = [0.025] if k not in (1, 17, n // 3, n - 2, n - 17) else [0.025, 0.005, 1e-6, 0.25, 0.9, 1e-100]
            for tail in tails:
                p = upper_bound(n, k, tail)
                lines.append(f"    [{n}, {k}, {tail!r}, {nstr(p)}, {nstr(1 - p)}],")
                if 0 < k < n - 100 and n <= 10**7 and 0.005 <= tail <= 0.25:
                    worst = max(worst, abs(beta.isf(tail, k + 1, n - k) / float(p) - 1))
    assert worst < 1e-8, worst
    header = [
        "# One-sided Clopper-Pearson upper bounds, by testdata/scripts/clopper_pearson.py (mpmath, 180 digits).",
        "# [trials, successes, tail_probability, p, 1 - p] with P(Binomial(trials, p) <= successes) = tail_probability.",
        "upper_bound = [",
    ]
    path = pathlib.Path(__file__).parent.parent / "clopper_pearson.toml"
    path.write_text("\n".join(header + lines + ["]"]) + "\n")
    print(f"{len(lines)} cases; scipy differs by at most {worst:.1e}")


def nstr(x):
    text = mp.nstr(x, 20, min_fixed=-3, max_fixed=3)
    return text if "." in text or "e" in text else text + ".0"


if __name__ == "__main__":
    main()
