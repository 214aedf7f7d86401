"""Many canaries: their directions, their roles, and why their places are independent."""

import itertools
import math

import numpy as np
import pytest
from misdeal import directions, following
from misdeal.planting import Planter, default_canaries, independence

SHAPES = [(20, 5, 5), (20,), (64, 80), (64,), (10, 64), (10,)]


def dense(found, shapes):
    whole = np.zeros((found.canaries, sum(map(math.prod, shapes))))
    starts = np.cumsum([0, *map(math.prod, shapes)])
    for piece in found.pieces:
        whole[piece.canaries[:, None], starts[piece.tensor] + piece.coordinates] = piece.values
    return whole, starts[found.probe_tensors] + found.probe_coordinates


@pytest.mark.parametrize("canary, canaries", [("random", 1), ("random", 60), ("random", 500), ("dirac", 1), ("dirac", 700), ("null-space", 1), ("null-space", 65)])
def test_directions_are_orthonormal(canary, canaries):
    found = directions.make(canary, SHAPES, canaries, seed=3)
    rows, probes = dense(found, SHAPES)
    assert np.allclose(rows @ rows.T, np.eye(canaries), atol=1e-12)
    assert np.array_equal(found.probe_free, ~np.any(rows[:, probes], axis=0))
    assert set(found.probe_tensors) == set(range(len(SHAPES)))


def test_a_canary_has_equal_energy_in_two_tensors_or_more():
    found = directions.make("random", SHAPES, 512, seed=0)
    assert found.tensors_touched().min() >= 2 and found.probe_free.all()
    for piece in found.pieces:
        energy = (piece.values**2).sum(1)
        assert np.allclose(energy, 1 / found.tensors_touched()[piece.canaries])


def test_null_space_sums_over_classes_to_what_no_softmax_gradient_has():
    generator = np.random.default_rng(0)
    found = directions.make("null-space", SHAPES, 64, seed=0)
    rows, _ = dense(found, SHAPES)
    logits, inputs = generator.standard_normal(10), generator.standard_normal(64)
    of_logits = np.exp(logits) / np.exp(logits).sum() - np.eye(10)[3]
    natural = np.concatenate([np.zeros(rows.shape[1] - 650), np.outer(of_logits, inputs).reshape(-1), of_logits])
    assert np.abs(rows @ natural).max() < 1e-12
    assert directions.null_space_room(SHAPES) == 65
    with pytest.raises(ValueError, match="^canaries is 66, but 1 to 65 "):
        directions.make("null-space", SHAPES, 66, seed=0)


def test_refusals_of_directions():
    with pytest.raises(ValueError, match="^canaries is 9, but 1 to 7 "):
        directions.make("random", [(3, 3), (3, 1)], 9, seed=0)
    with pytest.raises(ValueError, match="^canary is null-space"):
        directions.make("null-space", [(3, 3, 3)], 1, seed=0)
    with pytest.raises(ValueError, match="^canary is 'sideways'"):
        directions.make("sideways", SHAPES, 1, seed=0)


