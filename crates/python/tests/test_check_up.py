"""Check-ups of real Opacus: correct training is not accused, and each fault is found from one run."""

import json
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("opacus")

import misdeal.torch  # noqa: E402
import opacus_faults as training  # noqa: E402

# The fewest epochs in which each fault has enough outputs.
EPOCHS = {"clipping per tensor": 8, "no clipping": 2, "accumulation": 4, "ghost": 4, "noise 10 % too small": 4, "divided by its size": 8}


def checked(fault="correct", seed=0, epochs=None, threat_model="worst-case", canaries=64, **options):
    auditor = misdeal.torch.Auditor(threat_model=threat_model, canaries=canaries, seed=seed)
    return training.audited(auditor, fault, epochs or EPOCHS.get(fault, 2)).check(**options)


@pytest.mark.parametrize("fault", [fault for fault, (_, name) in training.FAULTS.items() if name])
def test_each_fault_is_found_from_one_run(fault):
    name = training.FAULTS[fault][1]
    for seed in range(2):
        found = checked(fault, seed)
        test = found.test(name)
        assert test.p_value < 1e-6 and not test.passed, (seed, test)
        assert not found.passed and test.message in found.sentence or name in found.sentence


def test_correct_training_is_not_accused():
    """Twenty check-ups: one of them is accused with probability 0.002, and five p-values below 0.005 have probability 5e-8."""
    p_values = []
    for seed in range(20):
        shuffled = seed % 4 == 3
        threat_model = ("worst-case", "target-canary", "partially-informed")[seed % 3]
        found = checked("shuffled" if shuffled else "correct", seed, 1, threat_model, claimed_scheme="shuffle" if shuffled else "poisson")
        assert found.passed, (seed, found.sentence)
        assert all(test.passed for test in found) and found.sentence.startswith("No fault found in one run")
        p_values.append(found.p_value)
    assert sum(p < 0.005 for p in p_values) < 5


def test_more_noise_is_said_and_not_accused():
    found = checked("double noise")
    assert found.passed
    assert "times as much as the claimed noise" in found.test("noise-scale").message


def test_one_canary_needs_two_runs_and_is_checked_too():
    auditor = misdeal.torch.Auditor(threat_model="worst-case", canaries=1)
    for fault, passed in (("correct", True), ("no noise on biases", False)):
        auditor.records.clear()
        for run in auditor.runs(2):
            model, optimizer, loader, _ = training.make_private(fault)
            run.plant(optimizer, loader)
            training.train(model, optimizer, loader, 2)
        assert auditor.check().passed == passed


def test_natural_gradients_leave_what_holds_for_any_of_them():
    found = checked(threat_model="partially-informed")
    assert found.passed and found.test("equal-noise").p_value is None and found.test("clipping").p_value is not None
    # Half the noise shows in tensors that natural gradients hardly reach.
    assert not checked("noise halved", threat_model="partially-informed", epochs=4).passed
    for fault in ("every fifth step without noise", "same noise each step", "no noise on biases"):
        assert checked(fault, threat_model="partially-informed", epochs=4).test(training.FAULTS[fault][1]).p_value < 1e-6, fault


def test_the_list_is_a_document():
    found = checked()
    assert len(found) == 15 and {"name", "p_value", "passed", "message"} == set(found[0]._fields)
    assert json.loads(found.to_json())["command"] == "check-up" and found.to_dict()["p_value"] == found.p_value
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again.sentence == found.sentence
    assert str(found).endswith(found.sentence) and "noise-scale" in str(found)
    smallest = min(test.p_value for test in found if test.p_value is not None)
    assert np.isclose(found.p_value, min(1, smallest * sum(test.p_value is not None for test in found)))


def test_refusals_name_what_is_wrong():
    auditor = misdeal.torch.Auditor()
    with pytest.raises(ValueError, match="^runs is 0"):
        auditor.check()
    with pytest.raises(ValueError, match="^claimed_scheme is 'poison'"):
        auditor.check(claimed_scheme="poison")
    with pytest.raises(KeyError, match="test is 'noise'"):
        checked().test("noise")
