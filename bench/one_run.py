"""One-run auditors side by side: how often each accuses correct training, and what each shows of shuffled training.

usage: python bench/one_run.py [audits]     with the Python package installed; jax-privacy==2.0.0 is left out if it is not

- edge: a Gaussian mechanism that is exactly as private as it claims. Its canaries are independent.
- shared: each canary's response is right with a probability that is drawn once a run, exactly as private as claimed.
- shuffled: noise 0.8, 117 steps, 10 shuffled epochs, claimed as Poisson sampling (epsilon 2.87).

A bound is a false claim if it exceeds the true epsilon at delta 1e-5; a test, if it refutes the true curve. All at 5 %, one run of 512
canaries, the same scores for all. The last table is seconds for 100,000 canaries, and for MultiSplit of 2,000 scores.
"""
import math
import sys
import time
import warnings
from statistics import NormalDist

import numpy as np

import measuring
import misdeal

DELTA, SIGNIFICANCE, CANARIES = 1e-5, 0.05, 512
NOISE = 1.5
NORMAL = NormalDist()
EDGE = misdeal.Setting(noise_multiplier=NOISE, steps_per_epoch=1, scheme="fixed-order", threat_model="target-canary")
SHUFFLED = misdeal.Setting(noise_multiplier=0.8, steps_per_epoch=117, epochs=10, batch_size=512, threat_model="partially-informed")
LOSSES, SHARES = np.array([0.1, 0.6, 2.5]), np.array([0.7, 0.2, 0.1])
EPSILONS = np.linspace(0, 2.5, 51)


def gaussian_epsilon(delta, mu=1 / NOISE):
    def delta_at(epsilon):
        return NORMAL.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * NORMAL.cdf(-mu / 2 - epsilon / mu)

    low, high = 0.0, 50.0
    while high - low > 1e-9:
        low, high = ((low + high) / 2, high) if delta_at((low + high) / 2) > delta else (low, (low + high) / 2)
    return high


def shared_curve():
    right = 1 / (1 + np.exp(-LOSSES))
    return [[float((SHARES * np.maximum(right - math.exp(e) * (1 - right), 0)).sum()), float(e)] for e in EPSILONS]


def edge(generator):
    coins = generator.random(CANARIES) < 0.5
    return coins + NOISE * generator.standard_normal(CANARIES), coins


def shared(generator):
    loss = generator.choice(LOSSES, p=SHARES)
    coins = generator.random(CANARIES) < 0.5
    says = coins == (generator.random(CANARIES) < 1 / (1 + math.exp(-loss)))
    # As an output of the Gaussian setting, whose score is (output - 1/2) / noise^2.
    return 0.5 + np.where(says, loss, -loss), coins


def shuffled(generator):
    coins = generator.random(CANARIES) < 0.5
    outputs = 0.8 * generator.standard_normal((CANARIES, 10, 117)) - 1
    place = generator.integers(117, size=(CANARIES, 10))
    row, epoch = np.indices(place.shape)
    outputs[row, epoch, place] += np.where(coins, 2, 1)[:, None]
    return outputs.reshape(CANARIES, -1), coins


