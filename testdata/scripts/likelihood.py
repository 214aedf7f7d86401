"""Writes testdata/likelihood.toml: the log-likelihood ratio over the whole domain of settings, with 60 digits. Needs mpmath.

Outputs are not written down: output i is noise * (a number in [-8, 8) from a linear congruential generator), plus the shift where i is a multiple of
`every`; all of it is exact in binary floating point but for one rounded product and one rounded sum, which are made in the same order everywhere.
"""
from pathlib import Path

from mpmath import exp, log, mp, mpf

mp.dps = 60
LAWS = ("each-step", "once", "kept")


def outputs(seed, count, noise, shift, every):
    state, found = seed, []
    for i in range(count):
        state = (state * 1_664_525 + 1_013_904_223) % 2**32
        z = (state >> 8) / 2**20 - 8.0
        found.append(noise * z + (shift if i % every == 0 else 0.0))
    return found


def log_sum(terms):
    largest = max(terms)
    return largest + log(sum(exp(term - largest) for term in terms))


def log_density(law, parameter, noise, steps, epochs, shift, values):
    def evidence(y, times=1):
        return (mpf(shift) * mpf(y) - mpf(times) * mpf(shift) ** 2 / 2) / mpf(noise) ** 2

    if law == "each-step":
        q = mpf(parameter)
        return sum(log(1 - q + q * exp(evidence(y))) for y in values)
    # Weights proportional to 1, r, r^2, ...; parameter r = 1 is uniform.
    weights = [mpf(parameter) ** t for t in range(steps)]
    total = sum(weights)
    weights = [weight / total for weight in weights]
    rows = [values[e * steps : (e + 1) * steps] for e in range(epochs)]
    if law == "once":
        return sum(log_sum([log(w) + evidence(y) for w, y in zip(weights, row)]) for row in rows)
    return log_sum([log(w) + evidence(sum(mpf(row[t]) for row in rows), epochs) for t, w in enumerate(weights)])


def main():
    cases = []
    for noise in (0.01, 0.05, 0.15, 0.3, 0.7, 1.0, 3.0, 25.0, 10000.0):
        for present in (1.0, 2.0, 2000.0):
            for steps, epochs in ((1, 1), (2, 1), (7, 3), (100, 1)):
                for law, parameters in (("each-step", (1.0, 0.999999, 0.5, 0.01, 1e-9)), ("once", (1.0, 0.75)), ("kept", (1.0,))):
                    for parameter in parameters:
                        seed = 1 + len(cases)
                        every = (1, 3, 1_000_000)[len(cases) % 3]
                        values = outputs(seed, steps * epochs, noise, present, every)
                        exact = log_density(law, parameter, noise, steps, epochs, present, values) - log_density(
                            law, parameter, noise, steps, epochs, present - 1, values
                        )
                        cases.append((law, parameter, noise, present, steps, epochs, seed, every, mp.nstr(exact, 20)))
    with open(Path(__file__).parent.parent / "likelihood.toml", "w") as out:
        out.write("# written by scripts/likelihood.py: mpmath, 60 digits\n")
        out.write("# law, its parameter, noise, shift with the target present, steps, epochs, seed, every, ln of the ratio\ncases = [\n")
        for law, *numbers, exact in cases:
            out.write(f'  ["{law}", {", ".join(map(repr, numbers))}, "{exact}"],\n')
        out.write("]\n")


main()
