"""Audits of real Opacus: the innocent are not accused, and each mistake is found, at significance 0.001."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("opacus")

import misdeal.torch  # noqa: E402
import opacus_training as training  # noqa: E402
from opacus.utils.batch_memory_manager import BatchMemoryManager  # noqa: E402

SIGNIFICANCE = 0.001


def verdict(runs, threat_model="worst-case", seed=0, canaries=1, curve=False, significance=SIGNIFICANCE, **options):
    auditor = misdeal.torch.Auditor(threat_model=threat_model, seed=seed, canaries=canaries)
    epsilon_of = training.audited(auditor, runs, **options)
    claim = epsilon_of if curve else epsilon_of(training.DELTA)
    return auditor, auditor.judge(claimed_epsilon=claim, delta=training.DELTA, significance=significance)


def test_correct_training_is_not_accused():
    """Twelve audits of Poisson sampling at 0.001, half of them of the whole curve: a false alarm is expected in none of eighty times as many."""
    for seed in range(12):
        threat_model = ("worst-case", "partially-informed", "target-canary")[seed % 3]
        curve = seed % 2 == 1
        auditor, report = verdict(10 if curve else 40, threat_model, seed, canaries=6 if curve else 1, curve=curve)
        assert auditor.setting.scheme == "poisson" and report.valid and not report.violated, seed


def test_correct_training_gives_the_mechanisms_outputs():
    """Noise of the stated size and a canary of one: five standard errors are a false alarm of 6e-7 each."""
    auditor, _ = verdict(200)
    noise = auditor.outputs_out.ravel()
    assert abs(noise.mean()) < 5 * training.NOISE / math.sqrt(noise.size)
    assert abs(noise.std() / training.NOISE - 1) < 5 / math.sqrt(2 * noise.size)
    # Present in each of 25 steps with probability 1/25.
    hits = auditor.outputs_in.sum(axis=1)
    spread = math.sqrt(25 * training.NOISE**2 + 25 * 0.04 * 0.96)
    assert abs(hits.mean() - 1) < 5 * spread / math.sqrt(hits.size)


def test_shuffling_refutes_the_curve_that_opacus_claims():
    auditor, report = verdict(100, canaries=4, curve=True, poisson_sampling=False)
    assert auditor.setting.scheme == "shuffle" and report.valid and report.violated and report.verdict.kind == "refuted"
    assert report.independence == "follow" and report.coins == 400 and report.curve.refuted


def test_one_canary_in_pairs_of_runs_refutes_the_curve():
    auditor, report = verdict(60, curve=True, epochs=5, significance=0.05, poisson_sampling=False)
    assert report.valid and report.violated and report.independence == "single" and report.coins == 60


def test_natural_gradients_at_canaries_leave_what_holds_for_any_dependence():
    auditor = misdeal.torch.Auditor(threat_model="partially-informed", canary="random", canaries=4)
    epsilon_of = training.audited(auditor, 40, poisson_sampling=False)
    report = auditor.judge(claimed_epsilon=epsilon_of, delta=training.DELTA)
    assert auditor.independence == report.independence == "private-coins" and report.valid
    assert report.curve.e_value is None and 0 < report.curve.p_value <= 1


def test_too_little_noise_is_found():
    _, report = verdict(800, mistake=training.HalfNoise)
    assert report.valid and report.violated


def test_skipped_clipping_is_found():
    _, report = verdict(200, mistake=training.NoClipping)
    assert report.valid and report.violated


def test_noise_that_is_the_same_in_every_step_is_found():
    _, report = verdict(200, mistake=training.NoiseOfEveryStepTheSame)
    assert report.valid and report.violated and report.score == "spread"


def test_noise_that_is_the_same_in_every_run_is_found():
    _, report = verdict(200, mistake=training.NoiseOfEveryRunTheSame)
    assert report.valid and report.violated and report.score == "likelihood-ratio"


@pytest.mark.parametrize(
    "threat_model, shuffled, low, high",
    [("target-canary", True, 0, 1), ("partially-informed", True, -1, 1), ("worst-case", True, -1, 1), ("worst-case", False, 0, 1)],
)
def test_what_is_planted(threat_model, shuffled, low, high):
    """Without noise, in a direction that natural gradients do not reach, outputs are exactly what was planted."""
    auditor = misdeal.torch.Auditor(threat_model=threat_model, canary="null-space", target_index=17, canaries=1)
    for run in auditor.runs(6):
        model, optimizer, loader, _ = training.make_private(poisson_sampling=not shuffled)
        optimizer.add_noise = lambda optimizer=optimizer: training.quiet(optimizer)
        run.plant(optimizer, loader)
        training.train(model, optimizer, loader, epochs=2)
    for outputs, present in ((auditor.outputs_in, 1), (auditor.outputs_out, 0)):
        assert outputs.shape == (3, 50)
        rounded = np.round(outputs)
        assert np.abs(outputs - rounded).max() < 1e-4
        assert set(np.unique(rounded)) <= {low, 0, high}
        if shuffled:
            for epoch in rounded.reshape(-1, 25):
                assert np.sum(epoch == present) == (25 if present == 0 and low == 0 else 1)
                assert np.sum(epoch == low) == (24 if low < 0 else 24 + (present == 0))


def test_physical_batches_may_be_smaller_than_logical_ones():
    auditor = misdeal.torch.Auditor(threat_model="target-canary", canary="null-space")
    for run in auditor.runs(2):
        model, optimizer, loader, _ = training.make_private()
        optimizer.add_noise = lambda optimizer=optimizer: training.quiet(optimizer)
        run.plant(optimizer, loader)
        with BatchMemoryManager(data_loader=loader, max_physical_batch_size=2, optimizer=optimizer) as small:
            training.train(model, optimizer, small)
    assert auditor.outputs_in.shape == (1, 25)
    assert np.abs(auditor.outputs_in - np.round(auditor.outputs_in)).max() < 1e-4


def test_indices_may_be_told_by_hand():
    auditor = misdeal.torch.Auditor(scheme="fixed-order", threat_model="worst-case", canary="dirac", target_index=9, canaries=1)
    loss = torch.nn.CrossEntropyLoss()
    for run in auditor.runs(2):
        model, optimizer, _, _ = training.make_private(poisson_sampling=False, shuffle=False)
        optimizer.add_noise = lambda optimizer=optimizer: training.quiet(optimizer)
        run.plant(optimizer, steps_per_epoch=25)
        for start in range(0, 100, 4):
            run.batch(range(start, start + 4))
            features, labels = training.DATA[start : start + 4]
            optimizer.zero_grad()
            loss(model(features), labels).backward()
            optimizer.step()
    expected = -np.ones(25)
    expected[2] = 1
    assert np.allclose(auditor.outputs_in[0], expected, atol=1e-4)


def test_refusals_name_what_is_wrong():
    auditor = misdeal.torch.Auditor()
    with pytest.raises(ValueError, match="^runs is 3"):
        next(misdeal.torch.Auditor(canaries=1).runs(3))
    with pytest.raises(ValueError, match="^runs is 0"):
        next(auditor.runs(0))
    with pytest.raises(ValueError, match="^plant was not called"):
        list(auditor.runs(2))
    with pytest.raises(TypeError, match="^optimizer is SGD"):
        next(auditor.runs(2)).plant(torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=1), None)
    _, optimizer, loader, _ = training.make_private(poisson_sampling=False)
    loader = torch.utils.data.DataLoader(training.DATA, batch_size=7, shuffle=True)
    with pytest.raises(ValueError, match="^drop_last is False"):
        next(auditor.runs(2)).plant(optimizer, loader)
    with pytest.raises(ValueError, match="^canary is 'sideways'"):
        misdeal.torch.Auditor(canary="sideways")
    with pytest.raises(ValueError, match="^runs is 0"):
        auditor.judge()