def bounds(setting, outputs, coins, curve, independence):
    """What each auditor shows of one run: epsilons by name, and refutations by name."""
    rows = outputs.reshape(CANARIES, -1)
    ours = misdeal.judge_coins(setting, rows, coins, CANARIES, claimed_curve=curve, independence=independence)
    scores = misdeal.score_outputs(setting, rows)
    ins, outs = scores[coins], scores[~coins]
    epsilons = {"misdeal, any dependence": ours.one_run["epsilon_any_dependence"]}
    refuted = {"misdeal, any dependence": ours.curve.p_value <= SIGNIFICANCE}
    if independence != "private-coins":
        epsilons["misdeal, independent coins"] = ours.one_run["epsilon_independent"]
        refuted["misdeal, bet"] = ours.curve.refuted
        refuted["right guesses"] = ours.curve.right_guesses_p_value <= SIGNIFICANCE
    common = dict(delta=DELTA, significance=SIGNIFICANCE, threshold_choice="band", fair_coins=True)
    epsilons["Steinke et al., band"] = misdeal.estimate(ins, outs, estimator="one-run", **common).empirical_epsilon
    epsilons["Mahloujifar et al., Gaussian, band"] = misdeal.estimate(ins, outs, estimator="one-run-fdp", **common).empirical_epsilon
    try:
        from jax_privacy import auditing
    except ImportError:
        return epsilons, refuted
    peer = auditing.CanaryScoreAuditor(ins, outs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        epsilons["jax-privacy, one run"] = float(peer.epsilon_one_run(SIGNIFICANCE, DELTA))
        epsilons["jax-privacy, one run, f-DP"] = float(peer.epsilon_one_run_fdp(SIGNIFICANCE, DELTA))
        epsilons["jax-privacy, Clopper-Pearson"] = float(peer.epsilon_clopper_pearson(SIGNIFICANCE, DELTA))
    return epsilons, refuted


def table(name, draw, setting, curve, claim, independence, audits):
    generator = np.random.default_rng(7)
    epsilons, refuted = {}, {}
    for _ in range(audits):
        outputs, coins = draw(generator)
        found = bounds(setting, outputs, coins, curve, independence)
        for kept, one in zip((epsilons, refuted), found):
            for auditor, value in one.items():
                kept.setdefault(auditor, []).append(value)
    rows = [
        {"auditor": auditor, "mean": round(float(np.mean(values)), 3), "above the claim": float(np.mean(np.array(values) > claim))}
        for auditor, values in epsilons.items()
    ] + [{"auditor": f"{auditor}, curve", "refuted": float(np.mean(values))} for auditor, values in refuted.items()]
    print(f"{name}, claim {claim:.3f}, {audits} audits")
    for row in rows:
        print("  ", row)
    return {"mechanism": name, "claim": claim, "audits": audits, "auditors": rows}


def speeds():
    setting = SHUFFLED.replace(steps_per_epoch=4, epochs=2)
    generator = np.random.default_rng(3)
    coins = generator.random(100_000) < 0.5
    outputs = 0.8 * generator.standard_normal((100_000, 8)) - 1
    outputs[np.arange(100_000), generator.integers(4, size=100_000)] += 1 + coins
    rows = []

    def timed(what, job):
        job()
        start = time.perf_counter()
        job()
        rows.append({"what": what, "seconds": round(time.perf_counter() - start, 3)})
        print("  ", rows[-1])

    timed("misdeal, 100,000 canaries judged", lambda: misdeal.judge_coins(setting, outputs, coins, 100_000, independence="follow", claimed_curve="poisson"))
    ins, outs = generator.standard_normal(1000) + 1, generator.standard_normal(1000)
    timed("misdeal, MultiSplit", lambda: misdeal.CanaryScoreAuditor(ins, outs).epsilon_clopper_pearson(0.05, threshold_strategy=misdeal.MultiSplit(seed=1)))
    try:
        from jax_privacy import auditing
    except ImportError:
        return rows
    peer = auditing.CanaryScoreAuditor(ins, outs)
    timed("jax-privacy, MultiSplit", lambda: peer.epsilon_clopper_pearson(0.05, threshold_strategy=auditing.MultiSplit(seed=1)))
    return rows


def main():
    audits = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    poisson = misdeal.account(noise_multiplier=0.8, steps_per_epoch=117, epochs=10, delta=DELTA, scheme="poisson")
    claim = poisson.schemes["poisson"]["epsilon_upper_bound"]
    curve = shared_curve()
    gaussian = [[delta, gaussian_epsilon(delta)] for delta in misdeal.outputs.DELTAS]
    shared_claim = max(epsilon for delta, epsilon in curve if delta > DELTA)
    mechanisms = [
        table("edge", edge, EDGE, gaussian, gaussian_epsilon(DELTA), "memberships", audits),
        table("shared", shared, EDGE, curve, shared_claim + 0.05, "private-coins", audits),
        table("shuffled", shuffled, SHUFFLED, "poisson", claim, "follow", max(20, audits // 5)),
    ]
    measuring.keep("one_run", canaries=CANARIES, delta=DELTA, significance=SIGNIFICANCE, mechanisms=mechanisms, speeds=speeds())


if __name__ == "__main__":
    main()
