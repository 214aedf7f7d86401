"""Writes testdata/poisson_accounting.toml: what dp-accounting and prv-accountant say about Poisson subsampling.

For random settings, dp-accounting's pessimistic epsilon (connect the dots) and optimistic epsilon (privacy buckets)
on a grid chosen from a coarse first answer, and prv-accountant's interval where it gives one ([nan, nan] elsewhere).
Usage: poisson_accounting.py [settings] [seconds]. Needs dp-accounting, prv-accountant, numpy.
"""
import logging
import math
import random
import signal
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

from dp_accounting.pld import privacy_loss_distribution as pld
from prv_accountant import PRVAccountant
from prv_accountant.privacy_random_variables import PoissonSubsampledGaussianMechanism

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)


class TooSlow(Exception):
    pass


def too_slow(*_):
    raise TooSlow


def epsilon(noise, q, steps, delta, h, pessimistic):
    law = pld.from_gaussian_mechanism(
        noise, sampling_prob=q, value_discretization_interval=h, pessimistic_estimate=pessimistic,
        use_connect_dots=pessimistic)
    return law.self_compose(steps).get_epsilon_for_delta(delta)


def prv_interval(noise, q, steps, delta):
    try:
        law = PoissonSubsampledGaussianMechanism(noise_multiplier=noise, sampling_probability=q)
        accountant = PRVAccountant(prvs=[law], max_self_compositions=[steps], eps_error=0.02, delta_error=delta / 1000)
        low, _, high = accountant.compute_epsilon(delta=delta, num_self_compositions=[steps])
        return low, high
    except TooSlow:
        raise
    except Exception:
        return math.nan, math.nan


def main(settings, seconds):
    signal.signal(signal.SIGALRM, too_slow)
    generator = random.Random(20241104)
    start, rows = time.time(), []
    while len(rows) < settings and time.time() - start < seconds:
        log_uniform = lambda low, high: math.exp(generator.uniform(math.log(low), math.log(high)))
        noise, q = float(f"{log_uniform(0.4, 8):.3g}"), float(f"{log_uniform(1e-4, 0.7):.3g}")
        steps, delta = round(log_uniform(1, 2e4)), float(f"{log_uniform(1e-10, 1e-2):.3g}")
        try:
            signal.alarm(6)
            coarse = epsilon(noise, q, steps, delta, 1e-2, True)
            if not 2e-3 < coarse < 80:
                continue
            h = min(1e-3, max(2e-6, 0.02 * coarse / math.sqrt(steps), ))
            high = epsilon(noise, q, steps, delta, h, True)
            low = epsilon(noise, q, steps, delta, h, False)
            prv = prv_interval(noise, q, steps, delta)
            signal.alarm(0)
        except TooSlow:
            continue
        finally:
            signal.alarm(0)
        rows.append((noise, q, steps, delta, low, high, *prv))
    with open(Path(__file__).parent.parent / "poisson_accounting.toml", "w") as out:
        out.write(f"# dp-accounting {version('dp-accounting')}, prv-accountant {version('prv-accountant')}; "
                  "written by scripts/poisson_accounting.py\n"
                  "# noise_multiplier, sampling_probability, steps, delta, dp-accounting optimistic and pessimistic "
                  "epsilon,\n# prv-accountant lower and upper epsilon\nepsilon = [\n")
        for row in rows:
            out.write("  [" + ", ".join(repr(float(x)) if isinstance(x, float) else repr(x) for x in row) + "],\n")
        out.write("]\n")
    print(len(rows), "settings in", round(time.time() - start), "s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500, float(sys.argv[2]) if len(sys.argv) > 2 else 1200)
