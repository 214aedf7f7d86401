"""Audit runs of DP-SGD beside Opacus and JAX: models a second, one epoch of batches of 100 over 10,000 records.

usage: python3 bench/training.py [mlp] [lenet]    needs torch and opacus, and jax (pip install opacus jax)

Everything runs on the same cores in one go, several rounds in turn, and the best round of each counts. Opacus runs one process a
core, each on one thread, and their rates add up; JAX has all cores and trains several models in one program; misdeal has one thread a
core. Peers that are not installed are left out. The share of the peak is misdeal's own (`cargo bench -p misdeal-train`).
"""
import json
import multiprocessing
import os
import subprocess
import sys
import time

import measuring

RECORDS, BATCH, NOISE, RATE = 10_000, 100, 0.8, 0.1
STEPS = RECORDS // BATCH
SHAPES = {"mlp": ((600,), 100), "lenet": ((1, 28, 28), 2)}


def ours(kind):
    command = ["cargo", "bench", "--quiet", "-p", "misdeal-train", "--bench", "training", "--", kind, "--json"]
    done = subprocess.run(command, cwd=measuring.ROOT, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def torch_model(kind):
    from torch import nn

    if kind == "mlp":
        return nn.Sequential(nn.Linear(600, 32), nn.ReLU(), nn.Linear(32, 100))
    pooled = [nn.Tanh(), nn.AvgPool2d(2)]
    dense = [nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 2)]
    return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), *pooled, nn.Conv2d(6, 16, 5), *pooled, nn.Flatten(), *dense)


def opacus_process(arguments):
    """Models a second of one process on one thread."""
    kind, core = arguments
    os.sched_setaffinity(0, {core})
    import warnings

    warnings.filterwarnings("ignore")
    import torch
    from opacus import PrivacyEngine

    torch.set_num_threads(1)
    shape, classes = SHAPES[kind]
    features, labels = torch.rand(RECORDS, *shape), torch.randint(0, classes, (RECORDS,))
    data = torch.utils.data.TensorDataset(features, labels)
    loss = torch.nn.CrossEntropyLoss()
    best = 0.0
    for _ in range(3):  # the first model pays for what is set up once
        model = torch_model(kind)
        model, optimizer, loader = PrivacyEngine().make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=RATE),
            data_loader=torch.utils.data.DataLoader(data, batch_size=BATCH, shuffle=True),
            noise_multiplier=NOISE,
            max_grad_norm=1.0,
            poisson_sampling=False,
        )
        start = time.perf_counter()
        for batch, target in loader:
            optimizer.zero_grad()
            loss(model(batch), target).backward()
            optimizer.step()
        best = max(best, 1 / (time.perf_counter() - start))
    return best


def opacus(kind):
    cores = sorted(os.sched_getaffinity(0))
    with multiprocessing.get_context("spawn").Pool(len(cores)) as pool:
        return sum(pool.map(opacus_process, [(kind, core) for core in cores], chunksize=1))


