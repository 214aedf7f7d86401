"""The Python package beside the command line, the overhead of a call, a Ray cluster beside its parts, and the peer's auditor.

usage: python bench/python.py [--seconds 120]        in an environment with misdeal[ray] (pip install '.[ray]', which builds as a user's does);
                                                     jax-privacy for the comparison of auditors; about fifteen minutes

The two doors differ by less than a busy machine's noise: run it under `chrt -f 50` where something else runs too.
"""

import argparse
import time

import measuring
import misdeal
import numpy as np

NOISE = 1.0


def best(function, rounds):
    """The shortest of several times: what the work takes when nothing else does."""
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)


def audits():
    """The same audit through both doors, in turn, each of them first as often as the other."""
    doors = {
        "command line": lambda: measuring.misdeal("audit", "mechanism", "--observations", "3e8", "--device", "cpu")["seconds"],
        "Python": lambda: misdeal.audit_mechanism(observations=3e8, device="cpu", quiet=True).seconds,
    }
    times = {door: [] for door in doors}
    for turn in range(10):
        for door in list(doors)[:: 1 if turn % 2 else -1]:
            times[door].append(doors[door]())
    seconds = {door: min(values) for door, values in times.items()}
    ratio = seconds["Python"] / seconds["command line"]
    print(f"3e8 observations: command line {seconds['command line']:.3f} s, Python {seconds['Python']:.3f} s, ratio {ratio:.3f}")
    return {"observations": 3e8, "seconds": seconds, "ratio": ratio, "rounds": times}


def calls():
    scores = np.arange(8.0)
    setting = misdeal.Setting(steps_per_epoch=1, batch_size=8)
    programs = {
        "estimate of 8 scores": lambda: misdeal.estimate(scores + 1, scores),
        "score_outputs of one output": lambda: misdeal.score_outputs(setting, [[0.5]]),
        "Setting": lambda: misdeal.Setting(epochs=2),
    }
    found = {}
    for name, call in programs.items():
        found[name] = best(lambda call=call: [call() for _ in range(100)], 10) / 100
        print(f"{name}: {1e6 * found[name]:.0f} us a call")
    return found


def cluster(seconds):
    """A run of about so many seconds on two workers, beside the sum of what its parts take one after the other on one core."""
    import misdeal.cluster
    import ray

    ray.init(num_cpus=2, log_to_driver=False)
    setting = misdeal.Setting(noise_multiplier=NOISE)
    pilot = misdeal.audit_mechanism(setting, observations=1e8, device="cpu", quiet=True, claimed_epsilon=1.0)
    observations = 2 * int(seconds * pilot.observations_per_second / 2)
    alone = misdeal.audit_mechanism(setting, observations=observations, device="cpu", quiet=True, claimed_epsilon=1.0)
    together = misdeal.cluster.audit(setting, observations=observations, claimed_epsilon=1.0, quiet=True)
    same = alone.empirical_epsilon == together.empirical_epsilon and alone.false_positives == together.false_positives
    overhead = together.seconds / alone.seconds - 1
    print(f"{observations:.3g} observations: one process on both cores {alone.seconds:.1f} s, two Ray workers {together.seconds:.1f} s, "
          f"overhead {100 * overhead:.1f} %, same result: {same}")
    ray.shutdown()
    return {"observations": observations, "alone": alone.seconds, "cluster": together.seconds, "overhead": overhead, "same": same}


def auditors():
    try:
        from jax_privacy import auditing
    except ImportError as missing:
        print(f"jax-privacy left out: {missing}")
        return None
    generator = np.random.default_rng(0)
    rows = []
    for number in (1_000, 10_000, 100_000):
        scores = generator.normal(2, 1, number), generator.normal(0, 1, number)
        row = {"scores": number}
        for method in ("epsilon_clopper_pearson", "epsilon_one_run", "epsilon_one_run_fdp", "epsilon_from_gdp"):
            for name, auditor in (("misdeal", misdeal.CanaryScoreAuditor), ("jax-privacy", auditing.CanaryScoreAuditor)):
                if name == "jax-privacy" and number > 10_000 and "one_run" in method:
                    continue
                value = []
                seconds = best(lambda: value.append(getattr(auditor(*scores), method)(0.05, 1e-5)), 2)
                row[f"{method}, {name}"] = {"seconds": seconds, "epsilon": float(value[-1])}
                print(f"{number} scores, {method}, {name}: {seconds:.4f} s, {float(value[-1]):.4f}")
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=120)
    arguments = parser.parse_args()
    measuring.build()
    measuring.keep("python", audits=audits(), calls=calls(), auditors=auditors(), cluster=cluster(arguments.seconds))


main()
