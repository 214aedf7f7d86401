"""Audits of training code in JAX: plain loops with `vmap`ped gradients, and those of jax-privacy.

A canary is planted through the loss: where a record is to have the gradient c g, its loss becomes c <g, params>. So it works with whatever
takes gradients of records, clips and sums them.

```python
auditor = misdeal.jax.Auditor(noise_multiplier=1.0, steps_per_epoch=20, batch_size=50, clip_norm=1.0, scheme="poisson")
gradient = clipped_grad(auditor.loss(loss), l2_clip_norm=1.0, batch_argnums=(1, 2))     # loss(params, batch) takes roles before batch
for run in auditor.runs(1000):
    for indices in batches:                                          # yours
        total = gradient(params, run.roles(indices), data[indices])
        noisy = add_noise(total)                                     # yours
        run.observe(noisy)
        params = update(params, noisy)                               # yours
print(auditor.judge(claimed_epsilon=1.0, delta=1e-5))
```
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from .jax_deal import BatchSelection as BatchSelection
from .planting import OVERSIZE, Planter, Runs


class Auditor(Runs):
    """Plants a canary into training runs, and judges them.

    JAX has no objects to read the setting off, so you state it here. `scheme` is how your batches are made and has no default. Where a canary
    opposes the target (all schemes of fixed batch sizes, unless the threat model is `target-canary`), batches of another size than
    `batch_size` are refused: they would accuse correct training. `balls-in-bins` is a fresh draw in every epoch; jax-privacy's
    `BallsInBinsSampling` repeats its bins, which is another law. `canary` is `random`, `dirac` (the first number of the last leaf) or
    a tree shaped as the parameters.
    """

    def __init__(
        self,
        *,
        noise_multiplier: float,
        steps_per_epoch: int,
        batch_size: int,
        clip_norm: float = 1.0,
        scheme: str,
        threat_model: str = "partially-informed",
        target_index: int = 0,
        canary: Any = "random",
        seed: int = 0,
    ) -> None:
        super().__init__(scheme=scheme, threat_model=threat_model, target_index=target_index, canary=canary, seed=seed)
        self.clip_norm = float(clip_norm)
        if not (math.isfinite(self.clip_norm) and self.clip_norm > 0):
            raise ValueError(f"clip_norm is {clip_norm}, but a positive number is allowed; it is what gradients are clipped to")
        self._planted = dict(noise_multiplier=noise_multiplier, steps_per_epoch=steps_per_epoch, batch_size=batch_size, scheme=scheme)
        self.planter = Planter(scheme, threat_model, batch_size)
        self._direction: Any = None

    def loss(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        """The loss of one record, `fun(params, *record)`, with the record's role before it: `(params, role, *record)`.

        Where `fun` returns a pair, the second is passed through. Both branches are computed, so that `fun` must be finite for the
        records that are planted too.
        """

        def planted(params: Any, role: jax.Array, *record: Any, **options: Any) -> Any:
            value = fun(params, *record, **options)
            role = jnp.reshape(role, ())
            products = jax.tree.map(lambda leaf, piece: jnp.vdot(leaf, jnp.asarray(piece, leaf.dtype)), params, self.direction(params))
            along = sum(jax.tree.leaves(products))
            loss, *rest = value if isinstance(value, tuple) else (value,)
            natural = jnp.isnan(role)
            crafted = OVERSIZE * self.clip_norm * jnp.where(natural, 0.0, role) * along
            loss = jnp.where(natural, loss, crafted.astype(jnp.result_type(loss)))
            return (loss, *rest) if isinstance(value, tuple) else loss

        return planted

    def direction(self, params: Any) -> Any:
        """The canary, of norm one over all leaves together."""
        if self._direction is None:
            self._direction = _direction(self.canary, params, self.seed)
        return self._direction

    def runs(self, runs: int) -> Iterator[Run]:
        """So many runs, half of them with the target; what the loop's body trains is the run's."""
        if runs < 2 or runs % 2:
            raise ValueError(f"runs is {runs}, but an even number from 2 is allowed; the target is present in half of them")
        first = self._runs()
        for index in range(first, first + runs):
            run = Run(self, self.world(index), self.run_seed(index))
            yield run
            self.keep(run.present, run.outputs, self._planted)


class Run:
    """One training, with the target present or zeroed out. `seed` and `key` are its own: draw batches and noise from them."""

    def __init__(self, auditor: Auditor, present: bool, seed: int) -> None:
        self.auditor = auditor
        self.present = present
        self.seed = seed
        self.outputs: list[float] = []

    @property
    def key(self) -> jax.Array:
        """A random key of this run's own."""
        return jax.random.key(np.uint32(self.seed & 0xFFFFFFFF))

    def roles(self, indices: npt.ArrayLike) -> jax.Array:
        """The role of each record of a batch, by its position in the data set; padding is -1, at the end, and stays as it is."""
        records = np.asarray(indices)
        real = records >= 0
        roles = np.full(records.shape, np.nan)
        roles[real] = self.auditor.planter.roles(records[real] == self.auditor.target_index, self.present)
        return jnp.asarray(roles, dtype=jnp.float32)

    def observe(self, noisy: Any, scale: float = 1.0) -> None:
        """The noisy sum of clipped gradients of a step; for their mean over a batch, `scale` is the number it was divided by."""
        direction = self.auditor.direction(noisy)
        pairs = zip(jax.tree.leaves(noisy), jax.tree.leaves(direction), strict=True)
        total = sum(float(np.vdot(np.asarray(leaf, np.float64), piece)) for leaf, piece in pairs)
        self.outputs.append(total * scale / self.auditor.clip_norm)


def _direction(canary: Any, params: Any, seed: int) -> Any:
    leaves, tree = jax.tree.flatten(params)
    shapes = [np.shape(leaf) for leaf in leaves]
    if not isinstance(canary, str):
        pieces = [np.asarray(piece, np.float64) for piece in jax.tree.leaves(canary)]
        if [piece.shape for piece in pieces] != shapes:
            raise ValueError("canary is a tree of other shapes, but those of the parameters are allowed; one array for each leaf")
    elif canary == "random":
        generator = np.random.default_rng(seed)
        pieces = [generator.standard_normal(shape) for shape in shapes]
    elif canary == "dirac":
        pieces = [np.zeros(shape) for shape in shapes]
        pieces[-1].flat[0] = 1.0
    else:
        raise ValueError(f"canary is {canary!r}, but random, dirac or a tree is allowed; check the spelling")
    norm = math.sqrt(sum(float(np.sum(piece**2)) for piece in pieces))
    if not (math.isfinite(norm) and norm > 0):
        raise ValueError(f"canary has norm {norm}, but a positive number is allowed; it is scaled to the clipping norm")
    return jax.tree.unflatten(tree, [piece / norm for piece in pieces])
