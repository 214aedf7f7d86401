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
        noise_multiplier=NOISE, steps_per_epoch=STEPS, batch_size=BATCH_SIZE, clip_norm=CLIP_NORM, scheme=scheme, threat_model=threat_model
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


def test_shuffling_is_found_in_plain_jax():
    auditor = audit(1600)
    claimed = misdeal.account(noise_multiplier=NOISE, steps_per_epoch=STEPS, scheme="poisson", delta=0.01).claimed_epsilon
    assert auditor.judge(claimed_epsilon=claimed, delta=0.01, significance=0.001).violated


def test_skipped_clipping_is_found():
    auditor = audit(200, factors_of=jnp.ones_like)
    assert auditor.judge(claimed_epsilon=1.25, delta=0.01, significance=0.001).violated


def test_padding_stays_as_it_is():
    auditor = misdeal.jax.Auditor(noise_multiplier=1, steps_per_epoch=2, batch_size=3, scheme="poisson", threat_model="target-canary", target_index=5)
    run = next(auditor.runs(2))
    assert np.array_equal(run.roles([2, 5, -1]), [np.nan, 1.0, np.nan], equal_nan=True)


def test_clipped_gradients_of_jax_privacy_take_roles():
    clipping = pytest.importorskip("jax_privacy.clipping")
    auditor = misdeal.jax.Auditor(noise_multiplier=1, steps_per_epoch=2, batch_size=3, clip_norm=CLIP_NORM, threat_model="worst-case")
    gradient = clipping.clipped_grad(auditor.loss(loss), l2_clip_norm=CLIP_NORM, batch_argnums=(1, 2), keep_batch_dim=False)
    params = {"weights": jnp.zeros((5, 2)), "bias": jnp.zeros(2)}
    runs = auditor.runs(2)
    for expected in (1.0, 0.0):
        run = next(runs)
        for indices, value in (([0, 1, 2], expected), ([3, 4, 5], -1.0)):
            run.observe(gradient(params, run.roles(indices), DATA[np.array(indices)]))
            assert run.outputs[-1] == pytest.approx(value, abs=1e-5)


def test_refusals_name_what_is_wrong():
    with pytest.raises(ValueError, match="^clip_norm is 0"):
        misdeal.jax.Auditor(noise_multiplier=1, steps_per_epoch=2, batch_size=3, clip_norm=0)
    with pytest.raises(ValueError, match="^steps is 1"):
        for run in misdeal.jax.Auditor(noise_multiplier=1, steps_per_epoch=2, batch_size=3).runs(2):
            run.observe({"weights": np.zeros(3)})
