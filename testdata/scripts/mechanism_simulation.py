"""Writes testdata/mechanism_simulation.toml: epsilon of the paper's Algorithm 1 on the batched Gaussian mechanism.

An independent simulation in NumPy: gradients are summed batch by batch, records are dealt as a loader deals them where
their order is not uniform, the likelihood ratio is taken of Gaussian densities of the outputs as they are, and the maximum
is over all thresholds with scipy's Beta quantile. Each row is the mean and the standard deviation of epsilon over
independent runs, at delta 1e-5 and significance 0.05. Needs numpy and scipy, no arguments; takes some ten minutes.
"""
from pathlib import Path

import numpy as np
from scipy.stats import beta

DELTA, SIGNIFICANCE = 1e-5, 0.05
TRIALS_PER_WORLD = 100_000
FIELDS = ("scheme", "buffer_size", "adversary_scheme", "threat_model", "noise_multiplier", "steps_per_epoch", "epochs",
          "batch_size", "target_index")
CASES = [
    (40, ("shuffle", None, None, "worst-case", 0.5, 100, 1, 100, 0)),
    (40, ("shuffle", None, None, "worst-case", 1.0, 100, 1, 100, 0)),
    (40, ("shuffle", None, None, "worst-case", 1.5, 100, 1, 100, 0)),
    (20, ("shuffle", None, None, "worst-case", 1.0, 1000, 1, 100, 0)),
    (40, ("shuffle", None, None, "worst-case", 1.5, 10, 5, 100, 0)),
    (40, ("shuffle", None, None, "target-canary", 1.0, 100, 1, 100, 0)),
    (40, ("poisson", None, None, "worst-case", 1.0, 100, 1, 100, 0)),
    (40, ("poisson", None, None, "worst-case", 0.6, 10, 3, 100, 0)),
    (40, ("balls-in-bins", None, None, "worst-case", 0.8, 10, 2, 10, 0)),
    (40, ("without-replacement", None, None, "partially-informed", 1.2, 10, 2, 4, 0)),
    (40, ("shuffle-once", None, None, "worst-case", 1.5, 10, 3, 4, 0)),
    (40, ("fixed-order", None, None, "worst-case", 1.2, 10, 2, 4, 7)),
    (40, ("batch-then-shuffle", None, None, "worst-case", 1.0, 10, 1, 4, 0)),
    (40, ("stream-shuffle", 8, None, "worst-case", 1.0, 10, 2, 4, 20)),
    (40, ("partial-shuffle", 10, None, "worst-case", 1.0, 10, 1, 4, 12)),
    (40, ("partial-shuffle", 10, "shuffle", "partially-informed", 1.0, 10, 1, 4, 12)),
]


def deal_stream(rng, trials, case):
    """The target's batch with a sliding buffer: every emission takes a random slot, which the next record fills."""
    n, k, target = case["steps_per_epoch"] * case["batch_size"], case["buffer_size"], case["target_index"]
    buffer = np.tile(np.arange(k), (trials, 1))
    filled = np.full(trials, k)
    rows = np.arange(trials)
    emitted_as = np.zeros(trials, dtype=np.int64)
    for emission in range(n):
        slot = (rng.random(trials) * filled).astype(np.int64)
        emitted_as[buffer[rows, slot] == target] = emission
        if emission + k < n:
            buffer[rows, slot] = emission + k
        else:  # nothing refills it: the last record of the buffer takes the empty slot
            filled -= 1
            buffer[rows, slot] = buffer[rows, filled]
            buffer[rows, filled] = -1
    return emitted_as // case["batch_size"]


def deal_blocks(rng, trials, case):
    """The target's batch with blocks of buffer_size records, each permuted."""
    n, k, target = case["steps_per_epoch"] * case["batch_size"], case["buffer_size"], case["target_index"]
    start = target // k * k
    order = np.argsort(rng.random((trials, min(k, n - start))), axis=1)
    return (start + np.argmax(order == target - start, axis=1)) // case["batch_size"]


