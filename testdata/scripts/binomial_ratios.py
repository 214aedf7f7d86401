"""ln P(k) - ln P(mode) of binomial laws, in 60-digit arithmetic: the values in crates/schemes/src/deal/binomial.rs.

    python3 testdata/scripts/binomial_ratios.py
"""

from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 80
BERNOULLI = [Fraction(1, 6), Fraction(-1, 30), Fraction(1, 42), Fraction(-1, 30), Fraction(5, 66), Fraction(-691, 2730), Fraction(7, 6)]


def log_factorial(k):
    """ln k! less ln sqrt(2 pi), by Stirling's series; it is used for k above 10^8 alone, where the next term is below 1e-110."""
    assert k > 10**8
    x = Decimal(k)
    series = sum(
        Decimal(b.numerator) / Decimal(b.denominator) / (2 * i * (2 * i - 1) * x ** (2 * i - 1)) for i, b in enumerate(BERNOULLI, 1)
    )
    return x * x.ln() - x + x.ln() / 2 + series


def log_ratio(n, part, whole, k):
    mode = (n + 1) * part // whole
    odds = (Decimal(part) / Decimal(whole - part)).ln()
    of = lambda k: -log_factorial(k) - log_factorial(n - k) + k * odds
    return of(k) - of(mode)


for n, part, whole, deviations in [
    (10**12, 1, 2, 0.001), (10**12, 1, 2, -1.5), (10**12, 1, 2, 6), (10**12, 1, 3, -3), (10**12, 1, 3, 8.5),
    (10**12, 999, 1000, 2), (2**50, 5, 7, -4), (10**9, 1, 2, 5),
]:  # fmt: skip
    p = part / whole
    k = n * part // whole + int(deviations * (n * p * (1 - p)) ** 0.5)
    print(f"            ({n}, {part}, {whole}, {k}, {float(log_ratio(n, part, whole, k))!r}),")
