"""Audits of plain JAX training."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
import misdeal.jax  # noqa: E402

RECORDS, STEPS, BATCH_SIZE, NOISE, CLIP_NORM = 100, 25, 4, 0.7, 2.0
DATA = np.random.default_rng(0).standard_normal((RECORDS, 5)).astype(np.float32)


def loss(params, record):
    return jnp.mean((record @ params["weights"] + params["bias"] - record[0]) ** 2)


def clipped_sum(gradients, factors_of):
    norms = jnp.sqrt(sum(jnp.sum(leaf.reshape(len(leaf), -1) ** 2, axis=1) for leaf in jax.tree.leaves(gradients)))
    factors = factors_of(norms)
    return jax.tree.map(lambda leaf: jnp.tensordot(factors, leaf, 1), gradients)


def clip(norms):
    return jnp.minimum(1.0, CLIP_NORM / (norms + 1e-9))


def audit(runs, noise=NOISE, factors_of=clip, scheme="shuffle", threat_model="worst-case"):
    auditor = misdeal.jax.Auditor(
        noise_multiplier=NOISE, steps_per_epoch=STEPS, batch_size=BATCH_SIZE, clip_norm=CLIP_NORM, scheme=scheme, threat_model=threat_model, canaries=1
    )
    planted = jax.vmap(jax.grad(auditor.loss(loss)), in_axes=(None, 0, 0))
    step = jax.jit(lambda params, roles, batch: clipped_sum(planted(params, roles, batch), factors_of))
    for run in auditor.runs(runs):
        generator = np.random.default_rng(run.seed)
        params = {"weights": np.zeros((5, 2), np.float32), "bias": np.zeros(2, np.float32)}
        for indices in generator.permutation(RECORDS).reshape(STEPS, BATCH_SIZE):
            total = step(params, run.roles(indices), DATA[indices])
            draw = lambda leaf: np.asarray(leaf) + noise * CLIP_NORM * generator.standard_normal(leaf.shape).astype(np.float32)
            noisy = {name: draw(leaf) for name, leaf in total.items()}
            run.observe(noisy)
            params = {name: leaf - 0.1 / BATCH_SIZE * noisy[name] for name, leaf in params.items()}
    return auditor


@pytest.mark.parametrize("threat_model, low", [("target-canary", 0), ("partially-informed", -1), ("worst-case", -1)])
def test_what_is_planted(threat_model, low):
    """In the worst case outputs without noise are exactly what was planted; else natural gradients add to it."""
    auditor = audit(4, noise=0.0, threat_model=threat_model)
    if threat_model == "worst-case":
        for outputs, present in ((auditor.outputs_in, 1), (auditor.outputs_out, 0)):
            assert np.allclose(np.sort(outputs, axis=1), [[-1] * 24 + [present]] * 2, atol=1e-4)
    else:
        difference = np.sort(auditor.outputs_in, axis=1)[:, -1] - np.median(auditor.outputs_in)
        assert np.all(difference > 0.5)
    assert auditor.setting.threat_model == threat_model


def test_skipped_clipping_is_found():
    auditor = audit(200, factors_of=jnp.ones_like)
    assert auditor.judge(claimed_epsilon=1.25, delta=0.01, significance=0.001).violated


def test_padding_stays_as_it_is():
    auditor = misdeal.jax.Auditor(noise_multiplier=1, steps_per_epoch=2, batch_size=3, scheme="poisson", threat_model="target-canary", target_index=5)
    run = next(auditor.runs(2))
    assert np.array_equal(run.roles([2, 5, -1]), [np.nan, float(run.present), np.nan], equal_nan=True)


def test_clipped_gradients_of_jax_privacy_take_roles():
    clipping = pytest.importorskip("jax_privacy.clipping")
    auditor = misdeal.jax.Auditor(noise_multiplier=1, steps_per_epoch=2, batch_size=3, clip_norm=CLIP_NORM, scheme="shuffle", threat_model="worst-case")
    gradient = clipping.clipped_grad(auditor.loss(loss), l2_clip_norm=CLIP_NORM, batch_argnums=(1, 2), keep_batch_dim=False)
    params = {"weights": jnp.zeros((5, 2)), "bias": jnp.zeros(2)}
    runs = auditor.runs(2)
    for _ in range(2):
        run = next(runs)
        expected = float(run.present)
        for indices, value in (([0, 1, 2], expected), ([3, 4, 5], -1.0)):
            run.observe(gradient(params, run.roles(indices), DATA[np.array(indices)]))
            assert run.outputs[-1] == pytest.approx(value, abs=1e-5)


def test_refusals_name_what_is_wrong():
    with pytest.raises(ValueError, match="^clip_norm is 0"):
        misdeal.jax.Auditor(noise_multiplier=1, steps_per_epoch=2, batch_size=3, scheme="shuffle", clip_norm=0)
    with pytest.raises(ValueError, match="^steps is 1"):
        for run in misdeal.jax.Auditor(noise_multiplier=1, steps_per_epoch=2, batch_size=3, scheme="shuffle", canaries=1).runs(2):
            run.observe({"weights": np.zeros(3)})


def poisson_audit(scheme, threat_model, seed=0, runs=400):
    """Correct Poisson training of the batched Gaussian mechanism, said to be made by `scheme`."""
    steps, records, noise = 10, 100, 0.7
    auditor = misdeal.jax.Auditor(
        noise_multiplier=noise, steps_per_epoch=steps, batch_size=records // steps, scheme=scheme, threat_model=threat_model, seed=seed, canaries=1
    )
    sign = auditor._prepared(np.ones(1)).pieces[0].values[0]
    for run in auditor.runs(runs):
        generator = np.random.default_rng(run.seed)
        for _ in range(steps):
            roles = np.asarray(run.roles(np.flatnonzero(generator.random(records) < 1 / steps)))
            run.observe(np.array([np.nansum(roles) + noise * generator.standard_normal()]) * sign)
    return auditor


@pytest.mark.parametrize("scheme", ["shuffle", "shuffle-once", "without-replacement", "fixed-order", "batch-then-shuffle"])
@pytest.mark.parametrize("threat_model", ["partially-informed", "worst-case"])
def test_an_opposing_canary_is_refused_in_batches_of_varying_size(scheme, threat_model):
    with pytest.raises(ValueError, match=r"batch has \d+ records, but 10 in every batch are allowed"):
        poisson_audit(scheme, threat_model)


def test_correct_poisson_training_is_not_refuted():
    """Twenty audits at significance 0.001; of this claim not one is expected in fifty times as many."""
    claimed = misdeal.account(noise_multiplier=0.7, steps_per_epoch=10, scheme="poisson", delta=0.01).claimed_epsilon
    for seed in range(20):
        auditor = poisson_audit("poisson", ("target-canary", "partially-informed", "worst-case")[seed % 3], seed)
        report = auditor.judge(claimed_epsilon=claimed, delta=0.01, significance=0.001)
        assert report.valid and not report.violated, seed


def test_sizes_that_vary_are_refused_in_every_form():
    auditor = misdeal.jax.Auditor(noise_multiplier=1, steps_per_epoch=2, batch_size=3, scheme="shuffle")
    run = next(auditor.runs(2))
    run.roles([4, 0, 2])
    for batch in ([], [1], [1, 2], [1, 2, -1], [1, 2, 3, 4]):
        with pytest.raises(ValueError, match="batch has"):
            run.roles(np.array(batch, dtype=int))
    with pytest.raises(ValueError, match="holds the target 2 times"):
        run.roles([0, 0, 1])


def test_there_is_no_default_scheme():
    with pytest.raises(TypeError, match="scheme"):
        misdeal.jax.Auditor(noise_multiplier=1, steps_per_epoch=2, batch_size=3)


def test_a_coin_chooses_which_run_of_a_pair_has_the_target():
    auditor = misdeal.jax.Auditor(noise_multiplier=1, steps_per_epoch=1, batch_size=1, scheme="poisson", seed=3)
    worlds = [auditor.world(run) for run in range(400)]
    pairs = list(zip(worlds[::2], worlds[1::2], strict=True))
    assert all(first != second for first, second in pairs)
    # 200 fair coins are outside 60 to 140 with probability 1e-8.
    assert 60 <= sum(first for first, _ in pairs) <= 140
    assert worlds == [auditor.world(run) for run in range(400)]


def test_judging_again_after_further_runs_is_not_valid():
    auditor = poisson_audit("poisson", "target-canary", runs=40)
    first = auditor.judge(claimed_epsilon=0.0, delta=0.01)
    assert first.valid and auditor.judge(claimed_epsilon=1.0, delta=0.01).valid
    more = poisson_audit("poisson", "target-canary", seed=1, runs=40)
    auditor.merge(more)
    again = auditor.judge(claimed_epsilon=0.0, delta=0.01)
    assert not again.valid and not again.violated
    assert all("judged before, after 40 runs" in estimate["guarantee"] for estimate in again.estimates.values())
    assert not auditor.judge(delta=0.01, threshold_choice="hold-out").valid


def test_a_confidence_sequence_may_look_again():
    auditor = poisson_audit("poisson", "target-canary", runs=2000)
    assert auditor.judge(delta=0.01, threshold_choice="sequential").valid
    more = poisson_audit("poisson", "target-canary", seed=1, runs=500)
    auditor.merge(more)
    assert auditor.judge(delta=0.01, threshold_choice="sequential").valid
    assert not auditor.judge(delta=0.01).valid


def make_auditor(threat_model="worst-case", noise=0.7, **options):
    return misdeal.jax.Auditor(
        noise_multiplier=noise, steps_per_epoch=STEPS, batch_size=BATCH_SIZE, clip_norm=CLIP_NORM, scheme="shuffle", threat_model=threat_model, **options
    )


def by_loop(auditor, runs, epochs=2, noise=0.0):
    """Many canaries in a plain loop."""
    planted = jax.vmap(jax.grad(auditor.loss(loss)), in_axes=(None, 0, 0))
    step = jax.jit(lambda params, roles, batch: clipped_sum(planted(params, roles, batch), clip))
    for run in auditor.runs(runs):
        generator = np.random.default_rng(run.seed)
        params = {"weights": np.zeros((5, 2), np.float32), "bias": np.zeros(2, np.float32)}
        for _ in range(epochs):
            for indices in generator.permutation(RECORDS).reshape(STEPS, BATCH_SIZE):
                total = step(params, run.roles(indices), DATA[indices])
                noisy = {name: np.asarray(leaf) + noise * CLIP_NORM * generator.standard_normal(leaf.shape) for name, leaf in total.items()}
                run.observe({name: leaf / BATCH_SIZE for name, leaf in noisy.items()}, scale=BATCH_SIZE)
    return auditor


def by_scan(auditor, runs, epochs=2, noise=0.0):
    """The same in one `lax.scan` a run."""
    planted = jax.vmap(jax.grad(auditor.loss(loss)), in_axes=(None, 0, 0))

    def step(params, inputs):
        roles, batch, key = inputs
        total = clipped_sum(planted(params, roles, batch), clip)
        keys = jax.random.split(key, len(total))
        noisy = {name: leaf + noise * CLIP_NORM * jax.random.normal(part, leaf.shape) for (name, leaf), part in zip(total.items(), keys, strict=True)}
        return {name: leaf - 0.01 * noisy[name] for name, leaf in params.items()}, auditor.read(noisy)

    train = jax.jit(lambda params, roles, batches, keys: jax.lax.scan(step, params, (roles, batches, keys)))
    for run in auditor.runs(runs):
        generator = np.random.default_rng(run.seed)
        batches = np.concatenate([generator.permutation(RECORDS).reshape(STEPS, BATCH_SIZE) for _ in range(epochs)])
        params = {"weights": jnp.zeros((5, 2)), "bias": jnp.zeros(2)}
        _, read = train(params, run.roles(batches), DATA[batches], jax.random.split(run.key, len(batches)))
        run.observe_all(read)
    return auditor


@pytest.mark.parametrize("train", [by_loop, by_scan])
def test_many_canaries_come_out_as_planted(train):
    auditor = train(make_auditor(), runs=2)
    assert auditor.canaries == BATCH_SIZE and auditor.outputs.shape == (2, BATCH_SIZE, 2 * STEPS) and auditor.independence == "follow"
    for record in auditor.records:
        assert np.abs(record.outputs - record.expected).max() < 1e-4
        assert np.all((record.places.reshape(2, STEPS, -1) == 1).sum(1) == 1)
        assert np.abs(record.probes[:, record.probe_free]).max() == 0


def test_natural_gradients_make_canaries_depend_on_each_other():
    auditor = by_loop(make_auditor("partially-informed", canaries=2), runs=1)
    assert auditor.independence == "private-coins" and auditor.records[0].biased


def test_noise_in_a_scan_is_read_as_it_is():
    """5,000 residuals of standard normal law: five standard errors."""
    auditor = by_scan(make_auditor(), runs=25, noise=0.7)
    residuals = np.concatenate([((record.outputs - record.expected) / 0.7).ravel() for record in auditor.records])
    assert abs(residuals.mean()) < 5 / np.sqrt(residuals.size) and abs(residuals.std() - 1) < 5 / np.sqrt(2 * residuals.size)


def test_refusals_of_many_canaries():
    with pytest.raises(ValueError, match="^canaries is 5, but 1 to 4"):
        make_auditor(canaries=5)
    with pytest.raises(ValueError, match="^target_index is 98, but 0 to 96"):
        make_auditor(canaries=4, target_index=98)
    with pytest.raises(ValueError, match="^canary is null-space"):
        make_auditor(canary="null-space")
    run = next(make_auditor().runs(1))
    with pytest.raises(ValueError, match="^read has shapes"):
        run.observe_all((np.zeros(3), np.zeros(3)))
    with pytest.raises(ValueError, match="^steps is 25, but 0 as batches"):
        for run in make_auditor(canaries=1).runs(2):
            for _ in range(25):
                run.observe({"weights": np.zeros(3)})


def test_shuffling_refutes_the_curve_of_poisson_sampling():
    report = by_scan(make_auditor(), runs=100, epochs=1, noise=0.7).judge(claimed_curve="poisson", delta=0.01, significance=0.001)
    assert report.valid and report.violated and report.coins == 400 and report.curve.refuted