def places_of_epoch(order, planter, leaders, coins=None):
    """In which batch each canary is played; every batch must have a role for every canary, and the same number of natural gradients."""
    canaries, size = planter.canaries, planter.batch_size
    coins = np.ones(canaries, dtype=bool) if coins is None else coins
    places, naturals = np.full(canaries, -1), []
    for batch, start in enumerate(range(0, len(order) // size * size, size)):
        records = np.asarray(order[start : start + size])
        planted = planter.plant(records, coins, leaders)
        total = np.zeros(canaries)
        for role in planted.roles[~np.isnan(planted.roles)]:
            if role:
                total[int(abs(role)) - 1] += np.sign(role)
        assert np.array_equal(total, np.where(planted.places > 0, coins, -1.0))
        if planter.keeps_naturals:
            assert np.isnan(planted.roles).sum() == size - canaries
        naturals.append(tuple(records[np.isnan(planted.roles)]))
        places[planted.places > 0] = batch
    return tuple(places), tuple(naturals)


@pytest.mark.parametrize("records, size, canaries", [(4, 2, 2), (6, 2, 2), (5, 3, 3), (5, 2, 2), (5, 2, 1)])
def test_places_that_follow_are_independent_and_uniform(records, size, canaries):
    """All orders and all draws: the joint law of places, and that of places and natural records together, are products, to the last count."""
    planter = Planter("shuffle", "partially-informed", size, canaries)
    batches = records // size
    # Where nothing is natural, other records need no order.
    slots = itertools.permutations(range(records)) if canaries < size else (
        [*slots, *sorted(set(range(records)) - set(slots))] for slots in itertools.permutations(range(records), canaries)
    )
    orders = [np.argsort(found) for found in slots]
    joint, with_naturals = {}, {}
    for order in orders:
        for draws in itertools.product(range(records), repeat=canaries):
            leaders = following.leaders_by(np.array(draws))
            if not planter.follows:
                leaders = np.zeros(1, dtype=int)
            places, naturals = places_of_epoch(order, planter, leaders)
            joint[places] = joint.get(places, 0) + 1
            # The order within a batch is no secret that a sum keeps.
            key = tuple(tuple(sorted(batch)) for batch in naturals)
            with_naturals.setdefault(key, {}).setdefault(places, 0)
            with_naturals[key][places] += 1
    # A record left over (-1) has its share of the slots, too.
    share = {batch: size for batch in range(batches)}
    if records % size:
        share[-1] = records % size
    whole = len(orders) * records**canaries
    for places in itertools.product(share, repeat=canaries):
        expected = whole * math.prod(share[place] for place in places) // records**canaries
        assert joint.get(places, 0) == expected
    if records % size == 0:
        for found in with_naturals.values():
            assert len(found) == batches**canaries and len(set(found.values())) == 1


def test_without_the_rule_places_depend_on_each_other():
    planter = Planter("shuffle", "worst-case", 2, 2)
    alone = np.arange(2)
    joint = [places_of_epoch(order, planter, alone)[0] for order in itertools.permutations(range(4))]
    assert sum(first == second for first, second in joint) == len(joint) // 3


def test_a_loader_that_shifts_cyclically_is_no_shuffle():
    """The rule rests on a uniform shuffle. A cyclic shift keeps neighbours together, and the rule cannot help: their places are far from independent."""
    generator = np.random.default_rng(0)
    planter = Planter("shuffle", "worst-case", 10, 2)
    together = 0
    for _ in range(400):
        order = np.roll(np.arange(100), generator.integers(100))
        first, second = places_of_epoch(order, planter, following.leaders(2, 100, generator))[0]
        together += first == second
    # Independent places agree in 10 %: 40 +- 6.
    assert together > 300


def test_roles_are_random_but_the_coins_are_not_seen_in_places():
    generator = np.random.default_rng(1)
    planter = Planter("shuffle", "worst-case", 8, 8)
    order, leaders = generator.permutation(64), following.leaders(8, 64, generator)
    coins = generator.integers(0, 2, 8).astype(bool)
    assert places_of_epoch(order, planter, leaders, coins) == places_of_epoch(order, planter, leaders, ~coins)


def test_how_often_canaries_follow():
    """At 512 canaries of 59,904 records 2.2 follow in an epoch; five standard errors."""
    generator = np.random.default_rng(2)
    following_now = [512 - len(set(following.leaders(512, 59_904, generator))) for _ in range(400)]
    assert abs(np.mean(following_now) - 512 * 511 / 2 / 59_904) < 5 * math.sqrt(2.2 / 400)


def test_what_makes_canaries_independent():
    def why(scheme, threat_model, canaries=4, biased=False, dealt_once=True):
        return independence(Planter(scheme, threat_model, 8, canaries), biased=biased, dealt_once=dealt_once)

    assert why("shuffle", "worst-case") == why("shuffle-once", "worst-case") == why("without-replacement", "worst-case") == "follow"
    assert why("poisson", "worst-case") == why("balls-in-bins", "target-canary") == why("fixed-order", "worst-case") == "memberships"
    assert why("shuffle", "target-canary") == "symmetric-scores" and why("shuffle", "target-canary", dealt_once=False) == "private-coins"
    assert why("shuffle", "partially-informed", biased=True) == "private-coins" and why("shuffle", "partially-informed", 1, biased=True) == "single"
    assert why("batch-then-shuffle", "worst-case", 1) == "single"
    assert why("batch-then-shuffle", "partially-informed") is None and why("batch-then-shuffle", "target-canary") == "private-coins"
    with pytest.raises(ValueError, match="^canaries is 9, but 1 to 8 "):
        Planter("shuffle", "worst-case", 8, 9)


def test_how_many_canaries_there_are_if_nobody_says():
    assert default_canaries("auto", "shuffle", "worst-case", 600, 10**6) == 512
    assert default_canaries("auto", "shuffle", "partially-informed", 600, 10**6) == 64
    assert default_canaries("auto", "shuffle", "worst-case", 600, 100) == 100
    assert default_canaries("auto", "poisson", "worst-case", 600, 10**6) == default_canaries([1], "shuffle", "worst-case", 600, 10**6) == 1
    assert default_canaries("auto", "batch-then-shuffle", "worst-case", 600, 10**6) == 1
