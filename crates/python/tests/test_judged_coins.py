"""Audits with a fair coin for each canary: judged, planned, and refused."""

import pickle
import time

import numpy as np
import pytest

import misdeal
from misdeal.outputs import sampled

SETTING = misdeal.Setting(noise_multiplier=0.8, steps_per_epoch=117, epochs=10, batch_size=512, threat_model="partially-informed")


def trained(canaries, runs, seed, setting=SETTING, paired=False):
    """Outputs of a shuffled mechanism as training gives them, with independent places."""
    generator = np.random.default_rng(seed)
    rows = canaries * runs
    coins = generator.random(rows) < 0.5
    if paired:
        coins[1::2] = ~coins[::2]
    outputs = setting.noise_multiplier * generator.standard_normal((rows, setting.epochs, setting.steps_per_epoch)) - 1
    places = generator.integers(setting.steps_per_epoch, size=(rows, setting.epochs))
    row, epoch = np.indices(places.shape)
    outputs[row, epoch, places] += np.where(coins, 2, 1)[:, None]
    return outputs.reshape(rows, -1), coins


def poisson(delta):
    """What an accountant answers that refuses some deltas."""
    if delta < 1e-7 or delta > 0.6:
        raise ValueError("no such delta")
    return misdeal.account(noise_multiplier=0.8, steps_per_epoch=117, epochs=10, delta=delta, scheme="poisson").schemes["poisson"]["epsilon_upper_bound"]


@pytest.fixture(scope="module")
def curve():
    return sampled(poisson, 1e-5)


def test_one_run_with_64_canaries_refutes_the_curve(curve):
    found = misdeal.judge_coins(SETTING, *trained(64, 1, seed=1), 64, claimed_curve=curve, independence="follow")
    assert (found.verdict.kind, found.runs, found.canaries, found.coins, found.independence) == ("refuted", 1, 64, 64, "follow")
    assert found.valid and found.violated and found.curve.refuted and found.curve.e_value >= 20 and found.curve.p_value < 0.05
    assert f"{found.right_guesses} of 64 coins guessed right; the claimed curve allows 60.7 %: refuted" in found.verdict()
    assert abs(found.curve.claimed_total_variation - 0.214) < 2e-3 and abs(found.claimed_epsilon - 2.87) < 0.02
    assert pickle.loads(pickle.dumps(found)).curve == found.curve


def test_one_run_with_512_canaries_shows_more_than_the_claim(curve):
    found = misdeal.judge_coins(SETTING, *trained(512, 1, seed=2), 512, claimed_curve=curve, independence="follow")
    assert found.valid and found.empirical_epsilon > 2.5 and found.curve.p_value < 1e-3


def test_without_a_reason_nothing_is_valid(curve):
    for words in [{}, {"independence": "follow", "objection": "the hook was removed"}]:
        found = misdeal.judge_coins(SETTING, *trained(64, 1, seed=3), 64, claimed_curve=curve, **words)
        # Theory alone contradicts the claim.
        assert (found.valid, found.violated, found.curve.refuted) == (False, False, False)
        assert "Theory contradicts" in found.verdict()
    private = misdeal.judge_coins(SETTING, *trained(64, 1, seed=3), 64, claimed_curve=curve, independence="private-coins")
    assert private.curve.e_value is None and private.curve.right_guesses_p_value is None


def test_correct_training_is_not_accused():
    setting = SETTING.replace(scheme="poisson", threat_model="target-canary")
    generator = np.random.default_rng(4)
    coins = generator.random(256) < 0.5
    there = generator.random((256, setting.steps)) < 1 / 117
    outputs = 0.8 * generator.standard_normal((256, setting.steps)) + there * coins[:, None]
    found = misdeal.judge_coins(setting, outputs, coins, 64, independence="memberships")
    assert found.verdict.kind != "refuted" and found.curve.name == "poisson"


def test_one_canary_in_48_runs():
    outputs, coins = trained(1, 48, seed=5, paired=True)
    found = misdeal.judge_coins(SETTING, outputs, coins, 1, claimed_epsilon=poisson, independence="single", paired=True)
    assert found.verdict.kind == "refuted" and found.estimates["likelihood-ratio"]["estimator"] == "clopper-pearson"
    with pytest.raises(ValueError, match="paired is true"):
        misdeal.judge_coins(SETTING, outputs, np.ones(48, bool), 1, claimed_epsilon=2.0, independence="single", paired=True)


def test_bad_arguments_are_refused_by_name():
    outputs, coins = trained(4, 1, seed=6)
    for words, name in [
        ({"claimed_curve": "poison"}, "claimed_curve"),
        ({"claimed_curve": "gaussian"}, "claimed_curve"),
        ({"claimed_curve": [[-1.0, 2.0]]}, "claimed_curve"),
        ({"independence": "trust-me"}, "independence"),
        ({"significance": 0.9}, "significance"),
    ]:
        with pytest.raises(ValueError, match=name):
            misdeal.judge_coins(SETTING, outputs, coins, 4, **words)
    with pytest.raises(ValueError, match="coins"):
        misdeal.judge_coins(SETTING, outputs, coins, 3)
    with pytest.raises(ValueError, match="outputs"):
        misdeal.judge_coins(SETTING, outputs, coins[:2], 2)


def test_runs_needed(curve):
    assert misdeal.runs_needed(SETTING, curve, 64) == 1
    alone = misdeal.runs_needed(SETTING, curve)
    assert 24 <= alone <= 48
    assert misdeal.runs_needed(SETTING.replace(scheme="poisson"), "poisson") is None
    assert misdeal.runs_needed(SETTING, 2.88, 64) > 5


def test_a_hundred_thousand_canaries_are_judged():
    setting = SETTING.replace(steps_per_epoch=4, epochs=2)
    outputs, coins = trained(100_000, 1, seed=7, setting=setting)
    start = time.perf_counter()
    found = misdeal.judge_coins(setting, outputs, coins, 100_000, independence="follow", claimed_curve="poisson")
    print("seconds:", time.perf_counter() - start)
    assert found.verdict.kind == "refuted" and found.one_run["uses_independence"]
