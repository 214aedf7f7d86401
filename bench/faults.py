"""Faults planted in real training with Opacus or JAX: does a check-up find each from one run, and does it accuse correct training?

usage: python3 bench/faults.py opacus|jax [SEEDS] [CORRECT]      needs the Python package; a constant seed takes two runs

Each fault is planted in so many trainings (20), each with a seed of its own. `found` counts those whose own test has p < 1e-6; `named` counts those whose
first sentence is about that test. `correct` trainings (200) count how many p-values of all tests together are below 0.05 and below 1e-4.
"""
import sys
import time

import measuring

sys.path.insert(0, str(measuring.ROOT / "crates" / "python" / "tests"))
# Epochs, where two are too few.
EPOCHS = {"clipping per tensor": 8, "accumulation": 4, "ghost": 4, "noise 10 % too small": 4, "divided by its size": 8}


def opacus():
    import misdeal.torch
    import opacus_faults as training

    def checked(fault, seed, epochs, threat_model="worst-case", **claim):
        auditor = misdeal.torch.Auditor(threat_model=threat_model, canaries=64, seed=seed)
        return training.audited(auditor, fault, epochs).check(**claim)

    return checked, {fault: name for fault, (_, name) in training.FAULTS.items()}


def jax():
    import jax_faults as training

    def checked(fault, seed, epochs, threat_model="worst-case", **claim):
        return training.audited(seed, fault, epochs, threat_model).check(**claim)

    return checked, training.FAULTS


def row(checked, fault, name, seeds):
    epochs = EPOCHS.get(fault, 2)
    results = [checked(fault, seed, epochs) for seed in range(seeds)]
    accused = sum(not found.passed for found in results)
    if name is None:
        return {"fault": fault, "epochs": epochs, "trainings": seeds, "accused": accused, "smallest_p_value": min(found.p_value for found in results)}
    p_values = [found.test(name).p_value for found in results]
    return {"fault": fault, "test": name, "epochs": epochs, "trainings": seeds, "runs_each": 2 if fault == "constant seed" else 1, "accused": accused,
            "found": sum(p < 1e-6 for p in p_values), "named": sum(f"({name}," in found.sentence for found in results), "largest_p_value": max(p_values)}


def main():
    framework = {"opacus": opacus, "jax": jax}[sys.argv[1]]
    seeds, correct = (int(word) for word in [*sys.argv[2:], "20", "200"][:2]) if len(sys.argv) != 3 else (int(sys.argv[2]), 200)
    checked, faults = framework()
    start = time.time()
    rows = []
    for fault, name in faults.items():
        if fault != "correct":
            rows.append(row(checked, fault, name, seeds))
            print(rows[-1], flush=True)
    models = ("worst-case", "target-canary", "partially-informed")
    results = []
    for seed in range(correct):
        shuffled = seed % 4 == 3
        claim = {"claimed_scheme": "shuffle" if shuffled else "poisson"}
        results.append(checked("shuffled" if shuffled else "correct", 1000 + seed, 1, models[seed % 3], **claim))
    p_values = [found.p_value for found in results]
    summary = {"trainings": correct, "below_0.05": sum(p < 0.05 for p in p_values), "accused": sum(not found.passed for found in results),
               "smallest_p_value": min(p_values, default=None)}
    print(summary)
    measuring.keep(f"faults_{sys.argv[1]}", seconds=round(time.time() - start), rows=rows, correct=[summary])


if __name__ == "__main__":
    main()
