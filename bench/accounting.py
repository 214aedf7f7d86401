"""Theory beside its peers: Poisson accounting at comparable certified width, calibration, and the exact pair's table.

usage: python3 bench/accounting.py     needs numpy, scipy, dp-accounting, prv-accountant; opacus for the calibration
                                       (pip install dp-accounting prv-accountant opacus)

Peers that are not installed are left out. Times of misdeal are those of whole commands, the start of the process included.
"""
import time

import measuring

DELTA = 1e-5
PUBLISHED = [(1.00, 440, 509), (3.00, 11, 168), (0.79, 117, 10), (0.87, 195, 30), (0.73, 781, 50), (0.82, 254, 30)]


def timed(function, rounds=3):
    best, result = float("inf"), None
    for _ in range(rounds):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, result


def ours_poisson(noise, steps):
    report = measuring.misdeal(
        "account", "--noise-multiplier", noise, "--sampling-probability", 1 / steps, "--steps", steps, "--delta", DELTA
    )
    found = report["schemes"]["poisson"]
    return found["epsilon_lower_bound"], found["epsilon_upper_bound"]


def dp_accounting_poisson(noise, steps, interval=1e-4):
    from dp_accounting.pld import privacy_loss_distribution as pld

    ends = []
    for pessimistic in (False, True):
        one = pld.from_gaussian_mechanism(
            noise, sampling_prob=1 / steps, pessimistic_estimate=pessimistic, value_discretization_interval=interval
        )
        ends.append(one.self_compose(steps).get_epsilon_for_delta(DELTA))
    return tuple(ends)


def prv_poisson(noise, steps, error=0.001):
    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    mechanism = PoissonSubsampledGaussianMechanism(sampling_probability=1 / steps, noise_multiplier=noise)
    accountant = PRVAccountant(prvs=[mechanism], max_self_compositions=[steps], eps_error=error, delta_error=DELTA / 1000)
    low, _, high = accountant.compute_epsilon(delta=DELTA, num_self_compositions=[steps])
    return low, high


def ours_calibration(target, steps, epochs):
    return measuring.misdeal(
        "calibrate", "--target-epsilon", target, "--delta", DELTA, "--steps-per-epoch", steps, "--epochs", epochs
    )["noise_multiplier"]


def opacus_calibration(target, steps, epochs):
    from opacus.accountants.utils import get_noise_multiplier

    return get_noise_multiplier(
        target_epsilon=target, target_delta=DELTA, sample_rate=1 / steps, epochs=epochs, accountant="prv"
    )


def compare(programs, rounds=3):
    results = {}
    for name, function in programs.items():
        try:
            seconds, answer = timed(function, rounds)
        except ImportError as missing:
            print(f"  {name:24} left out: {missing}")
            continue
        results[name] = {"seconds": seconds, "answer": answer}
        ratio = seconds / results["misdeal"]["seconds"]
        print(f"  {name:24} {seconds:8.4f} s   {ratio:7.1f} times misdeal   {answer}")
    return results


def main():
    measuring.build()
    record = {}
    for noise in (0.5, 1.0):
        print(f"Poisson, noise {noise}, 100 steps at 1/100, delta {DELTA}:")
        record[f"poisson, noise {noise}"] = compare({
            "misdeal": lambda: ours_poisson(noise, 100),
            "dp-accounting": lambda: dp_accounting_poisson(noise, 100),
            "prv-accountant": lambda: prv_poisson(noise, 100),
        })
    print("Calibration to epsilon 3, 100 steps an epoch, 10 epochs:")
    record["calibration"] = compare({
        "misdeal": lambda: ours_calibration(3, 100, 10),
        "opacus": lambda: opacus_calibration(3, 100, 10),
    }, rounds=1)
    print("Shuffling, exact pair, many epochs (noise, steps, epochs):")
    rows = []
    for noise, steps, epochs in PUBLISHED:
        seconds, report = timed(lambda: measuring.misdeal(
            "account", "--noise-multiplier", noise, "--steps-per-epoch", steps, "--epochs", epochs,
            "--delta", DELTA, "--scheme", "shuffle",
        ), 1)
        found = report["schemes"]["shuffle"]
        rows.append({"setting": [noise, steps, epochs], "seconds": seconds, **found, "poisson": report["claimed_epsilon"]})
        print(f"  {(noise, steps, epochs)!s:18} at least {found['epsilon_lower_bound']:.4f}, at most "
              f"{found['epsilon_upper_bound']:.3f}, {seconds:.2f} s")
    record["shuffle"] = rows
    measuring.keep("accounting", delta=DELTA, results=record)


main()
