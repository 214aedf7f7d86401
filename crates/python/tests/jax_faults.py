"""A training in plain JAX, and one fault at a time planted in it: for the tests of check-ups and for `bench/faults.py`."""

import jax
import jax.numpy as jnp
import misdeal.jax
import numpy as np

RECORDS, BATCH_SIZE, STEPS, NOISE, CLIP_NORM = 1280, 80, 16, 0.8, 2.0
# Batches are padded to this size, which Poisson sampling exceeds with probability 1e-12.
LARGEST = 160
DATA = np.random.default_rng(0).standard_normal((RECORDS, 20)).astype(np.float32)

# Each with the test that must find it; None where none may.
FAULTS = {
    "correct": None,
    "shuffled": "batch-sizes",
    "noise halved": "noise-scale",
    "noise 10 % too small": "noise-scale",
    "no clipping": "clipping",
    "clipping per tensor": "clipping",
    "every fifth step without noise": "noise-in-every-step",
    "constant seed": "fresh-noise-in-runs",
    "same noise each step": "fresh-noise-in-steps",
    "no noise on biases": "noise-in-every-tensor",
    "ghost": "canaries-planted",
    "accumulation": "clipping",
    "divided by its size": "fixed-normalisation",
    "double noise": None,
}
SCALES = {"noise halved": 0.5, "noise 10 % too small": 0.9, "double noise": 2.0}


def loss(params, record):
    hidden = jnp.tanh(record @ params["weights"] + params["biases"])
    return jnp.mean((hidden @ params["last weights"] + params["last biases"] - record[0]) ** 2)


def start():
    generator = np.random.default_rng(1)
    draw = lambda *shape: (0.2 * generator.standard_normal(shape)).astype(np.float32)
    return {"weights": draw(20, 32), "biases": draw(32), "last weights": draw(32, 4), "last biases": draw(4)}


def clipped_sum(gradients, mask, fault):
    norms = {name: jnp.sqrt(jnp.sum(leaf.reshape(len(leaf), -1) ** 2, axis=1)) for name, leaf in gradients.items()}
    whole = jnp.sqrt(sum(norm**2 for norm in norms.values()))
    factor = {"no clipping": lambda name: mask, "clipping per tensor": lambda name: mask * jnp.minimum(1, CLIP_NORM / (norms[name] + 1e-9))}.get(
        fault, lambda name: mask * jnp.minimum(1, CLIP_NORM / (whole + 1e-9))
    )
    counted = 2.0 if fault == "accumulation" else 1.0
    return {name: counted * jnp.tensordot(factor(name), leaf, 1) for name, leaf in gradients.items()}


def batches(fault, generator, epochs):
    for _ in range(epochs):
        if fault == "shuffled":
            yield from generator.permutation(RECORDS).reshape(STEPS, BATCH_SIZE)
        else:
            yield from (np.flatnonzero(generator.random(RECORDS) < 1 / STEPS) for _ in range(STEPS))


def noise_of(fault, number, fresh, constant, repeated):
    source = {"constant seed": constant, "same noise each step": np.random.default_rng(repeated)}.get(fault, fresh)
    scale = SCALES.get(fault, 0.0 if fault.startswith("every fifth") and number % 5 == 0 else 1.0)

    def draw(name, leaf):
        quiet = fault == "no noise on biases" and leaf.ndim == 1
        return (0.0 if quiet else scale) * NOISE * CLIP_NORM * source.standard_normal(leaf.shape).astype(np.float32)

    return draw


def audited(seed, fault="correct", epochs=3, threat_model="worst-case", canaries=64):
    """The auditor after the run that a fault needs; a constant seed needs two."""
    scheme = "shuffle" if fault == "shuffled" else "poisson"
    auditor = misdeal.jax.Auditor(
        noise_multiplier=NOISE, steps_per_epoch=STEPS, batch_size=BATCH_SIZE, clip_norm=CLIP_NORM, scheme=scheme, threat_model=threat_model,
        canaries=canaries, dataset_size=RECORDS, seed=seed,
    )  # fmt: skip
    trained = (lambda params, role, record: loss(params, record)) if fault == "ghost" else auditor.loss(loss)
    gradients = jax.vmap(jax.grad(trained), in_axes=(None, 0, 0))
    step = jax.jit(lambda params, roles, records, mask: clipped_sum(gradients(params, roles, records), mask, fault))
    for run in auditor.runs(2 if fault == "constant seed" else 1):
        fresh, constant = np.random.default_rng(run.seed), np.random.default_rng(42)
        params = start()
        for number, indices in enumerate(batches(fault, np.random.default_rng([run.seed, 1]), epochs)):
            padded = np.full(LARGEST, -1)
            padded[: len(indices)] = indices
            total = step(params, run.roles(padded), DATA[padded], (padded >= 0).astype(np.float32))
            draw = noise_of(fault, number, fresh, constant, run.seed)
            divisor = len(indices) if fault == "divided by its size" else BATCH_SIZE
            noisy = {name: (np.asarray(leaf) + draw(name, leaf)) / divisor for name, leaf in total.items()}
            run.observe(noisy, scale=BATCH_SIZE)
            params = {name: leaf - 0.1 * noisy[name] for name, leaf in params.items()}
    return auditor
