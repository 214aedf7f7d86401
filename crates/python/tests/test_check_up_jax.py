"""Check-ups of plain JAX: correct training is not accused, and each fault is found from one run."""

import pytest

pytest.importorskip("jax")

import jax_faults as training  # noqa: E402

EPOCHS = {"clipping per tensor": 8, "no clipping": 2, "accumulation": 4, "ghost": 4, "noise 10 % too small": 4, "divided by its size": 8}


@pytest.mark.parametrize("fault", [fault for fault, name in training.FAULTS.items() if name])
def test_each_fault_is_found_from_one_run(fault):
    found = training.audited(0, fault, EPOCHS.get(fault, 2)).check()
    test = found.test(training.FAULTS[fault])
    assert test.p_value < 1e-6 and not found.passed, test


@pytest.mark.parametrize("threat_model", ["worst-case", "target-canary", "partially-informed"])
def test_correct_training_is_not_accused(threat_model):
    """Nine check-ups: one of them is accused with probability 0.0009."""
    for seed, fault in ((1, "correct"), (2, "double noise"), (3, "shuffled")):
        found = training.audited(seed, fault, 2, threat_model).check(claimed_scheme="shuffle" if fault == "shuffled" else "poisson")
        assert found.passed, found.sentence