def membership(rng, trials, case):
    """For every epoch and trial, the steps in which the target is: an array of booleans."""
    steps, epochs = case["steps_per_epoch"], case["epochs"]
    scheme = case["scheme"]
    if scheme == "poisson":
        return rng.random((epochs, trials, steps)) < 1 / steps
    if scheme == "without-replacement":  # record 0 is among the first B of n in random order
        n = steps * case["batch_size"]
        first = np.stack([[rng.permuted(np.tile(np.arange(n) == 0, (trials, 1)), axis=1)[:, : case["batch_size"]].any(axis=1)
                           for _ in range(steps)] for _ in range(epochs)])
        return first.transpose(0, 2, 1)
    if scheme == "stream-shuffle":
        batch = np.stack([deal_stream(rng, trials, case) for _ in range(epochs)])
    elif scheme == "partial-shuffle":
        batch = np.stack([deal_blocks(rng, trials, case) for _ in range(epochs)])
    elif scheme == "fixed-order":
        batch = np.full((epochs, trials), case["target_index"] // case["batch_size"])
    elif scheme == "shuffle-once":
        batch = np.tile(rng.integers(0, steps, trials), (epochs, 1))
    else:
        batch = rng.integers(0, steps, (epochs, trials))
    return batch[:, :, None] == np.arange(steps)


def weights(scheme, case):
    """The probability of each batch for the target, by following the buffer's slot through the epoch."""
    steps, size, target, k = (case[f] for f in ("steps_per_epoch", "batch_size", "target_index", "buffer_size"))
    n, w = steps * size, np.zeros(steps)
    if scheme == "stream-shuffle":
        still_there = 1.0
        for emission in range(n):
            if emission + k > target:
                leaves = still_there / (k if emission + k < n else n - emission)
                w[emission // size] += leaves
                still_there -= leaves
    elif scheme == "partial-shuffle":
        start = target // k * k
        places = np.arange(start, min(n, start + k))
        np.add.at(w, places // size, 1 / len(places))
    elif scheme == "fixed-order":
        w[target // size] = 1
    else:
        w[:] = 1 / steps
    return w


def gradient_sums(case):
    """Sums of a batch's gradients: without the target, with the target, with the target zeroed out."""
    scheme, size = case["scheme"], case["batch_size"]
    if case["threat_model"] == "target-canary" or scheme in ("poisson", "balls-in-bins"):
        return 0.0, 1.0, 0.0
    if scheme == "batch-then-shuffle":  # the target's companions are +1, all others -1
        return -float(size), size - 1.0 + 1.0, size - 1.0
    if case["threat_model"] == "partially-informed":  # one opposing gradient a batch without the target
        return -1.0, 1.0, 0.0
    return -float(size), -(size - 1.0) + 1.0, -(size - 1.0)


def log_mean_exp(log_values, log_weights):
    log_values = log_values + log_weights
    largest = log_values.max(axis=-1)
    return largest + np.log(np.exp(log_values - largest[..., None]).sum(axis=-1))


def scores(rng, trials, case, present):
    without, with_target, zeroed = gradient_sums(case)
    s, steps, epochs = case["noise_multiplier"], case["steps_per_epoch"], case["epochs"]
    target_is_in = membership(rng, trials, case)
    outputs = np.where(target_is_in, with_target if present else zeroed, without)
    outputs = outputs + s * rng.standard_normal((epochs, trials, steps))
    scheme = case["adversary_scheme"] or case["scheme"]
    # ln of the density ratio of each output: target there against target elsewhere.
    there = [((outputs - without) ** 2 - (outputs - mean) ** 2) / (2 * s * s) for mean in (with_target, zeroed)]
    if scheme in ("poisson", "without-replacement"):
        q = 1 / steps
        one, other = (np.log1p(q * np.expm1(log_ratio)).sum(axis=(0, 2)) for log_ratio in there)
        return one - other
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights(scheme, case))
    if scheme in ("shuffle-once", "fixed-order"):
        there = [log_ratio.sum(axis=0, keepdims=True) for log_ratio in there]
    one, other = (log_mean_exp(log_ratio, log_weights).sum(axis=0) for log_ratio in there)
    return one - other


def algorithm_1(scores_in, scores_out, bounds):
    """The largest epsilon over all thresholds."""
    n = len(scores_in)
    thresholds = np.concatenate([scores_in, scores_out])
    false_negatives = np.searchsorted(np.sort(scores_in), thresholds, side="left")
    false_positives = n - np.searchsorted(np.sort(scores_out), thresholds, side="left")
    fnr, fpr = bounds[false_negatives], bounds[false_positives]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.maximum((1 - fpr - DELTA) / fnr, (1 - fnr - DELTA) / fpr)
    return max(0.0, float(np.log(ratio[ratio > 0].max())))


def main():
    n = TRIALS_PER_WORLD
    k = np.arange(n)
    bounds = np.append(beta.ppf(1 - SIGNIFICANCE / 2, k + 1, n - k), 1.0)
    with open(Path(__file__).parent.parent / "mechanism_simulation.toml", "w") as out:
        out.write("# numpy and scipy; written by scripts/mechanism_simulation.py\n")
        out.write(f"observations = {2 * n}\ndelta = {DELTA}\nsignificance = {SIGNIFICANCE}\n")
        for number, (runs, values) in enumerate(CASES):
            case = dict(zip(FIELDS, values))
            at_once = max(1, 400_000 // (case["steps_per_epoch"] * case["epochs"]))
            epsilons = []
            for run in range(runs):
                rng = np.random.default_rng([20250711, number, run])
                both = [np.concatenate([scores(rng, min(at_once, n - first), case, present)
                                        for first in range(0, n, at_once)]) for present in (True, False)]
                epsilons.append(algorithm_1(*both, bounds))
            out.write("\n[[case]]\n")
            for name, value in case.items():
                if value is not None:
                    out.write(f"{name} = " + (f'"{value}"' if isinstance(value, str) else f"{value}") + "\n")
            out.write(f"runs = {runs}\nmean = {np.mean(epsilons):.6f}\n")
            out.write(f"standard_deviation = {np.std(epsilons, ddof=1):.6f}\n")
            out.flush()
            print(case, np.mean(epsilons), np.std(epsilons, ddof=1), flush=True)


main()