def jax_losses(kind):
    """A loss of (parameters, record, label), and the shapes of the parameters."""
    import jax
    import jax.numpy as jnp

    def dense(parameters, x):
        return x @ parameters[0] + parameters[1]

    def mlp(parameters, x):
        return dense(parameters[2:], jax.nn.relu(dense(parameters[:2], x)))

    def convolved(parameters, x, padding):
        kernel, bias = parameters
        padding = [(padding, padding)] * 2
        y = jax.lax.conv_general_dilated(x[None], kernel, (1, 1), padding, dimension_numbers=("NCHW", "OIHW", "NCHW"))[0]
        y = jnp.tanh(y + bias[:, None, None])
        channels, height, width = y.shape
        return y.reshape(channels, height // 2, 2, width // 2, 2).mean((2, 4))

    def lenet(parameters, x):
        x = convolved(parameters[2:4], convolved(parameters[:2], x, 2), 0).ravel()
        x = jnp.tanh(dense(parameters[6:8], jnp.tanh(dense(parameters[4:6], x))))
        return dense(parameters[8:], x)

    if kind == "mlp":
        network, shapes = mlp, [(600, 32), (32,), (32, 100), (100,)]
    else:
        convolutions = [(6, 1, 5, 5), (6,), (16, 6, 5, 5), (16,)]
        network, shapes = lenet, convolutions + [(400, 120), (120,), (120, 84), (84,), (84, 2), (2,)]
    return (lambda parameters, x, y: -jax.nn.log_softmax(network(parameters, x))[y]), shapes


def jax_clipped_sum(kind):
    """The sum of clipped per-example gradients; for the perceptron with norms that need no such gradient, its fastest form."""
    import jax
    import jax.numpy as jnp

    loss, _ = jax_losses(kind)
    if kind == "mlp":

        def clipped(parameters, x, y):
            weights, biases, last_weights, last_biases = parameters
            hidden = jax.nn.relu(x @ weights + biases)
            outer = jax.nn.softmax(hidden @ last_weights + last_biases) - jax.nn.one_hot(y, 100)
            inner = (outer @ last_weights.T) * (hidden > 0)
            square = ((hidden**2).sum(1) + 1) * (outer**2).sum(1) + ((x**2).sum(1) + 1) * (inner**2).sum(1)
            scale = 1 / jnp.maximum(1, jnp.sqrt(square))[:, None]
            inner, outer = inner * scale, outer * scale
            return [x.T @ inner, inner.sum(0), hidden.T @ outer, outer.sum(0)]

        return clipped

    def clipped(parameters, x, y):
        gradients = jax.vmap(jax.grad(loss), (None, 0, 0))(parameters, x, y)
        square = sum((g.reshape(len(x), -1) ** 2).sum(1) for g in gradients)
        scale = 1 / jnp.maximum(1, jnp.sqrt(square))
        return [jnp.tensordot(scale, g, 1) for g in gradients]

    return clipped


def jax_rate(kind):
    import jax
    import jax.numpy as jnp
    import numpy as np

    (shape, classes), (_, shapes) = SHAPES[kind], jax_losses(kind)
    clipped = jax_clipped_sum(kind)
    generator = np.random.default_rng(0)
    features = jnp.asarray(generator.random((RECORDS, *shape), dtype=np.float32))
    labels = jnp.asarray(generator.integers(0, classes, RECORDS))

    def train(key):
        order, noise, start = jax.random.split(key, 3)
        batches = jax.random.permutation(order, RECORDS).reshape(STEPS, BATCH)
        parameters = [0.05 * jax.random.normal(k, s) for k, s in zip(jax.random.split(start, len(shapes)), shapes)]

        def step(parameters, inputs):
            batch, key = inputs
            keys = jax.random.split(key, len(shapes))
            total = clipped(parameters, features[batch], labels[batch])
            noisy = [g + NOISE * jax.random.normal(k, g.shape) for g, k in zip(total, keys)]
            return [p - RATE / BATCH * g for p, g in zip(parameters, noisy)], noisy[-1][0]

        return jax.lax.scan(step, parameters, (batches, jax.random.split(noise, STEPS)))[1]

    best = 0.0
    with jax.default_prng_impl("unsafe_rbg"):
        for models in (1, 8) if kind == "mlp" else (1,):
            keys = jax.random.split(jax.random.key(1), models)
            together = jax.jit(jax.vmap(train))
            jax.block_until_ready(together(keys))
            start = time.perf_counter()
            jax.block_until_ready(together(keys))
            best = max(best, models / (time.perf_counter() - start))
    return best


def main():
    kinds = [kind for kind in sys.argv[1:] if kind in SHAPES] or list(SHAPES)
    subprocess.run(["cargo", "bench", "--no-run", "--quiet", "-p", "misdeal-train"], cwd=measuring.ROOT, check=True)
    results = {}
    for kind in kinds:
        best, record = {}, None
        for _ in range(3):
            found = ours(kind)
            if record is None or found["models_per_second"] > record["models_per_second"]:
                record = found
            for name, peer in (("opacus", opacus), ("jax", jax_rate)):
                try:
                    best[name] = max(best.get(name, 0.0), peer(kind))
                except ImportError:
                    print(f"{name} is not installed: left out")
        ratios = {name: record["models_per_second"] / rate for name, rate in best.items()}
        results[kind] = {"misdeal": record, "peers": best, "ratios": ratios}
        print(kind, json.dumps(results[kind]))
    measuring.keep("training", cores=len(os.sched_getaffinity(0)), results=results)


if __name__ == "__main__":
    main()
