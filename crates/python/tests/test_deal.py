"""Batches that keep the promise: their law by `diagnose`, resumption, ranks, streams, and what is refused."""

import os
import pickle
import stat

import misdeal
import numpy as np
import pytest
from misdeal.deal import Batches, padded, plan, stream

SCHEMES = ["poisson", "balls-in-bins"]


def words(**changes):
    return dict(dataset_size=600, batch_size=20, epochs=4, scheme="poisson", seed=1) | changes


@pytest.mark.parametrize("scheme", SCHEMES)
def test_batches_are_arrays_at_any_step_in_any_order(scheme):
    batches = Batches(**words(scheme=scheme))
    assert len(batches) == 120 and batches.steps_per_epoch == 30
    dealt = list(batches)
    for step in (119, 0, 60, 59, -1):
        assert batches[step].dtype == np.int64
        np.testing.assert_array_equal(batches[step], dealt[step])
    for ours, theirs in zip(batches.epoch(2), dealt[60:90], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    again = pickle.loads(pickle.dumps(batches))
    np.testing.assert_array_equal(again[17], dealt[17])
    for step in (120, -121):
        with pytest.raises(IndexError, match=f"^step is {step}"):
            batches[step]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_plans_are_diagnosed_with_certainty(tmp_path, scheme, ending):
    path = tmp_path / f"plan.{ending}"
    report = plan(path, **words(scheme=scheme), noise_multiplier=1.0)
    assert report.seed == "number" and 0 < report.epsilon_upper_bound < 10
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    found = misdeal.diagnose(path, dataset_size=600)
    assert (found.scheme, found.certain, found.defects) == (scheme, True, [])
    if ending == "parquet":
        with pytest.raises(ValueError, match="^dataset_size is 601, but 600.*other data"):
            misdeal.diagnose(path, dataset_size=601)


def test_a_plan_is_what_batches_deal(tmp_path):
    import json

    plan(tmp_path / "plan.jsonl", **words(dataset_size=9, batch_size=1, epochs=3))
    lines = [json.loads(line) for line in (tmp_path / "plan.jsonl").read_text().splitlines()]
    batches = Batches(**words(dataset_size=9, batch_size=1, epochs=3))
    assert [line["batch"] for line in lines] == [batch.tolist() for batch in batches]
    assert [line["epoch"] for line in lines] == [step // 9 for step in range(27)]
    assert [] in [line["batch"] for line in lines], "empty batches have their line"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_ranks_share_every_batch_and_have_as_many_steps(scheme):
    whole = Batches(**words(scheme=scheme, dataset_size=60, batch_size=2))
    ranks = [Batches(**words(scheme=scheme, dataset_size=60, batch_size=2, rank=rank, world_size=3)) for rank in range(3)]
    assert {len(rank) for rank in ranks} == {len(whole)}
    assert any(rank[step].size == 0 for rank in ranks for step in range(len(whole)))
    for step, batch in enumerate(whole):
        assert sorted(np.concatenate([rank[step] for rank in ranks])) == sorted(batch)


def test_seeds_are_secret(tmp_path):
    one, other = (Batches(**words(seed=None)) for _ in range(2))
    assert any(not np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    with pytest.raises(TypeError, match="give seed_file"):
        pickle.dumps(one)
    file = tmp_path / "seed"
    first = Batches(**words(seed=None, seed_file=file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = Batches(**words(seed=None, seed_file=file))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    secret = file.read_text().strip()
    report = plan(tmp_path / "plan.jsonl", **words(seed=None, seed_file=file))
    assert secret not in report.to_json() and secret not in repr(first) and report.seed == "file"
    os.chmod(file, 0o644)
    with pytest.raises(ValueError, match="mode 644.*chmod 600"):
        Batches(**words(seed=None, seed_file=file))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_streams_are_dealt_in_one_pass(scheme):
    batches = Batches(**words(scheme=scheme, dataset_size=100, batch_size=7, epochs=2))
    for epoch in range(2):
        dealt = list(stream((str(record) for record in range(100)), batches, epoch=epoch, in_memory=10))
        expected = [sorted(map(str, batch.tolist())) for batch in batches.epoch(epoch)]
        assert [sorted(batch) for batch in dealt] == expected
    for count in (99, 101):
        with pytest.raises(ValueError, match=f"^records has {count} records.*plan for other data"):
            list(stream(iter(range(count)), batches))


def test_padding_is_masked():
    indices, mask = padded([5, 3, 9, -1], 4)
    assert indices.shape == mask.shape == (4,) and mask.tolist() == [True, True, True, False]
    indices, mask = padded([], 8)
    assert indices.shape == (8,) and not mask.any()


@pytest.mark.parametrize(
    "changes, message",
    [
        (dict(dataset_size=0), "^dataset_size is 0"), (dict(batch_size=601), "^batch_size is 601, but a whole number from 1 to 600"),
        (dict(epochs=0), "^epochs is 0"), (dict(scheme="shuffle"), "^scheme is shuffle"), (dict(rank=2, world_size=2), "^rank is 2"),
        (dict(rank=-1), "^rank is -1"), (dict(world_size=0), "^world_size is 0"), (dict(batch_size=1.5), "^batch_size is 1.5"),
        (dict(seed=None, world_size=2), "^seed_file is missing"), (dict(seed_file="x"), "^seed is 1, but none beside seed_file"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_by_name(changes, message):
    with pytest.raises(ValueError, match=message):
        Batches(**words(**changes))


def test_epsilon_is_that_of_the_account():
    batches = Batches(dataset_size=60_000, batch_size=512, epochs=15)
    bound = misdeal.account(noise_multiplier=0.8, dataset_size=60_000, batch_size=512, epochs=15, scheme="poisson", quiet=True)
    assert batches.epsilon(0.8, 1e-5) == bound.schemes["poisson"]["epsilon_upper_bound"]
    assert 0 < batches.epsilon(0.8, 1e-5, steps=100) < batches.epsilon(0.8, 1e-5)
    assert batches.epsilon(0.8, 1e-5, steps=0) == 0


def test_jax_privacy_takes_the_strategy():
    selection = pytest.importorskip("jax_privacy.batch_selection")
    strategy = misdeal.jax.BatchSelection(batch_size=20, epochs=3, scheme="balls-in-bins", seed=1)
    assert isinstance(strategy, selection.BatchSelectionStrategy)
    dealt = list(strategy.batch_iterator(600, rng=np.random.default_rng(0)))
    assert len(dealt) == 90
    first, second = (sorted(np.concatenate(dealt[30 * epoch : 30 * epoch + 30]).tolist()) for epoch in range(2))
    assert first == second == list(range(600))
    assert any(not np.array_equal(np.sort(dealt[step]), np.sort(dealt[step + 30])) for step in range(30)), "bins are fresh in every epoch"
    shapes = {indices.shape for indices, _ in strategy.padded_iterator(600, 16)}
    assert len(shapes) <= 4
