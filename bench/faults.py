"""Faults planted in real training with Opacus or JAX: does a check-up find each from one run, and does it accuse correct training?

usage: python3 bench/faults.py opacus|jax [SEEDS] [CORRECT]      needs the Python package; a constant seed takes two runs

Each fault is planted in so many trainings (20), each with a seed of its own. `found` counts those whose own test has p < 1e-6; `named` counts those whose
first sentence is about that test. `correct` trainings (200) count how many p-values of all tests together are below 0.05 and below 1e-4.
"""
import multiprocessing
import sys
import time

import measuring

sys.path.insert(0, str(measuring.ROOT / "crates" / "python" / "tests"))
# Epochs, where two are too few.
EPOCHS = {"clipping per tensor": 8, "accumulation": 4, "ghost": 4, "noise 10 % too small": 4, "divided by its size": 8}


MODELS = ("worst-case", "target-canary", "partially-informed")


def checked(task):
    """The check-up of one training: p-values of all tests and of the fault's own, whether it is accused, and the sentence."""
    framework, fault, name, seed, epochs, threat_model, claimed_scheme = task
    if framework == "opacus":
        import misdeal.torch
        import opacus_faults as training

        auditor = training.audited(misdeal.torch.Auditor(threat_model=threat_model, canaries=64, seed=seed), fault, epochs)
    else:
        import jax_faults as training

        auditor = training.audited(seed, fault, epochs, threat_model)
    found = auditor.check(claimed_scheme=claimed_scheme)
    return found.p_value, None if name is None else found.test(name).p_value, not found.passed, found.sentence


def row(fault, name, results):
    together, own, accused, sentences = zip(*results)
    known = {"fault": fault, "epochs": EPOCHS.get(fault, 2), "trainings": len(results), "accused": sum(accused)}
    if name is None:
        return {**known, "smallest_p_value": min(together)}
    return {**known, "test": name, "runs_each": 2 if fault == "constant seed" else 1, "found": sum(p < 1e-6 for p in own),
            "named": sum(f"({name}," in sentence for sentence in sentences), "largest_p_value": max(own)}


def main():
    framework, seeds, correct = sys.argv[1], *(int(word) for word in [*sys.argv[2:4], *("20", "200")[len(sys.argv[2:4]):]])
    if framework == "opacus":
        from opacus_faults import FAULTS

        faults = {fault: name for fault, (_, name) in FAULTS.items()}
    else:
        from jax_faults import FAULTS as faults
    start = time.time()
    rows = []
    with multiprocessing.get_context("spawn").Pool() as pool:
        for fault, name in faults.items():
            if fault != "correct":
                tasks = [(framework, fault, name, seed, EPOCHS.get(fault, 2), "worst-case", "poisson") for seed in range(seeds)]
                rows.append(row(fault, name, pool.map(checked, tasks, chunksize=1)))
                print(rows[-1], flush=True)
        kinds = [("shuffled", "shuffle") if seed % 4 == 3 else ("correct", "poisson") for seed in range(correct)]
        tasks = [(framework, kind, None, 1000 + seed, 1, MODELS[seed % 3], claim) for seed, (kind, claim) in enumerate(kinds)]
        together, _, accused, _ = zip(*pool.map(checked, tasks))
    summary = {"trainings": correct, "below_0.05": sum(p < 0.05 for p in together), "accused": sum(accused), "smallest_p_value": min(together)}
    print(summary)
    measuring.keep(f"faults_{framework}", seconds=round(time.time() - start), rows=rows, correct=[summary])


if __name__ == "__main__":
    main()
