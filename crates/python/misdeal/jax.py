"""Audits of training code in JAX: plain loops with `vmap`ped gradients, `lax.scan`, and those of jax-privacy.

A canary is planted through the loss: where a record is to have the gradient c g, its loss becomes c <g, params>. So it works with whatever
takes gradients of records, clips and sums them.

```python
auditor = misdeal.jax.Auditor(noise_multiplier=1.0, steps_per_epoch=20, batch_size=50, clip_norm=1.0, scheme="shuffle", canaries=32)
gradient = clipped_grad(auditor.loss(loss), l2_clip_norm=1.0, batch_argnums=(1, 2))     # loss(params, batch) takes roles before batch
for run in auditor.runs(1):
    for indices in batches:                                          # yours
        total = gradient(params, run.roles(indices), data[indices])
        noisy = add_noise(total)                                     # yours
        run.observe(noisy)
        params = update(params, noisy)                               # yours
print(auditor.judge(claimed_epsilon=1.0, delta=1e-5))
```

Inside `lax.scan` nothing can be observed. There, take the roles of all batches beforehand, return `auditor.read(noisy)` from each step, and hand the
stacked result to `run.observe_all`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from . import directions, following
from .jax_deal import BatchSelection as BatchSelection
from .planting import OVERSIZE, PlantedBatch
from .records import RunRecord
from .trials import Runs, ThreatModel


class Auditor(Runs):
    """Plants canaries into training runs, and judges them.

    JAX has no objects to read the setting off, so you state it here.

    - `noise_multiplier`, `steps_per_epoch`, `batch_size`, `clip_norm`: those of your training.
    - `scheme`: how your batches are made; it has no default. Where a canary is opposed (all schemes of fixed batch sizes, unless the threat model
      is `target-canary`), batches of another size than `batch_size` are refused: they would accuse correct training. `balls-in-bins` is a fresh
      draw in every epoch; jax-privacy's `BallsInBinsSampling` repeats its bins, which is another law.
    - `threat_model`: `worst-case` (all gradients that are no canary's are zero), `partially-informed` (the others train) or `target-canary`
      (nothing opposes the canaries).
    - `target_index`: the first canary's position in the data set; the others follow it.
    - `canary`: `random`, coordinates of each canary's own with random signs; `dirac`, one number of the last leaf; or a tree shaped as the
      parameters, for one canary.
    - `canaries`: how many. If not given: 512 in the worst case, 64 where others train, or as many as a batch has records; one where sizes vary, for a
      tree, and for schemes where no proof covers several.
    - `dataset_size`: the number of records, if it is not `steps_per_epoch * batch_size`.
    - `seed`: decides coins, directions, and the seeds of runs.
    - `store`: a folder in which each run is saved as it ends. An audit that was interrupted goes on there, and several processes may share it.
    - `quiet`: no progress, which terminals and notebooks show otherwise.
    """

    def __init__(
        self,
        *,
        noise_multiplier: float,
        steps_per_epoch: int,
        batch_size: int,
        clip_norm: float = 1.0,
        scheme: str,
        threat_model: ThreatModel = "partially-informed",
        target_index: int = 0,
        canary: Literal["auto", "random", "dirac"] | Any = "auto",
        canaries: int | None = None,
        dataset_size: int | None = None,
        seed: int = 0,
        store: str | os.PathLike[str] | None = None,
        quiet: bool = False,
    ) -> None:
        super().__init__(
            scheme=scheme, threat_model=threat_model, target_index=target_index, canary=canary, canaries=canaries, dataset_size=dataset_size, seed=seed,
            store=store,
        )  # fmt: skip
        self.quiet = quiet
        if isinstance(canary, str) and canary == "null-space":
            raise ValueError("canary is null-space, but random, dirac or a tree is allowed in JAX, where no leaf is known to be the last layer's")
        self.clip_norm = float(clip_norm)
        if not (math.isfinite(self.clip_norm) and self.clip_norm > 0):
            raise ValueError(f"clip_norm is {clip_norm}, but a positive number is allowed; it is what gradients are clipped to")
        self.steps_per_epoch, self.noise_multiplier = int(steps_per_epoch), float(noise_multiplier)
        self._planter = self.prepare(scheme, int(batch_size), int(batch_size), self.dataset_size or self.steps_per_epoch * int(batch_size))
        self.directions: directions.Directions | None = None
        self._tables: list[tuple[int, Any, Any, Any]] = []

    def loss(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        """The loss of one record, `fun(params, *record)`, with the record's role before it: `(params, role, *record)`.

        Where `fun` returns a pair, the second is passed through. Both branches are computed, so that `fun` must be finite for the
        records that are planted too.
        """

        def planted(params: Any, role: jax.Array, *record: Any, **options: Any) -> Any:
            value = fun(params, *record, **options)
            role = jnp.reshape(role, ())
            loss, *rest = value if isinstance(value, tuple) else (value,)
            natural = jnp.isnan(role)
            part = jnp.where(natural, 0.0, role)
            crafted = OVERSIZE * self.clip_norm * jnp.sign(part) * self._along(params, jnp.abs(part).astype(jnp.int32) - 1)
            loss = jnp.where(natural, loss, crafted.astype(jnp.result_type(loss)))
            return (loss, *rest) if isinstance(value, tuple) else loss

        return planted

    def read(self, noisy: Any) -> tuple[jax.Array, jax.Array]:
        """The noisy sum of a step along each canary, and at a few coordinates of every leaf: what `run.observe_all` takes, stacked over steps."""
        found = self._prepared(noisy)
        leaves = [jnp.ravel(leaf) for leaf in jax.tree.leaves(noisy)]
        along = jnp.zeros(found.canaries)
        for piece in found.pieces:
            leaf = leaves[piece.tensor]
            along = along.at[piece.canaries].add(jnp.sum(leaf[piece.coordinates] * jnp.asarray(piece.values, leaf.dtype), axis=1))
        pairs = zip(found.probe_tensors, found.probe_coordinates, strict=True)
        return along, jnp.stack([leaves[tensor][coordinate] for tensor, coordinate in pairs])

    def runs(self, runs: int) -> Iterator[Run]:
        """So many runs; what the loop's body trains is the run's. One canary needs an even number, several need one run or more.

        With a store, so many in all: those that are finished are not trained again, and those that another process trains are left to it.
        """
        for index in self.numbers(runs, self.quiet):
            run = Run(self, index)
            yield run
            run.finish()

    def _along(self, params: Any, canary: jax.Array) -> jax.Array:
        """The parameters along one canary, whose number may be traced."""
        self._prepared(params)
        leaves = [jnp.ravel(leaf) for leaf in jax.tree.leaves(params)]
        total = jnp.zeros(())
        for tensor, rows, coordinates, values in self._tables:
            row = jnp.asarray(rows)[canary]
            leaf = leaves[tensor]
            total = total + jnp.vdot(leaf[jnp.asarray(coordinates)[row]], jnp.asarray(values, leaf.dtype)[row])
        return total

    def _prepared(self, params: Any) -> directions.Directions:
        if self.directions is None:
            leaves = jax.tree.leaves(params)
            canary = self.canary if isinstance(self.canary, str) else [np.asarray(piece) for piece in jax.tree.leaves(self.canary)]
            shapes = [np.shape(leaf) for leaf in leaves]
            self.directions = found = directions.make(canary, shapes, self._planter.canaries, self.seed)
            self.tensors = tuple(str(list(shape)) for shape in shapes)
            for piece in found.pieces:
                # A last row of zeros stands for canaries that are not in this leaf.
                rows = np.full(found.canaries, len(piece.canaries), dtype=np.int32)
                rows[piece.canaries] = np.arange(len(piece.canaries))
                pad = ((0, 1), (0, 0))
                self._tables.append((piece.tensor, rows, np.pad(piece.coordinates, pad).astype(np.int32), np.pad(piece.values, pad)))
        return self.directions


class Run:
    """One training. `seed` and `key` are its own: draw batches and noise from them."""

    def __init__(self, auditor: Auditor, index: int) -> None:
        self.auditor = auditor
        self.index = index
        self.seed = auditor.run_seed(index)
        self.coins = auditor.coins_of(index)
        self.record: RunRecord | None = None
        self._planted: list[tuple[PlantedBatch, int]] = []
        self._along: list[npt.NDArray[np.float64]] = []
        self._probes: list[npt.NDArray[np.float64]] = []

    @property
    def present(self) -> bool:
        """Whether the first canary is present."""
        return bool(self.coins[0])

    @property
    def outputs(self) -> list[float]:
        """The outputs of the first canary so far."""
        return [float(along[0]) for along in self._along]

    @property
    def key(self) -> jax.Array:
        """A random key of this run's own."""
        return jax.random.key(np.uint32(self.seed & 0xFFFFFFFF))

    def roles(self, indices: npt.ArrayLike) -> jax.Array:
        """The role of each record of the next batch, by its position in the data set; padding is -1, at the end, and stays as it is.

        Ask once for each batch, in the order of training: roles change from epoch to epoch. An array of batches by records gives the roles of
        all these batches, for `lax.scan`.
        """
        records = np.asarray(indices)
        if records.ndim > 1:
            return jnp.stack([self.roles(batch) for batch in records])
        real = records >= 0
        roles = np.full(records.shape, np.nan)
        auditor = self.auditor
        planter, step = auditor._planter, len(self._planted)
        shuffle = following.shuffle_of(planter.scheme, step, auditor.steps_per_epoch) if planter.follows else None
        leaders = auditor.leaders(self.index, shuffle, auditor.dataset_size or 1)
        planted = planter.plant(records[real].astype(np.int64), self.coins, leaders)
        roles[real] = planted.roles
        self._planted.append((planted, int(real.sum())))
        return jnp.asarray(roles, dtype=jnp.float32)

    def observe(self, noisy: Any, scale: float = 1.0) -> None:
        """The noisy sum of clipped gradients of a step; for their mean over a batch, `scale` is the number it was divided by."""
        found = self.auditor._prepared(noisy)
        unit = float(scale) / self.auditor.clip_norm
        leaves = [np.asarray(leaf, np.float64).reshape(-1) for leaf in jax.tree.leaves(noisy)]
        along = np.zeros(found.canaries)
        for piece in found.pieces:
            along[piece.canaries] += (leaves[piece.tensor][piece.coordinates] * piece.values).sum(1)
        probes = np.array([leaves[tensor][place] for tensor, place in zip(found.probe_tensors, found.probe_coordinates, strict=True)])
        self._along.append(along * unit)
        self._probes.append(probes * unit)

    def observe_all(self, read: tuple[Any, Any], scale: float = 1.0) -> None:
        """What `auditor.read(noisy)` gave in many steps, stacked: the pair that `lax.scan` returns."""
        along, probes = (np.asarray(part, np.float64) * (float(scale) / self.auditor.clip_norm) for part in read)
        if along.ndim != 2 or probes.ndim != 2 or len(along) != len(probes):
            raise ValueError(
                f"read has shapes {along.shape} and {probes.shape}, but two arrays with a row for each step are allowed; return auditor.read(noisy) from "
                "every step of the scan"
            )
        self._along.extend(along)
        self._probes.extend(probes)

    def finish(self) -> None:
        """Ends the run: outputs are kept. Steps of an epoch that ended early are left out."""
        auditor = self.auditor
        steps, each = len(self._along), auditor.steps_per_epoch
        if steps < each:
            raise ValueError(f"steps is {steps}, but {each} or more is allowed, those of one epoch; call run.observe in every step, for empty batches too")
        if steps != len(self._planted):
            raise ValueError(
                f"steps is {steps}, but {len(self._planted)} as batches whose roles were asked for is allowed; call run.roles and run.observe once in every step"
            )
        epochs, found, planter = steps // each, auditor.directions, auditor._planter
        assert found is not None
        whole = epochs * each
        shape = dict(
            noise_multiplier=auditor.noise_multiplier, steps_per_epoch=each, epochs=epochs, batch_size=planter.batch_size, scheme=planter.scheme
        )
        self.record = RunRecord(
            seed=auditor.seed, index=self.index, shape=shape, coins=self.coins, outputs=np.array(self._along[:whole]),
            places=np.array([planted.places for planted, _ in self._planted[:whole]]), batch_sizes=np.array([size for _, size in self._planted[:whole]]),
            noise_multipliers=np.full(whole, auditor.noise_multiplier), expected_batch_sizes=np.full(whole, float(planter.batch_size)),
            clip_norms=np.full(whole, auditor.clip_norm), probes=np.array(self._probes[:whole]), probe_tensors=found.probe_tensors,
            probe_free=found.probe_free, tensors=auditor.tensors, tensors_touched=found.tensors_touched(), biased=planter.keeps_naturals,
            probes_biased=planter.keeps_naturals, dataset_size=auditor.dataset_size,
        )  # fmt: skip
        auditor.keep(self.record)
